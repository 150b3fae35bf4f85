"""A page in a browser on the same machine must not command the service; everything else can go on calling it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from server.processes import Running, running
from server.raw import exchange, first_answer, statuses
from server.samples import bearer, make_keys, model_content
from studio.studios import TOKEN, running_studio

GOOD = b'{"lists":{"a":["x","y"],"b":["y"]},"method":"rrf"}'
EVIL = "https://evil.example"
FEEDBACK = {"query": "q", "lists": {"e0": ["x"]}, "labels": {"x": 1}, "key": "k"}
COMMANDS = (
    ("POST", "/v1/fuse", GOOD),  # which a connection answers without ASGI
    ("POST", "/v1/explain", GOOD),
    ("POST", "/v1/feedback", json.dumps(FEEDBACK).encode()),
    ("POST", "/v1/models/m/rollback", b""),
    ("POST", "/v1/models/m/refit", b""),
    ("DELETE", "/v1/models/m", b""),
    ("PUT", "/v1/models/other", b"{}"),
    ("GET", "/v1/models", b""),
    ("GET", "/healthz", b""),
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with a model in two versions, and a name of its own."""
    with running(tmp_path_factory.mktemp("models"), "--allow-host", "Fusion.example.org", "--allow-host", "a") as found:
        for seed in range(2):
            assert found.put("/v1/models/m", model_content(seed)).status == 201
        yield found


def state(service: Running) -> tuple[Any, str]:
    """What commands would change."""
    stored = re.findall(r"juryrank_feedback_total.*", service.get("/metrics").body.decode())
    return service.get("/v1/models/m").json()["versions"], "".join(stored)


def raw(method: str, path: str, body: bytes, *lines: str, version: str = "1.1") -> bytes:
    head = [f"{method} {path} HTTP/{version}", *lines, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode("latin-1") + body


FOREIGN = [
    ("Host: evil.example",),
    ("Host: evil.example:{port}",),
    ("Host: 127.0.0.1.evil.example",),
    ("Host: localhost.evil.example:{port}",),
    ("Host: localhost@evil.example",),
    ("Host: 192.0.2.1:{port}",),
    ("Host: [",),
    ("Host: {own}", f"Origin: {EVIL}"),
    ("Host: {own}", "Origin: null"),
    ("Host: {own}", "Origin: http://127.0.0.1:1"),  # another service of this machine
    ("Host: {own}", "Origin: http://{own}.evil.example"),
    ("Host: {own}", "Sec-Fetch-Site: cross-site"),
    ("Host: {own}", "Sec-Fetch-Site: same-site"),
    ("Host: {own}", "Origin: http://{own}", "Sec-Fetch-Site: cross-site"),
    ("Host: evil.example:{port}", "Origin: http://evil.example:{port}", "Sec-Fetch-Site: same-origin"),  # by its name
]


@pytest.mark.parametrize("lines", FOREIGN, ids="; ".join)
@pytest.mark.parametrize("in_parts", [False, True])
def test_pages_of_other_sites_and_other_names_are_refused(
    service: Running, lines: tuple[str, ...], in_parts: bool
) -> None:
    before, port = state(service), service.address[1]
    sent = [line.format(own=f"127.0.0.1:{port}", port=port) for line in lines]
    for method, path, body in COMMANDS:
        if in_parts:
            sent = [*sent, "Expect: 100-continue"]  # which is not answered by the connection
        answer = first_answer(service, raw(method, path, body, *sent))
        assert statuses(answer) == [403], (method, path)
        assert b"application/problem+json" in answer
    assert state(service) == before


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (("Host: evil.example",), "the request is to the host 'evil.example', and answered are requests to 127.0.0.1, "
         "a, fusion.example.org, localhost; the option --allow-host NAME allows another name"),
        (("Host: localhost", f"Origin: {EVIL}"), f"only pages of this address may send this, and it has Origin: {EVIL}"
         "; the setting cors names other sites that may"),
        (("Host: localhost", "Sec-Fetch-Site: cross-site"), "and it has Sec-Fetch-Site: cross-site;"),
    ],
)  # fmt: skip
def test_a_refusal_says_what_is_answered_and_what_allows_more(
    service: Running, lines: tuple[str, ...], reason: str
) -> None:
    answer = first_answer(service, raw("POST", "/v1/fuse", GOOD, *lines))
    assert reason in json.loads(answer.partition(b"\r\n\r\n")[2])["detail"]


OWN = [
    ("Host: {own}",),
    ("Host: localhost:{port}",),
    ("Host: LOCALHOST",),
    ("Host: 127.0.0.2:9",),
    ("Host: [::1]:{port}",),
    ("Host: fusion.example.org",),
    ("Host: FUSION.example.org:443",),
    ("Host: {own}", "Origin: http://{own}", "Sec-Fetch-Site: same-origin"),
    ("Host: {own}", "Sec-Fetch-Site: none"),
    ("Host: fusion.example.org", "Origin: https://fusion.example.org", "Sec-Fetch-Site: same-origin"),
    ("Host: {own}", "Origin: https://fusion.example.org", "Sec-Fetch-Site: same-origin"),  # a proxy changed the host
]


@pytest.mark.parametrize("lines", OWN, ids="; ".join)
def test_own_names_and_own_pages_are_answered(service: Running, lines: tuple[str, ...]) -> None:
    port = service.address[1]
    sent = [line.format(own=f"127.0.0.1:{port}", port=port) for line in lines]
    for method, path, body in (("POST", "/v1/fuse", GOOD), ("GET", "/v1/models", b"")):
        assert statuses(first_answer(service, raw(method, path, body, *sent))) == [200]


def test_a_link_from_another_site_may_be_followed(service: Running) -> None:
    lines = ("Host: localhost", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
    assert statuses(first_answer(service, raw("GET", "/v1/models", b"", *lines))) == [200]
    assert statuses(first_answer(service, raw("POST", "/v1/fuse", GOOD, *lines))) == [403]  # a form


@pytest.mark.parametrize("path", ["/v1/fuse", "/v1/models", "/healthz"])
@pytest.mark.parametrize(
    ("lines", "version", "status"),
    [
        ((), "1.1", 400),
        (("Host:",), "1.1", 400),
        (("Host: localhost", "Host: localhost"), "1.1", 400),
        (("Host: localhost", "Host: evil.example"), "1.1", 400),
        (("Host: localhost", "Host: localhost"), "1.0", 400),
        ((), "1.0", 200),
    ],
)
def test_a_request_has_one_host(service: Running, path: str, lines: tuple[str, ...], version: str, status: int) -> None:
    method, body = ("POST", GOOD) if path == "/v1/fuse" else ("GET", b"")
    answer = first_answer(service, raw(method, path, body, *lines, version=version))
    assert statuses(answer) == [status]
    assert (b"one header Host" in answer) == (status == 400)


def test_curl_goes_on_working(service: Running) -> None:
    curl = shutil.which("curl")
    if curl is None:
        pytest.skip("NO CURL: IT IS NOT TRIED")
    for host in ("127.0.0.1", "localhost"):
        command = [curl, "-s", f"http://{host}:{service.address[1]}/v1/fuse", "-d", GOOD.decode()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert [item["id"] for item in json.loads(done.stdout)["items"]] == ["y", "x"]


def test_on_all_addresses_any_address_is_right_and_a_name_must_be_allowed(tmp_path: Path) -> None:
    keys = make_keys(tmp_path / "keys.json")
    with running("--host", "0.0.0.0", "--keys", tmp_path / "keys.json") as service:
        service.url = service.url.replace("0.0.0.0", "127.0.0.1")
        for host, status in (("192.0.2.1:8347", 200), ("[2001:db8::1]", 200), ("fusion.example.org", 403)):
            assert service.post("/v1/fuse", GOOD, {"Host": host, **bearer(keys["fuse"])}).status == status


def test_a_star_allows_every_name_and_no_page_of_another_site(tmp_path: Path) -> None:
    with running("--allow-host", "*") as service:
        assert service.post("/v1/fuse", GOOD, {"Host": "fusion.example.org"}).status == 200
        assert service.post("/v1/fuse", GOOD, {"Origin": EVIL}).status == 403


def test_pages_of_the_origins_in_cors_are_answered(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text('cors = ["https://example.org"]\n')
    with running("--config", tmp_path / "serve.toml") as service:
        allowed = {"Origin": "https://example.org", "Sec-Fetch-Site": "cross-site"}
        assert service.post("/v1/fuse", GOOD, allowed).status == 200
        assert service.post("/v1/fuse", GOOD, {**allowed, "Origin": EVIL}).status == 403
        assert service.post("/v1/fuse", GOOD, {**allowed, "Host": "evil.example"}).status == 403


@pytest.mark.parametrize("command", ["serve", "studio"])
def test_an_address_is_no_name(command: str, tmp_path: Path) -> None:
    args = [sys.executable, "-m", "juryrank", command, "--allow-host", "https://fusion.example.org", "--port", "0"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: an allowed host must be a name or an IP address without https:// and port")


def test_the_studio_has_the_same_gate(tmp_path: Path) -> None:
    with running_studio(tmp_path, "--allow-host", "studio.example.org") as studio:
        port = studio.address[1]
        key = f"Authorization: Bearer {TOKEN}"
        for lines in FOREIGN:
            sent = [line.format(own=f"127.0.0.1:{port}", port=port) for line in lines]
            assert statuses(first_answer(studio, raw("GET", "/studio/api/state", b"", key, *sent))) == [403], lines
        for lines in OWN:
            own = "studio.example.org"
            sent = [
                re.sub("fusion.example.org", own, line.format(own=f"127.0.0.1:{port}", port=port), flags=re.IGNORECASE)
                for line in lines
            ]
            assert statuses(first_answer(studio, raw("GET", "/studio/api/state", b"", key, *sent))) == [200], lines
        for sent in ((), ("Host: localhost", "Host: localhost")):
            assert statuses(exchange(studio, raw("GET", "/studio/api/state", b"", key, *sent), seconds=1)) == [400]


PAGE = """<!doctype html><title>another site</title>"""
ATTACK = """async ([url, calls]) => {
    const found = [];
    for (const [method, path, body] of calls)
        for (const mode of ["cors", "no-cors"])
            try {
                const answer = await fetch(url + path, {method, mode, body: body || undefined});
                found.push(answer.type === "opaque" ? "opaque" : String(answer.status));
            } catch (error) { found.push("failed"); }
    return found;
}"""


def test_a_page_in_chromium_cannot_command_the_service(service: Running, tmp_path: Path) -> None:
    """From another origin, and by a name of its own that leads to this machine."""
    from studio.browser import CHROMIUM, FLAGS, sync_playwright

    if CHROMIUM is None:
        pytest.skip("NO BROWSER: PAGES OF OTHER SITES ARE NOT TRIED; make browser installs it")
    (tmp_path / "index.html").write_text(PAGE)
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    before, port = state(service), service.address[1]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as site, sync_playwright() as driver:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        rules = "--host-resolver-rules=MAP *.example 127.0.0.1"
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=[*FLAGS, rules])
        try:
            page = browser.new_page()
            calls = [[method, path, body.decode()] for method, path, body in COMMANDS]
            for name in ("evil.example", "127.0.0.1"):  # the other is of the same site, as browsers count
                page.goto(f"http://{name}:{site.server_port}/")
                for target in ("127.0.0.1", "localhost", "evil.example"):
                    found = page.evaluate(ATTACK, [f"http://{target}:{port}", calls])
                    assert not {"200", "201", "204"} & set(found), (name, target)
                assert state(service) == before
            page.goto(f"http://evil.example:{port}/healthz")  # from here, the service would be the same origin
            found = page.evaluate(ATTACK, ["", calls])
            assert set(found) <= {"403", "failed"}
            assert state(service) == before
            page.goto(f"http://localhost:{port}/healthz")  # the service itself
            assert page.evaluate(ATTACK, ["", [["POST", "/v1/fuse", GOOD.decode()]]]) == ["200", "200"]
        finally:
            browser.close()
            site.shutdown()
