"""``docs/serve.md``: its commands are run as they stand, but for the port, and its tables and files are checked."""

import configparser
import doctest
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from juryrank.server.settings import Settings
from server.load import load
from server.processes import Running, free_port, running, wait_until_ready
from server.samples import wait_until

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serve.md").read_text()
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = BLOCK.findall(PAGE)
PORT = "8347"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def only(kind: str) -> str:
    """The only block of a kind."""
    (found,) = (text for each, text in BLOCKS if each == kind)
    return str(found)


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading."""
    below = PAGE.split(f"\n## {heading}\n")[1].split("\n")
    start = next(n for n, line in enumerate(below) if line.startswith("|---"))
    found = []
    for line in below[start + 1 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return found


def commands() -> Iterator[tuple[str, str | None]]:
    """The commands of the page in order, with the output that is shown."""
    for number, (kind, text) in enumerate(BLOCKS):
        if kind == "sh":
            lines = text.splitlines()
            following = BLOCKS[number + 1] if number + 1 < len(BLOCKS) else ("", "")
            for line in lines[:-1]:
                yield line, None
            yield lines[-1], following[1] if following[0] == "json" else None
        elif kind == "console":
            for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield command, output


class Shell:
    """Runs the commands of the page in a folder; a service that one of them starts goes on."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.service, self.keys = folder, None, list[str]()
        self.port = str(free_port())
        self._env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        (folder / "src" / "juryrank").mkdir(parents=True)
        (folder / "src" / "juryrank" / "demo").symlink_to(ROOT / "src" / "juryrank" / "demo")

    def run(self, command: str) -> str:
        """What a command prints."""
        command = command.replace(PORT, self.port)
        if command.startswith("juryrank serve") and "-key" not in command.replace("--keys", ""):
            self._serve(command.removesuffix(" &"))
            return ""
        done = subprocess.run(command, shell=True, cwd=self.folder, env=self._env, capture_output=True, text=True)
        assert done.returncode == 0, f"$ {command}\n{done.stderr}"
        if "--create-key" in command:
            self.keys.append(done.stdout.strip())
        return done.stdout

    def _serve(self, command: str) -> None:
        self.end()
        log = self.folder / "log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*command.split(), "--port", self.port], cwd=self.folder, env=self._env, stdout=file, stderr=file
            )
        self.service = Running(f"http://127.0.0.1:{self.port}", process.pid, process, log)
        wait_until_ready(self.service)

    def end(self) -> None:
        """End the service."""
        if self.service is not None:
            assert self.service.end() == 0


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    made = Shell(tmp_path)
    try:
        yield made
    finally:
        made.end()


def test_the_commands_of_the_page_give_what_it_shows(shell: Shell) -> None:
    check, compared, answered = doctest.OutputChecker().check_output, 0, 0
    for command, shown in commands():
        if command.startswith("pip install"):
            assert command == "pip install 'juryrank[serve]'"
            continue
        printed = shell.run(command)
        if command.startswith("curl"):
            answered += 1
            assert (json.loads(printed).get("status", 0) >= 400) == ("1.5" in command), printed
        if shown is not None:
            compared += 1
            assert check(shown, printed, OPTIONS), f"$ {command}\nshown:\n{shown}\nprinted:\n{printed}"
    assert (compared, answered) == (7, 10)
    assert len(shell.keys) == 2
    assert shell.service is not None
    assert shell.service.get("/v1/models").status == 401  # the last service of the page asks for keys
    client = only("python").replace("https://fusion.example.org", shell.service.url).replace("jr_…", shell.keys[0])
    space: dict[str, Any] = {}
    exec(client, space)
    assert [item["id"] for item in space["answer"]["items"]] == ["b", "c", "a"]


def test_from_nothing_to_a_learned_model_takes_five_commands() -> None:
    assert len(BLOCKS[0][1].splitlines()) == 5


def test_the_table_of_settings_has_all_of_them_with_their_defaults() -> None:
    table = {name.strip("`"): default for name, default, _ in rows("Settings")}
    assert list(table) == [each.name for each in fields(Settings)]
    for each in fields(Settings):
        if each.default is not None:
            value = list(each.default) if isinstance(each.default, tuple) else each.default
            assert table[each.name] == f"`{json.dumps(value)}`", each.name


def test_the_table_of_metrics_has_all_of_them() -> None:
    names = {re.split(r"[`{]", cells[0])[1] for cells in rows("Watch it")}
    with running() as service:
        service.post("/v1/fuse", {"lists": {"a": ["x"]}, "method": "rrf"})
        text = service.get("/metrics").body.decode()
    found = {line.split()[2] for line in text.splitlines() if line.startswith("# HELP")}
    assert {name for name in found if not name.endswith("_created")} == names


def test_the_settings_of_the_example_can_be_read(tmp_path: Path) -> None:
    from juryrank.server.settings import read_settings

    (tmp_path / "serve.toml").write_text(only("toml"))
    assert read_settings(tmp_path / "serve.toml", {}).rate == 50


def test_the_systemd_unit_is_accepted(tmp_path: Path) -> None:
    unit = only("ini")
    parsed = configparser.ConfigParser(interpolation=None, strict=True)
    parsed.optionxform = str  # type: ignore[assignment, method-assign]
    parsed.read_string(unit)
    command = parsed["Service"]["ExecStart"]
    assert float(parsed["Service"]["TimeoutStopSec"]) > Settings().shutdown_seconds + 10
    assert command.split()[1:3] == ["serve", "/var/lib/juryrank"]
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("systemd-analyze is not installed; the unit was only parsed")
    path = tmp_path / "juryrank.service"
    program = str(Path(sys.executable).with_name("juryrank"))
    path.write_text(unit.replace("/opt/juryrank/bin/juryrank", program).replace("User=juryrank", "User=daemon"))
    done = subprocess.run([analyze, "verify", str(path)], capture_output=True, text=True)
    ours = [line for line in done.stderr.splitlines() if "juryrank.service" in line]
    assert (done.returncode, ours) == (0, [])


def test_the_command_of_the_container_serves(tmp_path: Path) -> None:
    lines = only("dockerfile").splitlines()
    entry = json.loads(next(line.removeprefix("ENTRYPOINT ") for line in lines if line.startswith("ENTRYPOINT")))
    more = json.loads(next(line.removeprefix("CMD ") for line in lines if line.startswith("CMD")))
    assert entry[:2] == ["juryrank", "serve"]
    (tmp_path / "models").mkdir()
    from juryrank.server.keys import create_key

    create_key(tmp_path / "keys.json", "a", ("fuse",))
    places = {
        "/models": str(tmp_path / "models"),
        "/etc/juryrank/keys.json": str(tmp_path / "keys.json"),
        "0.0.0.0": "127.0.0.1",
    }
    with running(*(places.get(part, part) for part in [*entry[2:], *more])) as service:
        health = json.loads(next(line.removeprefix("HEALTHCHECK CMD ") for line in lines if "HEALTHCHECK" in line))
        check = [sys.executable, *health[1:-1], health[-1].replace(PORT, str(service.address[1]))]
        assert subprocess.run(check, capture_output=True).returncode == 0
    assert subprocess.run(check, capture_output=True).returncode != 0


@contextmanager
def nginx(folder: Path, service_port: int) -> Iterator[Running]:
    """nginx with the configuration of the page, without TLS."""
    others = os.pathsep.join(["/usr/sbin", str(ROOT / "build/nginx/usr/sbin")])
    program = shutil.which("nginx") or shutil.which("nginx", path=others)
    if program is None:
        pytest.skip("nginx is not installed")
    port = free_port()
    site = only("nginx").replace(PORT, str(service_port)).replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    site = "\n".join(line for line in site.splitlines() if "ssl_" not in line)
    for name in ("body", "proxy", "fastcgi", "uwsgi", "scgi"):
        (folder / name).mkdir()
    kinds = {"client_body": "body", "proxy": "proxy", "fastcgi": "fastcgi", "uwsgi": "uwsgi", "scgi": "scgi"}
    temporary = "".join(f"{kind}_temp_path {folder / name};" for kind, name in kinds.items())
    path = folder / "nginx.conf"
    user = "user root;" if os.getuid() == 0 else ""
    path.write_text(
        f"{user} daemon off; pid {folder / 'pid'}; error_log {folder / 'error'}; events {{}}\n"
        f"http {{ access_log off; {temporary}\n{site}\n}}\n"
    )
    process = subprocess.Popen([program, "-c", str(path), "-e", str(folder / "error")])
    proxy = Running(f"http://127.0.0.1:{port}", process.pid, process, folder / "error")
    try:
        wait_until(lambda: _answers(proxy))
        yield proxy
    finally:
        proxy.end()


def _answers(proxy: Running) -> bool:
    with suppress(OSError):
        return proxy.get("/absent").status == 404
    return False


def test_the_service_behind_nginx(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "nginx").mkdir()
    from server.samples import model_content

    with running(tmp_path / "models") as service, nginx(tmp_path / "nginx", service.address[1]) as proxy:
        assert proxy.put("/v1/models/m", model_content(0, size=5_000_000)).status == 201
        reply = proxy.post("/v1/fuse", {"lists": {"e0": ["a"]}})
        assert (reply.status, reply.json()["model"]["name"]) == (200, "m")
        wait_until(lambda: any(line.get("request_id") == reply.headers["x-request-id"] for line in service.log_lines()))
        assert re.fullmatch("[0-9a-f]{32}", reply.headers["x-request-id"])  # made by nginx
        assert proxy.get("/metrics").status == 404  # stays inside
        assert proxy.post("/v1/fuse", b" " * 9_000_000).status == 413  # by the service
        with load(proxy, keeping=4, connecting=2) as outcome:
            time.sleep(2)
        assert outcome.failures == []
        assert set(outcome.by_status) == {200}
        port = str(service.address[1])
        service.process.terminate()
        assert service.process.wait(30) == 0
        assert proxy.post("/v1/fuse", {"lists": {"e0": ["a"]}}).status == 502
        with running(tmp_path / "models", "--port", port):
            assert proxy.post("/v1/fuse", {"lists": {"e0": ["a"]}}).status in (200, 502)
            wait_until(lambda: proxy.post("/v1/fuse", {"lists": {"e0": ["a"]}}).status == 200)
