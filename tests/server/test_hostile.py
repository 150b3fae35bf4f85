"""Hostile input: bytes that are no HTTP, bodies that are no JSON, slow clients; no 5xx, no traceback, no growth.

``RAW=50000 pytest tests/server/test_hostile.py`` sends more damaged requests.
"""

import json
import os
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import pytest

from server.processes import PATIENCE, Running, running
from server.raw import exchange, memory, post, read, statuses
from server.samples import wait_until, write_model

DAMAGED = int(os.environ.get("RAW", "2000"))
GOOD = b'{"lists":{"a":["x","y"],"b":{"y":2.5,"z":1}},"method":"rrf"}'
ROOM = 150.0  # MB that hostile requests may leave behind


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "m.json")
    with running(folder, "--allow-host", "*") as found:
        found.post("/v1/fuse", GOOD)
        yield found
        assert "Traceback" not in found.log
        assert found.get("/healthz").status == 200


PIECES = (b"\r\n", b"\0", b'"', b"[[[[", b"1e999", b"\\ud800", b"-", b"{}", b"\xff")
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
POST = b"POST /v1/fuse HTTP/1.1\r\nHost: localhost\r\n"
RAW = {
    "nothing of HTTP": (b"\x00\xff" * 100, {400}),
    "a TLS greeting": (bytes.fromhex("16030100f0010000ec0303") + bytes(200), {400}),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", {400}),
    "a path of 100 kB": (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 404, 431}),
    "a path of 10 MB": (b"GET /" + b"a" * 10_000_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 431}),
    "a header of 10 MB": (GET + b"X: " + b"a" * 10_000_000 + b"\r\n\r\n", {431}),
    "300,000 headers": (GET + b"A: b\r\n" * 300_000 + b"\r\n", {431}),
    "two lengths": (POST + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}", {400}),
    "a negative length": (POST + b"Content-Length: -5\r\n\r\n{}", {400}),
    "a length beyond 64 bits": (POST + b"Content-Length: 99999999999999999999\r\n\r\n{}", {400}),
    "a length of a terabyte": (POST + b"Content-Length: 999999999999\r\n\r\n{}", {413}),
    "a length that is no number": (POST + b"Content-Length: 5a\r\n\r\n{}", {400}),
    "a length and chunks": (POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
    "a chunk that is no number": (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", {400}),
    "a chunk of a terabyte": (POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffff\r\n" + b" " * 9_000_000, {413}),
    "an unknown encoding": (POST + b"Transfer-Encoding: gzip\r\n\r\nzz\r\n", {400}),
    "a length that is too small": (post(GOOD, length=10), {400}),
    "CONNECT": (b"CONNECT a:1 HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}),
    "OPTIONS *": (b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
    "TRACE": (b"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", {404, 405}),
    "an unknown method": (b"STEAL /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 405}),
    "an absolute address": (b"GET http://elsewhere/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", {200}),
    "a zero in the path": (b"GET /v1/models/\x00 HTTP/1.1\r\nHost: localhost\r\n\r\n", {400}),
    "an encoded zero": (b"GET /v1/models/%00 HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
    "a path that is not ASCII": ("GET /ü HTTP/1.1\r\nHost: localhost\r\n\r\n".encode(), {400}),
    "an encoded surrogate": (b"GET /v1/models/%ED%A0%80 HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
    "a wrong percent sign": (b"GET /v1/models/%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
    "dots": (b"GET /v1/models/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
    "encoded dots": (b"GET /v1/models/..%2f..%2fetc%2fpasswd HTTP/1.1\r\nHost: localhost\r\n\r\n", {404}),
    "HTTP/1.0": (b"GET /healthz HTTP/1.0\r\n\r\n", {200}),
    "HTTP/9.9": (b"GET /healthz HTTP/9.9\r\n\r\n", {400}),
    "a WebSocket": (GET + b"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n", {200}),
    "a folded header": (GET + b"A: b\r\n c\r\n\r\n", {400}),
    "a zero in a header": (GET + b"A: \x00\r\n\r\n", {400}),
    "a space before the colon": (GET + b"A : b\r\n\r\n", {400}),
    "a response": (b"HTTP/1.1 200 OK\r\n\r\n", {400}),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_bytes_that_no_client_should_send_are_refused(service: Running, name: str) -> None:
    data, expected = RAW[name]
    found = statuses(exchange(service, data, seconds=0.5))
    assert set(found[:1]) <= expected
    assert found or len(data) > 1_000_000  # the answer may be lost when much is still being sent


def test_refusals_of_the_connection_are_problems_too(service: Running) -> None:
    head, _, body = exchange(service, RAW["nothing of HTTP"][0]).partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    assert json.loads(body)["status"] == 400


def test_pipelined_requests_are_answered_in_order(service: Running) -> None:
    bodies = [json.dumps({"lists": {"a": [number]}, "method": "rrf"}).encode() for number in range(20)]
    sent = b"".join(map(post, bodies)) + post(GOOD, headers=b"Connection: close\r\n")
    answer = exchange(service, sent, seconds=10)
    assert statuses(answer) == [200] * 21
    places = [answer.index(b'"id":%d,' % number) for number in range(20)]
    assert places == sorted(places)


def test_garbage_behind_a_request_does_not_take_its_answer(service: Running) -> None:
    assert statuses(exchange(service, post(GOOD) + b"garbage\r\n\r\n", seconds=10)) == [200]
    answer = exchange(service, post(GOOD) * 3 + b"\x00" * 1000, seconds=10)
    assert statuses(answer)[:1] == [200]


def test_a_client_that_leaves_in_the_middle_is_no_fault(service: Running) -> None:
    for path in (b"/v1/fuse", b"/v1/feedback", b"/v1/models/m/rollback"):
        for end in (True, False):
            exchange(service, post(GOOD, path=path, length=10_000), seconds=0.05, end=end)
    upload = b"PUT /v1/models/m HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + b"{" * 500
    exchange(service, upload, seconds=0.05)
    wait_until(lambda: [line for line in service.log_lines() if line.get("status") == 499 and line["method"] == "PUT"])
    assert not [line for line in service.log_lines() if line.get("status", 0) >= 500]
    assert 'status="500"' not in service.get("/metrics").body.decode()


def test_damaged_requests_are_never_a_fault_of_the_service(service: Running) -> None:
    """Requests with bytes that are changed, left out, doubled or exchanged, at random places."""
    rng, found, before = random.Random(19), Counter[int](), memory(service)
    feedback = b'{"query":"q","lists":{"a":["x"]},"labels":{"x":1},"key":"k"}'
    kinds = [post(GOOD), post(GOOD, path=b"/v1/explain"), post(feedback, path=b"/v1/feedback"),
             b"GET /v1/models/m HTTP/1.1\r\nHost: localhost\r\n\r\n"]  # fmt: skip
    for _ in range(DAMAGED):
        data = bytearray(rng.choice(kinds))
        for _ in range(rng.choice((1, 1, 2, 5, 20))):
            place = rng.randrange(len(data))
            match rng.randrange(5):
                case 0:
                    data[place] = rng.randrange(256)
                case 1:
                    del data[place : place + rng.choice((1, 1, 10))]
                case 2:
                    data[place:place] = data[place : place + rng.choice((1, 5, 50))]
                case 3:
                    data[place:place] = rng.choice(
                        (b"\r\n", b"\0", b'"', b"[[[[", b"1e999", b"\\ud800", b"-", b"{}", b"\xff")
                    )
                case _:
                    data[place : place + 1] = bytes(rng.randrange(256) for _ in range(rng.randrange(8)))
        found.update(statuses(exchange(service, bytes(data), seconds=0.06, end=rng.random() < 0.3)))
    assert not [status for status in found if status >= 500]
    assert found[400] > DAMAGED / 10
    assert found[200] > DAMAGED / 50
    assert memory(service) < before + ROOM


def nested(depth: int, left: bytes = b"[", right: bytes = b"]") -> bytes:
    return left * depth + right * depth


BODIES = {
    "nothing": b"",
    "a word": b"null",
    "deep lists": nested(100_000),
    "deep lists, not closed": b"[" * 100_000,
    "deep objects": nested(100_000, b'{"a":', b"}").replace(b":}", b":1}"),
    "deep lists as a list": b'{"lists":{"a":' + nested(100_000) + b'},"method":"rrf"}',
    "deep lists as a parameter": b'{"lists":{},"method":"rrf","params":{"k":' + nested(100_000) + b"}}",
    "1e400": b'{"lists":{"a":{"x":1e400}},"method":"combsum"}',
    "1e308 twice": b'{"lists":{"a":{"x":1e308},"b":{"x":1e308}},"method":"combsum"}',
    "a number of 100,000 digits": b'{"lists":{"a":[' + b"9" * 100_000 + b'],"b":["x"]},"method":"rrf"}',
    "a score of 100,000 digits": b'{"lists":{"a":{"x":0.' + b"9" * 100_000 + b'}},"method":"combsum"}',
    "NaN": b'{"lists":{"a":{"x":NaN}},"method":"rrf"}',
    "Infinity": b'{"lists":{"a":{"x":Infinity}},"method":"rrf"}',
    "a top of 10^30": b'{"lists":{"a":["x"]},"method":"rrf","top":' + b"1" + b"0" * 30 + b"}",
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-32": GOOD.decode().encode("utf-32"),
    "a mark of byte order": b"\xef\xbb\xbf" + GOOD,
    "Latin-1": '{"lists":{"a":["ü"]},"method":"rrf"}'.encode("latin-1"),
    "a lone surrogate": b'{"lists":{"a":["\\ud800"]},"method":"rrf"}',
    "a surrogate as UTF-8": b'{"lists":{"a":["\xed\xa0\x80"]},"method":"rrf"}',
    "overlong UTF-8": b'{"lists":{"a":["\xc0\xaf"]},"method":"rrf"}',
    "a zero": b'{"lists":{"a":["\\u0000"]},"method":"rrf"}',
    "a raw zero": b'{"lists":{"a":["\x00"]},"method":"rrf"}',
    "the same name often": b'{"lists":{' + b'"a":["x"],' * 100_000 + b'"a":["y"]},"method":"rrf"}',
    "the same field often": b'{"method":"rrf",' * 1 + b'"lists":{},' * 100_000 + b'"lists":{"a":["x"]}}',
    "a million ids": json.dumps({"lists": {"a": list(range(1_000_000))}, "method": "rrf"}).encode(),
    "a million pairs": b'{"lists":{"a":[' + b",".join(b"[%d,1]" % n for n in range(500_000)) + b']},"method":"rrf"}',
    "a million experts": b'{"lists":{' + b",".join(b'"%d":[]' % n for n in range(600_000)) + b'},"method":"rrf"}',
    "a million empty lists": b'{"lists":{"a":[' + b"[]," * 1_000_000 + b"[]]}}",
    "one id of 8 MB": b'{"lists":{"a":["' + b"x" * 8_000_000 + b'"]},"method":"rrf"}',
    "a model name of 8 MB": b'{"lists":{"a":["x"]},"model":"' + b"x" * 8_000_000 + b'"}',
    "an unknown field of 8 MB": b'{"' + b"x" * 8_000_000 + b'":1}',
    "escapes only": b'{"lists":{"a":["' + b"\\u0041" * 1_000_000 + b'"]},"method":"rrf"}',
    "spaces only": b" " * 8_000_000,
    "two documents": GOOD + GOOD,
    "a form": b"lists=a&method=rrf",
    "XML": b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
    "gzip": bytes.fromhex("1f8b08000000000000ff"),
    "a prototype": b'{"lists":{"__proto__":["x"],"constructor":["y"]},"method":"rrf"}',
    "code": b'{"lists":{"a":["__import__(\'os\')"]},"method":"${jndi:ldap://x}","model":"\'; DROP TABLE feedback; --"}',
}  # fmt: skip
ANSWERED = {"1e308 twice", "a top of 10^30", "a zero", "the same name often", "the same field often", "one id of 8 MB",
            "escapes only", "a prototype", "a score of 100,000 digits"}  # fmt: skip
PATHS = ("/v1/fuse", "/v1/explain", "/v1/feedback", "/v1/models/m/rollback", "/v1/models/m/refit")


@pytest.mark.parametrize("name", BODIES)
def test_a_body_of_any_content_has_a_clear_answer(service: Running, name: str) -> None:
    before = memory(service)
    for path in PATHS:
        if name in ("nothing", "spaces only") and path.endswith("refit"):
            continue  # an empty body is a request, and a refit takes its time
        reply = service.post(path, BODIES[name])  # which waits for a limited time
        assert reply.status < 500, (path, reply)
        if reply.status >= 400:
            assert reply.headers["content-type"] == "application/problem+json"
            assert len(reply.body) < 5000
    answered = service.post("/v1/fuse", BODIES[name])
    assert (answered.status == 200) == (name in ANSWERED), answered
    assert memory(service) < before + ROOM


def test_uploads_of_any_content_are_refused(service: Running) -> None:
    before = memory(service)
    for name, body in BODIES.items():
        reply = service.put("/v1/models/new", body)
        assert reply.status == 422, (name, reply)
        assert len(reply.body) < 5000
    assert memory(service) < before + ROOM


def test_names_that_strangers_send_are_not_kept(service: Running) -> None:
    """A thousand new experts in each of 60 requests: what is prepared for an expert must not stay for ever."""

    def send(number: int) -> None:
        queries = {str(q): {f"{number} {q} {e}": ["x"] for e in range(100)} for q in range(10)}
        for chosen in ({"method": "rrf"}, {"model": "m"}, {"method": "borda", "weights": {f"w{number}": 1.0}}):
            assert service.post("/v1/fuse", {"queries": queries, **chosen}).status == 200

    for number in range(20):
        send(number)
    before = memory(service)
    for number in range(20, 60):
        send(number)
    assert memory(service) < before + 40


def test_slow_clients_are_let_go_and_hold_up_nobody(service: Running) -> None:
    """All wait at the same time: for 10 s of silence, or of single bytes, the service closes."""
    before = memory(service)
    silent = [socket.create_connection(service.address) for _ in range(50)]
    head = [socket.create_connection(service.address) for _ in range(50)]
    body = [socket.create_connection(service.address) for _ in range(50)]
    empty = [socket.create_connection(service.address) for _ in range(20)]
    reader = [_request_much(service) for _ in range(5)]
    for connection in body:
        connection.sendall(POST + b"Content-Length: 1000\r\n\r\n")
    for connection in head:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
    start, dripped = time.monotonic(), 0
    while time.monotonic() - start < 13:
        for connection in (*head, *body, *empty):
            with suppress(OSError):  # closed by the service
                connection.send(b"\r\n" if connection in empty else b"A")
        dripped += 1
        assert service.post("/v1/fuse", GOOD).status == 200  # others are answered meanwhile
        time.sleep(0.5)
    assert dripped > 10
    for group, expected in ((silent, []), (head, [408]), (body, [408]), (empty, [])):
        for connection in group:
            connection.settimeout(PATIENCE)
            assert statuses(read(connection)) == expected
            assert _is_closed(connection)
    time.sleep(8)
    for connection in reader:  # they have never read
        connection.settimeout(5)
        assert len(read(connection)) < 4_000_000
        assert _is_closed(connection)
    for connection in (*silent, *head, *body, *empty, *reader):
        connection.close()
    assert memory(service) < before + ROOM


def _request_much(service: Running) -> socket.socket:
    """A client that asks for an answer of several megabytes and does not read it."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(service.address)
    content = json.dumps({"lists": {"a": [f"item {n:050}" for n in range(90_000)]}, "method": "rrf"}).encode()
    connection.sendall(post(content))
    return connection


def _is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except TimeoutError:
        return False
    except OSError:
        return True
