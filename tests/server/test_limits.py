"""Limits: bodies, entries, experts, queries, rates, requests under way, and what browsers may do."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from juryrank.server.keys import MOST_BUCKETS, RateLimit
from server.processes import PATIENCE, Reply, Running, running
from server.raw import connect, first_answer
from server.samples import bearer, make_keys, wait_until

LIMITS = """
max_body = 20000
max_model = 30000
max_held = 300000
max_experts = 5
max_items = 50
max_queries = 3
body_seconds = 600.0
concurrency = 6
"""


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("limits")
    (folder / "models").mkdir()
    (folder / "serve.toml").write_text(LIMITS)
    with running(folder / "models", "--config", folder / "serve.toml") as service:
        yield service


def lists(experts: int, entries: int) -> dict[str, list[int]]:
    return {f"e{number}": list(range(entries)) for number in range(experts)}


def fuse(service: Running, **body: Any) -> Reply:
    return service.post("/v1/fuse", {"method": "rrf", **body})


@pytest.mark.parametrize(
    ("fits", "too_much", "reason"),
    [
        ({"lists": lists(5, 10)}, {"lists": lists(6, 1)}, "a query may have 5 experts, got 6"),
        ({"lists": lists(5, 10)}, {"lists": lists(3, 17)}, "50 entries in its lists, got 51"),
        (
            {"queries": {str(n): lists(1, 1) for n in range(3)}},
            {"queries": {str(n): lists(1, 1) for n in range(4)}},
            "a batch may have 3 queries, got 4",
        ),
        (
            {"queries": {str(n): lists(2, 8) for n in range(3)}},
            {"queries": {str(n): lists(2, 9) for n in range(3)}},
            "50 entries in its lists, got 54",
        ),
        ({"lists": {}, "weights": dict.fromkeys("abcde", 1)}, {"lists": {}, "weights": dict.fromkeys("abcdef", 1)},
         "weights of 5 experts"),
    ],
)  # fmt: skip
def test_what_is_at_a_limit_is_answered_and_what_is_beyond_is_refused(
    limited: Running, fits: dict[str, Any], too_much: dict[str, Any], reason: str
) -> None:
    assert fuse(limited, **fits).status == 200
    reply = fuse(limited, **too_much)
    assert reply.status == 413
    assert reason in reply.json()["detail"]


def test_names_have_a_limit(limited: Running) -> None:
    assert fuse(limited, lists={"x" * 200: ["a"]}).status == 200
    for body in (
        {"lists": {"x" * 201: ["a"]}},
        {"lists": {}, "weights": {"x" * 201: 1}},
        {"lists": {}, "model": "x" * 201},
    ):
        reply = fuse(limited, **body)
        assert reply.status == 422
        assert "may have 200 characters" in reply.json()["detail"]
        assert len(reply.body) < 500


def padded(size: int) -> bytes:
    body = json.dumps({"lists": {"a": ["x"]}, "method": "rrf"}).encode()
    return body + b" " * (size - len(body))


def test_a_body_may_have_as_many_bytes_as_the_settings_say(limited: Running) -> None:
    assert limited.post("/v1/fuse", padded(20_000)).status == 200
    reply = limited.post("/v1/fuse", padded(20_001))
    assert reply.status == 413
    assert "the body may have 20000 bytes" in reply.json()["detail"]
    assert limited.put("/v1/models/m", b" " * 30_000).status == 422  # it is read, and no model
    assert limited.put("/v1/models/m", b" " * 30_001).status == 413
    assert limited.post("/v1/models/m/rollback", b" " * 20_001).status == 413


def chunked(service: Running, path: str, size: int, method: bytes = b"POST") -> bytes:
    """The answer to a body of unknown length, in chunks of 1,000 bytes."""
    with connect(service) as connection:
        connection.sendall(
            method + b" " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        content = padded(size)
        try:
            for start in range(0, size, 1000):
                part = content[start : start + 1000]
                connection.sendall(b"%x\r\n%b\r\n" % (len(part), part))
            connection.sendall(b"0\r\n\r\n")
        except OSError:
            pass  # refused before the end
        return connection.recv(100_000)


def test_a_chunked_body_has_the_same_limits(limited: Running) -> None:
    assert chunked(limited, "/v1/fuse", 20_000).startswith(b"HTTP/1.1 200")
    assert chunked(limited, "/v1/fuse", 20_001).startswith(b"HTTP/1.1 413")
    assert chunked(limited, "/v1/models/m", 30_001, b"PUT").startswith(b"HTTP/1.1 413")


def test_explanations_that_would_take_much_room_are_refused() -> None:
    with running() as service:
        body = {"lists": {f"e{n}": [f"{n} {m}" for m in range(1000)] for n in range(100)}, "method": "borda"}
        reply = service.post("/v1/explain", body)
        assert reply.status == 413
        assert "give a smaller top" in reply.json()["detail"]
        assert len(service.post("/v1/explain", {**body, "top": 1000}).json()["items"]) == 1000
        assert service.post("/v1/fuse", body).status == 200


def test_more_requests_under_way_than_allowed_are_refused_and_told_to_try_again(limited: Running) -> None:
    waiting = [connect(limited) for _ in range(6)]
    try:
        for connection in waiting:
            connection.sendall(b"POST /v1/fuse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
        wait_until(lambda: limited.get("/healthz").status == 503)
        assert limited.get("/healthz").headers["retry-after"] == "1"
        assert not [connection for connection in waiting if _has_answer(connection)]
        waiting[0].sendall(b" " * 99)  # the end, which makes no JSON of it
        assert waiting[0].recv(1000).startswith(b"HTTP/1.1 400")
        wait_until(lambda: limited.get("/healthz").status == 200)  # there is room for one
    finally:
        for connection in waiting:
            connection.close()


def test_a_body_that_does_not_arrive_in_its_time_is_refused(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text("body_seconds = 0.2\n")
    with running("--config", tmp_path / "serve.toml") as service:
        begun = b"POST /v1/fuse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
        assert first_answer(service, begun).startswith(b"HTTP/1.1 408")


def test_bodies_that_are_being_read_are_limited_together(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text("max_held = 1000000\nbody_seconds = 600.0\n")
    with running("--config", config) as service:
        waiting = [connect(service) for _ in range(6)]
        for connection in waiting:  # 1.2 MB, of which the service may hold 1 MB
            connection.sendall(
                b"POST /v1/fuse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 300000\r\n\r\n" + b" " * 200_000
            )
        wait_until(lambda: any(map(_has_answer, waiting)))
        refused = [connection for connection in waiting if _has_answer(connection)]
        assert len(refused) <= 3
        assert all(connection.recv(1000).startswith(b"HTTP/1.1 503") for connection in refused)
        for connection in waiting:
            connection.close()
        wait_until(lambda: service.post("/v1/fuse", padded(900_000)).status == 200)  # all is free again


def _has_answer(connection: socket.socket) -> bool:
    connection.settimeout(0.05)
    try:
        return bool(connection.recv(1, socket.MSG_PEEK))
    except TimeoutError:
        return False
    finally:
        connection.settimeout(PATIENCE)


def test_more_requests_than_the_rate_are_refused_for_that_key_alone(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text("rate = 0.5\n")
    keys = make_keys(tmp_path / "keys.json")
    with running("--config", config, "--keys", tmp_path / "keys.json") as service:
        body = {"lists": {"a": ["x"]}, "method": "rrf"}
        assert service.post("/v1/fuse", body, bearer(keys["fuse"])).status == 200
        refused = until_refused(service, body, bearer(keys["fuse"]))
        assert refused.headers["retry-after"] in ("1", "2")
        assert refused.headers["content-type"] == "application/problem+json"
        assert service.post("/v1/fuse", body, bearer(keys["admin"])).status == 200
        assert service.get("/healthz").status == 200  # never limited
        time.sleep(float(refused.headers["retry-after"]))
        assert service.post("/v1/fuse", body, bearer(keys["fuse"])).status == 200


def until_refused(service: Running, body: Any, headers: dict[str, str]) -> Reply:
    """The first refusal of requests that come faster than the rate, as far as the machine has time."""
    replies: list[Reply] = []

    def is_refused() -> bool:
        replies.append(service.post("/v1/fuse", body, headers))
        return replies[-1].status != 200

    wait_until(is_refused)
    assert replies[-1].status == 429
    return replies[-1]


def test_two_seconds_of_unused_requests_may_come_at_once_and_then_as_many_as_the_rate() -> None:
    now = 0.0
    limit = RateLimit(4.0, lambda: now)
    for seconds, allowed in ((0.0, 8), (1.0, 4), (0.125, 0), (0.125, 1), (1000.0, 8)):
        now += seconds
        found = [limit.wait("a") for _ in range(20)]
        assert found[:allowed] == [0.0] * allowed
        assert found[allowed] > 0.0
        assert found[allowed:] == [found[allowed]] * (20 - allowed)
    now += found[-1]  # what it asked to wait
    assert limit.wait("a") == 0.0
    assert limit.wait("b") == 0.0  # another caller


def test_a_rate_limit_keeps_a_limited_number_of_callers() -> None:
    limit = RateLimit(0.001, lambda: 0.0)
    assert limit.wait("a") == 0.0
    assert limit.wait("a") == pytest.approx(1000)
    for number in range(MOST_BUCKETS):
        limit.wait(str(number))
    assert limit.wait("a") == 0.0  # forgotten, and not kept for ever


def test_browsers_of_other_origins_are_not_answered_unless_asked(limited: Running) -> None:
    preflight = {"Origin": "https://example.org", "Access-Control-Request-Method": "POST"}
    reply = limited.call("OPTIONS", "/v1/fuse", headers=preflight)
    assert reply.status == 405
    for found in (reply, limited.get("/healthz", preflight)):
        assert not [name for name in found.headers if name.startswith("access-control")]


def test_the_origins_of_the_settings_are_allowed_and_no_others(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text('cors = ["https://example.org"]\n')
    with running("--config", config) as service:
        for origin, allowed in (("https://example.org", True), ("https://example.com", False)):
            headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            preflight = service.call("OPTIONS", "/v1/fuse", headers=headers)
            assert (preflight.status == 200) == allowed
            answers = [service.get("/healthz", {"Origin": origin}), service.post("/v1/fuse", b"{", {"Origin": origin})]
            for found in answers:
                assert found.headers.get("access-control-allow-origin") == (origin if allowed else None)


def test_many_requests_at_once_are_all_answered_within_the_limit() -> None:
    with running() as service, ThreadPoolExecutor(50) as pool:
        barrier = threading.Barrier(50)

        def send(number: int) -> Any:
            barrier.wait()
            return service.post("/v1/fuse", {"lists": {"a": [number]}, "method": "rrf"}).json()["items"][0]["id"]

        assert sorted(pool.map(send, range(50))) == list(range(50))
