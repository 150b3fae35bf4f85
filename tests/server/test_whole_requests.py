"""A fusion that arrives as a whole is answered by its connection; one in parts by ASGI. Nobody can tell them apart."""

import asyncio
import json
import os
import re
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import uvicorn
from uvicorn.server import ServerState

from juryrank.server.app import create_app
from juryrank.server.connections import Connection
from juryrank.server.settings import Settings
from server.load import load
from server.processes import Running, running
from server.raw import after_answers, exchange, post, statuses
from server.samples import make_keys, wait_until
from server.test_logs import requests

GOOD = b'{"lists":{"a":["x","y"],"b":["y"]},"method":"rrf"}'
SETTINGS = "max_body = 5000\nmax_experts = 3\n"
WAIT = 0.15  # seconds between the parts of a request


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("whole")
    keys = make_keys(folder / "keys.json")
    (folder / "serve.toml").write_text(SETTINGS)
    with running("--config", folder / "serve.toml", "--keys", folder / "keys.json") as found:
        found.headers = {"Authorization": f"Bearer {keys['fuse']}", "X-Other": f"Bearer {keys['feedback']}"}
        yield found


def key(service: Running, name: str = "Authorization") -> bytes:
    return b"Authorization: " + service.headers[name].encode() + b"\r\n"


def ask(service: Running, data: bytes, cuts: Iterable[int] = (), *, answers: int = 1, wait: float = WAIT) -> bytes:
    """So many answers to bytes that are sent in parts, which end at ``cuts``."""
    with socket.create_connection(service.address, timeout=20) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, stop in pairwise([0, *cuts, len(data)]):
            connection.sendall(data[start:stop])
            if stop < len(data):
                time.sleep(wait)
        found = b""
        while (rest := after_answers(found, answers)) is None:
            part = connection.recv(1 << 16)
            assert part, found
            found += part
        assert not rest
        return found


def chunked(body: bytes, *, size: int, headers: bytes, path: bytes = b"/v1/fuse") -> bytes:
    parts = [body[start : start + size] for start in range(0, len(body), size)]
    head = b"POST " + path + b" HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" + headers + b"\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


BODIES = {
    "a query": GOOD,
    "a query with a warning": b'{"lists":{"a":["x","x"]},"method":"rrf"}',
    "a batch": b'{"queries":{"q":{"a":["x"]}},"method":"rrf"}',
    "no JSON": b"{",
    "nothing": b"",
    "an unknown method": b'{"lists":{"a":["x"]},"method":"best"}',
    "an unknown model": b'{"lists":{"a":["x"]},"model":"absent"}',
    "too many experts": b'{"lists":{"a":[],"b":[],"c":[],"d":[]},"method":"rrf"}',
    "too many bytes": GOOD + b" " * 5000,
}


@pytest.mark.parametrize("name", BODIES)
@pytest.mark.parametrize("path", [b"/v1/fuse", b"/v1/explain"])
def test_the_answer_does_not_depend_on_how_a_request_arrives(service: Running, name: str, path: bytes) -> None:
    data = post(BODIES[name], path=path, headers=key(service) + b"X-Request-Id: mine\r\n")
    whole = ask(service, data)
    assert len(statuses(whole)) == 1
    assert whole == ask(service, data, [data.index(b"\r\n\r\n") + 4])  # head and body
    assert whole == ask(service, data, [30])  # in the middle of the head
    assert b"x-request-id: mine\r\n" in whole


class Transport:
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def get_extra_info(self, name: str) -> None:
        return None

    def is_closing(self) -> bool:
        return False


@pytest.mark.parametrize(("cors", "at_once"), [((), True), (("https://example.org",), False)])
def test_a_whole_request_is_answered_before_the_next_bytes_are_read(cors: tuple[str, ...], at_once: bool) -> None:
    """Unless something must be added to every answer."""

    async def run() -> bytes:
        app = create_app(Settings(cors=cors, access_log=False))
        config = uvicorn.Config(app, log_config=None, http=Connection, proxy_headers=False)
        config.load()
        connection, transport = Connection(config, ServerState(), {}), Transport()
        connection.connection_made(transport)  # type: ignore[arg-type]
        connection.data_received(post(GOOD))
        written = transport.written
        for _ in range(100):  # ASGI needs a task
            await asyncio.sleep(0.01)
            if transport.written:
                break
        assert statuses(transport.written) == [200]
        return written

    assert bool(asyncio.run(run())) == at_once


@pytest.mark.parametrize("headers", [b"", b"Authorization: Bearer jr_1\r\n", b"X-API-Key: \xe4\r\n", b"other scope"])
def test_refusals_of_keys_do_not_depend_on_how_a_request_arrives(service: Running, headers: bytes) -> None:
    given = key(service, "X-Other") if headers == b"other scope" else headers
    data = post(GOOD, headers=given + b"X-Request-Id: mine\r\n")
    whole = ask(service, data)
    assert statuses(whole) == [403 if headers == b"other scope" else 401]
    assert whole == ask(service, data, [len(data) - 5])


def test_chunks_are_put_together(service: Running) -> None:
    expected = ask(service, post(GOOD, headers=key(service) + b"X-Request-Id: c\r\n"))
    assert statuses(expected) == [200]
    for size in (1, 7, 1000):
        data = chunked(GOOD, size=size, headers=key(service) + b"X-Request-Id: c\r\n")
        assert ask(service, data) == expected


def test_what_a_client_asks_of_its_connection_is_done(service: Running) -> None:
    closed = exchange(service, post(GOOD, headers=key(service) + b"Connection: close\r\n"), seconds=5)
    assert statuses(closed) == [200]
    assert b"connection: close\r\n" in closed
    old = post(GOOD, headers=key(service)).replace(b"HTTP/1.1", b"HTTP/1.0")
    assert statuses(exchange(service, old, seconds=5)) == [200]  # until the service closes
    expecting = post(GOOD, headers=key(service) + b"Expect: 100-continue\r\n")
    assert statuses(ask(service, expecting, answers=2)) == [100, 200]
    assert statuses(ask(service, post(GOOD, path=b"/v1/fuse?x=1", headers=key(service)))) == [200]


def test_mixed_requests_of_one_connection_are_answered_in_order(service: Running) -> None:
    kinds = [b"/v1/fuse", b"/v1/absent", b"/v1/explain", b"/v1/fuse", b"/v1/absent"]
    data = b"".join(
        post(GOOD, path=path, headers=key(service) + b"X-Request-Id: n%d\r\n" % n) for n, path in enumerate(kinds * 8)
    )
    for cuts in ([], [400], range(997, len(data), 997)):
        answer = ask(service, data, cuts, answers=40, wait=0.01)
        assert [int(n) for n in re.findall(rb"x-request-id: n(\d+)\r\n", answer)] == list(range(40))
        assert statuses(answer) == [200, 403, 200, 200, 403] * 8


@pytest.mark.parametrize("workers", [1, 2])
def test_every_answer_has_its_line_and_its_count_also_at_the_end(workers: int) -> None:
    with running("--workers", workers) as service:
        with load(service) as outcome:
            wait_until(lambda: outcome.answered > 500)
        assert outcome.failures == []
        assert requests(service, "/v1/fuse", 200) == outcome.answered
        before = outcome.answered
        with load(service) as outcome:
            wait_until(lambda: outcome.answered > 200)
            service.process.terminate()
            assert service.process.wait(30) == 0
            time.sleep(1.5)  # clients whose connection was not taken up try again after a second
        assert outcome.failures == []
        lines = Counter(line["status"] for line in service.log_lines() if line.get("route") == "/v1/fuse")
    assert lines == {200: before + outcome.answered}


def test_counts_go_on_when_a_worker_is_replaced() -> None:
    with running("--workers", 2) as service:
        for _ in range(30):
            assert service.post("/v1/fuse", GOOD).status == 200
        old = service.workers()
        for worker in old:
            os.kill(worker, signal.SIGKILL)
        wait_until(lambda: len(service.workers()) == 2 and not set(old) & set(service.workers()), seconds=60)
        assert requests(service, "/v1/fuse", 200) == 30
        service.post("/v1/fuse", GOOD)
        assert requests(service, "/v1/fuse", 200) == 31


def test_a_service_that_is_killed_leaves_nothing_behind(tmp_path: Path) -> None:
    with running("--workers", 2, env={"TMPDIR": str(tmp_path)}) as service:
        workers = service.workers()
        shared = set(os.listdir("/dev/shm"))
        service.process.kill()
        service.process.wait()
        wait_until(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), seconds=30)
    assert list(tmp_path.iterdir()) == []
    assert not {name for name in shared if name.startswith(f"pym-{service.pid}-")}


def test_lines_are_there_as_soon_as_the_answer(service: Running) -> None:
    for number in range(20):
        reply = service.post("/v1/fuse", GOOD, {"X-Request-Id": f"soon{number}"})
        assert reply.status == 200
        wait_until(lambda number=number: f"soon{number}" in service.log, seconds=1)
    assert all(0 < line["milliseconds"] < 1000 for line in service.log_lines() if "soon" in line.get("request_id", ""))
    assert json.loads(reply.body)["items"][0]["id"] == "y"
