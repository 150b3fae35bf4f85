"""Settings: every one of them, from a file and from options, and what is refused before anything listens."""

import json
import os
import socket
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from juryrank.errors import DataError, JuryrankError, ParameterError
from juryrank.server.run import run
from juryrank.server.settings import Settings, dump, parse, read_settings
from server.processes import running
from server.samples import make_keys, write_model

EVERY = """
models = "models"
default_model = "m"
host = "127.0.0.2"
port = 8999
workers = 3
keys = "keys.json"
insecure = true
allow_hosts = ["fusion.example.org", "::1"]
cors = ["https://example.org"]
store = "feedback.db"
store_seconds = 2.5
versions = 4
max_body = 1000
max_model = 2000
max_held = 3000
max_experts = 5
max_items = 6
max_queries = 7
rate = 8.5
concurrency = 9
body_seconds = 1.5
shutdown_seconds = 2
refit_hours = 24
promote = "gain"
access_log = false
log_level = "warning"
"""


def write(folder: Path, text: str) -> Path:
    (folder / "serve.toml").write_text(text)
    return folder / "serve.toml"


def test_every_setting_can_be_in_the_file_and_paths_are_relative_to_it(tmp_path: Path) -> None:
    found = read_settings(write(tmp_path, EVERY), {})
    assert found == Settings(
        models=tmp_path / "models", default_model="m", host="127.0.0.2", port=8999, workers=3,
        keys=tmp_path / "keys.json", insecure=True, allow_hosts=("fusion.example.org", "::1"),
        cors=("https://example.org",), store=str(tmp_path / "feedback.db"),
        store_seconds=2.5, versions=4, max_body=1000, max_model=2000, max_held=3000, max_experts=5, max_items=6,
        max_queries=7, rate=8.5, concurrency=9, body_seconds=1.5, shutdown_seconds=2, refit_hours=24, promote="gain",
        access_log=False, log_level="warning",
    )  # fmt: skip
    written = {line.split(" =")[0] for line in EVERY.split("\n") if line}
    assert written == {each.name for each in fields(Settings)}
    assert parse(dump(found)) == found


def test_options_have_precedence_over_the_file(tmp_path: Path) -> None:
    found = read_settings(write(tmp_path, "port = 1\nworkers = 2\n"), {"port": 3, "host": None})
    assert (found.port, found.workers, found.host) == (3, 2, "127.0.0.1")


def test_the_url_of_a_store_is_no_path(tmp_path: Path) -> None:
    found = read_settings(write(tmp_path, 'store = "postgresql://user@host/name"\n'), {})
    assert found.store == "postgresql://user@host/name"


WRONG = {
    "prot = 1": "no setting prot (did you mean 'port'?)",
    'port = "1"': "port must be a whole number >= 0, got '1'",
    "port = 1.5": "port must be a whole number >= 0, got 1.5",
    "port = true": "port must be a whole number >= 0, got True",
    "port = -1": "port must be a whole number >= 0, got -1",
    "port = 65536": "port must be at most 65535, got 65536",
    "workers = 0": "workers must be a whole number >= 1, got 0",
    "rate = -0.5": "rate must be a number >= 0.0, got -0.5",
    "rate = nan": "rate must be a number >= 0.0, got nan",
    "shutdown_seconds = inf": "shutdown_seconds must be a number >= 0.0, got inf",
    "body_seconds = 0": "body_seconds must be a number >= 0.001, got 0",
    "host = 1": "host must be a text, got 1",
    "models = []": "models must be a text, got []",
    "keys = false": "keys must be a text, got False",
    "default_model = 1": "default_model must be a text, got 1",
    "insecure = 1": "insecure must be true or false, got 1",
    'access_log = "no"': "access_log must be true or false, got 'no'",
    'cors = "https://example.org"': "cors must be a list of origins",
    "cors = [1]": "cors must be a list of origins",
    'allow_hosts = "example.org"': "allow_hosts must be a list of names",
    'allow_hosts = ["https://example.org"]': "an allowed host must be a name or an IP address without https://",
    'allow_hosts = ["example.org:80"]': "an allowed host must be a name or an IP address without https:// and port",
    'allow_hosts = [""]': "an allowed host must be a name or an IP address",
    'promote = "always"': "promote must be one of never, gain, got 'always'",
    'log_level = "loud"': "log_level must be one of debug, info, warning, error, got 'loud'",
    "port = ": "not a TOML file",
    "[server]\nport = 1": "no setting server",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG)
def test_a_setting_that_is_wrong_is_named_with_its_file(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(JuryrankError) as caught:
        read_settings(path, {})
    assert str(caught.value).startswith(f"{path}: ")
    assert WRONG[text] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_or_not_text_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent.toml: cannot be read: No such file"):
        read_settings(tmp_path / "absent.toml", {})
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not a TOML file"):
        read_settings(tmp_path / "binary.toml", {})


@pytest.mark.parametrize(
    ("host", "public"),
    [
        ("127.0.0.1", False),
        ("127.8.9.1", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("::", True),
        ("", True),
        ("192.0.2.1", True),
        ("example.org", True),
        ("localhost.example.org", True),
        ("::ffff:0.0.0.0", True),
    ],
)
def test_an_address_that_others_can_reach_needs_keys_or_a_word(host: str, public: bool, tmp_path: Path) -> None:
    bare = Settings(host=host)
    assert bare.is_public == public
    if public:
        with pytest.raises(ParameterError, match="can be reached from other machines"):
            bare.demand_safe()
    else:
        bare.demand_safe()
    Settings(host=host, keys=tmp_path / "keys.json").demand_safe()
    Settings(host=host, insecure=True).demand_safe()


def test_the_refusal_comes_before_anything_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    def listens(*args: Any, **options: Any) -> None:
        raise AssertionError("it listens")

    monkeypatch.setattr(socket, "create_server", listens)
    with pytest.raises(ParameterError, match=r"give --keys FILE .*, or --insecure"):
        run(Settings(host="0.0.0.0", port=0))


def serve(*args: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "juryrank", "serve", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env={**os.environ, **(env or {})})


def test_the_command_refuses_a_public_address_without_keys() -> None:
    done = serve("--host", "0.0.0.0", "--port", "0")
    assert done.returncode == 1
    assert done.stderr.startswith("error: 0.0.0.0 can be reached from other machines")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("absent",), "absent: not a folder of models"),
        (("--keys", "absent.json"), "absent.json: cannot be read: No such file"),
        (("--config", "absent.toml"), "absent.toml: cannot be read: No such file"),
        (("--port", "70000"), "port must be at most 65535, got 70000"),
        (("--workers", "0"), "workers must be a whole number >= 1, got 0"),
        (("--host", "127.0.0.300", "--insecure"), "cannot listen on 127.0.0.300"),
        (("--store", "mysql://x"), "store must be the path of an SQLite file or postgresql://"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line(args: tuple[str, ...], reason: str) -> None:
    done = serve(*args, *([] if "--port" in args else ["--port", "0"]))
    assert done.returncode == 1
    assert reason in done.stderr
    assert "Traceback" not in done.stderr
    errors = [line for line in done.stderr.splitlines() if not line.startswith("{")]
    assert len(errors) == 1
    assert errors[0].startswith("error: ")


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = serve("--port", port)
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another --port" in done.stderr


def test_help_names_every_option() -> None:
    done = serve("--help", env={"COLUMNS": "200"})
    assert done.returncode == 0
    options = (
        "--host",
        "--port",
        "--workers",
        "--config",
        "--keys",
        "--store",
        "--insecure",
        "--create-key",
        "--remove-key",
        "--scopes",
    )
    assert [option for option in options if option not in done.stdout] == []
    assert "8347" in done.stdout
    assert "demo model" in done.stdout


def test_without_the_extra_the_command_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "fastapi.py").write_text("raise ModuleNotFoundError(\"No module named 'fastapi'\", name='fastapi')\n")
    (tmp_path / "uvicorn.py").write_text("raise ModuleNotFoundError(\"No module named 'uvicorn'\", name='uvicorn')\n")
    done = serve(env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1
    assert done.stderr.startswith("error: juryrank serve needs uvicorn")
    assert "pip install 'juryrank[serve]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_settings_of_a_file_are_used_by_the_process(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    write_model(tmp_path / "models" / "m.json")
    write_model(tmp_path / "models" / "n.json", seed=1)
    keys = make_keys(tmp_path / "keys.json")
    config = write(tmp_path, EVERY.replace("max_model = 2000", "").replace('log_level = "warning"', ""))
    with running("--config", config, "--port", "0", "--workers", "2") as service:
        service.headers["Authorization"] = f"Bearer {keys['admin']}"
        assert service.url.startswith("http://127.0.0.2:")
        assert service.post("/v1/fuse", {"lists": {"e0": ["a"]}}).json()["model"]["name"] == "m"
        assert service.post("/v1/fuse", b" " * 1001).status == 413
        assert service.get("/v1/models", {"Authorization": ""}).status == 401
        assert (tmp_path / "feedback.db").exists()
        assert '"route"' not in service.log  # access_log = false
        metrics = service.get("/metrics").body.decode()
        assert 'juryrank_requests_total{route="/v1/fuse",status="413"} 1.0' in metrics


def test_a_service_on_the_other_family_of_addresses_shows_an_address_that_can_be_called() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with running("--host", "::1") as service:
        assert service.url.startswith("http://[::1]:")
        assert json.loads(service.get("/healthz").body)["status"] == "ok"
