"""A request that offers another protocol (``Upgrade: h2c``, which Java sends by default) is answered like any other."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.processes import Running, running
from server.raw import exchange, post, statuses
from server.samples import model_content
from server.test_whole_requests import GOOD, ask, chunked

H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQ\r\n"
WEBSOCKET = b"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
MINE = b"X-Request-Id: mine\r\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with a model in three versions; the last one is in use."""
    with running(tmp_path_factory.mktemp("models")) as found:
        for seed in range(3):
            assert found.put("/v1/models/m", model_content(seed)).status == 201
        yield found


def versions(service: Running) -> list[str]:
    """All versions, the one in use first."""
    return [each["version"] for each in service.get("/v1/models/m").json()["versions"]]


@pytest.mark.parametrize("offer", [H2C, WEBSOCKET], ids=["h2c", "websocket"])
@pytest.mark.parametrize("path", [b"/v1/fuse", b"/v1/explain"])
def test_an_offer_of_another_protocol_changes_nothing(service: Running, offer: bytes, path: bytes) -> None:
    expected = ask(service, post(GOOD, path=path, headers=MINE))
    assert statuses(expected) == [200]
    data = post(GOOD, path=path, headers=MINE + offer)
    for cuts in ([], [data.index(b"\r\n\r\n") + 4], [30], [len(data) - 5], [30, len(data) - 5]):
        assert ask(service, data, cuts, wait=0.05) == expected
    for size in (7, 1000):
        data = chunked(GOOD, size=size, headers=MINE + offer, path=path)
        for cuts in ([], [data.index(b"\r\n\r\n") + 4], [len(data) - 8]):
            assert ask(service, data, cuts, wait=0.05) == expected
    data = post(GOOD, path=path, headers=MINE + offer + b"Expect: 100-continue\r\n")
    for cuts in ([], [data.index(b"\r\n\r\n") + 4]):
        assert ask(service, data, cuts, answers=2, wait=0.05) == b"HTTP/1.1 100 Continue\r\n\r\n" + expected


@pytest.mark.parametrize("offer", [H2C, WEBSOCKET], ids=["h2c", "websocket"])
def test_the_next_requests_of_the_connection_are_answered_in_order(service: Running, offer: bytes) -> None:
    offers = [offer, b"", offer, offer, b""]
    requests = [post(b'{"lists":{"a":["n%d"]},"method":"rrf"}' % n, headers=each) for n, each in enumerate(offers * 4)]
    data = b"".join(requests)
    for cuts in ([], [len(requests[0])], range(53, len(data), 997)):
        answer = ask(service, data, cuts, answers=20, wait=0.01)
        assert statuses(answer) == [200] * 20
        places = [answer.index(b'"id":"n%d"' % n) for n in range(20)]
        assert places == sorted(places)


@pytest.mark.parametrize("offer", [H2C, WEBSOCKET], ids=["h2c", "websocket"])
def test_a_body_that_looks_like_a_request_is_a_body(service: Running, offer: bytes) -> None:
    """Else what a proxy takes for a body would be a request that it has not seen."""
    hidden = b"DELETE /v1/models/m HTTP/1.1\r\nHost: localhost\r\n\r\n"
    before = versions(service)
    for data in (
        post(hidden, headers=offer),
        post(hidden, path=b"/v1/models/m/rollback", headers=offer),
        post(hidden, path=b"/v1/feedback", headers=offer),
        chunked(hidden, size=1000, headers=offer),
    ):
        for cuts in ([], [data.index(b"\r\n\r\n") + 4]):
            answer = ask(service, data, cuts, wait=0.05)
            assert len(statuses(answer)) == 1
            assert statuses(answer)[0] in (400, 422)
    get = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n" + offer + b"Content-Length: %d\r\n\r\n" % len(hidden)
    assert statuses(exchange(service, get + hidden, seconds=0.3)) == [200]
    assert versions(service) == before


@pytest.mark.parametrize("offer", [H2C, WEBSOCKET], ids=["h2c", "websocket"])
def test_the_version_that_is_named_is_put_in_use(service: Running, offer: bytes) -> None:
    oldest = versions(service)[-1]
    body = json.dumps({"version": oldest}).encode()
    data = post(body, path=b"/v1/models/m/rollback", headers=offer)
    for cuts in ([], [data.index(b"\r\n\r\n") + 4]):
        assert statuses(ask(service, data, cuts, wait=0.05)) == [200]
        assert service.get("/v1/models/m").json()["version"] == oldest
        assert service.put("/v1/models/m", model_content(2)).status == 201


def test_trailers_are_not_read_as_headers(service: Running) -> None:
    data = chunked(GOOD, size=1000, headers=b"")
    trailed = data[:-2] + MINE + H2C + b"Host: elsewhere\r\n\r\n"
    for cuts in ([], [len(data) - 4], [len(data) + 5]):
        answer = ask(service, trailed * 2, cuts, answers=2, wait=0.05)
        assert statuses(answer) == [200, 200]
        assert b"x-request-id: mine" not in answer


def test_a_part_of_a_head_is_limited_also_with_an_offer(service: Running) -> None:
    data = b"POST /v1/fuse HTTP/1.1\r\nHost: localhost\r\n" + H2C + b"X: " + b"a" * 200_000
    assert statuses(exchange(service, data, seconds=0.5)) == [431]


@pytest.mark.parametrize("target", [b"localhost:80", b"http://localhost:80/v1/models/m"])
def test_a_tunnel_is_refused_and_what_is_sent_into_it_is_not_read(service: Running, target: bytes) -> None:
    before = versions(service)
    hidden = b"DELETE /v1/models/m HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = b"CONNECT " + target + b" HTTP/1.1\r\nHost: localhost\r\n"
    for length in (b"", b"Content-Length: 0\r\n"):
        with socket.create_connection(service.address, timeout=5) as connection:
            connection.sendall(head + length + b"\r\n" + hidden)
            time.sleep(0.05)
            answer = b""
            while part := connection.recv(1 << 16):  # until the service closes
                answer += part
        assert statuses(answer) == [400]
    assert versions(service) == before


@pytest.fixture
def java() -> str:
    """A Java that runs a source file."""
    found = shutil.which("java")
    modules = "" if found is None else subprocess.run([found, "--list-modules"], capture_output=True, text=True).stdout
    if found is None or "jdk.compiler" not in modules:
        pytest.skip("NO JDK: THE HTTP CLIENT OF JAVA IS NOT TRIED. As root: apt-get install openjdk-17-jdk-headless")
    return found


def test_the_client_of_java_with_its_defaults(service: Running, java: str) -> None:
    """``HttpClient`` of Java 11 and later offers h2c with its first requests to a server."""
    oldest = versions(service)[-1]
    calls = [
        ("POST", "/v1/fuse", GOOD.decode()),
        ("POST", "/v1/models/m/rollback", json.dumps({"version": oldest})),
        ("POST", "/v1/feedback", json.dumps({"query": "q", "lists": {"e0": ["x"]}, "labels": {"x": 1}, "key": "k"})),
        ("POST", "/v1/fuse", GOOD.decode()),
    ]
    given = [part for method, path, body in calls for part in (method, service.url + path, body)]
    command = [java, str(Path(__file__).with_name("JavaClient.java")), *given]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert [line[:3] for line in lines] == ["200", "200", "201", "200"], done
    assert [item["id"] for item in json.loads(lines[0][4:])["items"]] == ["y", "x"]
    assert json.loads(lines[1][4:])["version"] == oldest
    assert json.loads(lines[2][4:])["stored"] == 1
    assert service.put("/v1/models/m", model_content(2)).status == 201
