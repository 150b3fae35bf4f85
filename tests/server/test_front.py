"""Limits of the front, where a connection asks it for an answer without ASGI, and where ASGI does."""

from __future__ import annotations

import asyncio
import fcntl
import math
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from juryrank.server import front
from juryrank.server.app import create_app
from juryrank.server.keys import RateLimit
from juryrank.server.registry import Registry
from juryrank.server.settings import Settings
from server.raw import statuses
from server.samples import bearer, make_keys, model_content, wait_until

BODY = b'{"lists":{"a":["x"]},"method":"rrf"}'
HOST = (b"host", b"localhost")
Ask = Callable[[Any, bytes, list[tuple[bytes, bytes]]], bytes]


def at_once(app: Any, body: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
    """The answer as a connection gets it that has the whole request."""
    found: bytes = app.answer_at_once("/v1/fuse", [HOST, *headers], body)
    return found


async def by_asgi(
    app: Any, body: bytes, headers: list[tuple[bytes, bytes]], gate: asyncio.Event | None = None
) -> bytes:
    """The answer by messages; with a gate, the body does not come before it is open."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if gate is not None:
            await gate.wait()
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/v1/fuse", "headers": [HOST, *headers], "http_version": "1.1",
        "query_string": b"", "root_path": "",
    }  # fmt: skip
    await app(scope, receive, send)
    head = b"HTTP/1.1 %d \r\n" % sent[0]["status"]
    return head + b"".join(b"%b: %b\r\n" % pair for pair in sent[0]["headers"]) + b"\r\n" + sent[1]["body"]


def through_asgi(app: Any, body: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
    return asyncio.run(by_asgi(app, body, headers))


WAYS = pytest.mark.parametrize("ask", [at_once, through_asgi])


def retry_after(answer: bytes) -> int:
    found = re.search(rb"retry-after: (\d+)\r\n", answer)
    assert found is not None, answer
    return int(found[1])


@WAYS
def test_a_body_may_have_as_many_bytes_as_the_settings_say(ask: Ask) -> None:
    app = create_app(Settings(max_body=len(BODY), access_log=False))
    assert statuses(ask(app, BODY, [])) == [200]
    answer = ask(app, BODY + b" ", [])
    assert statuses(answer) == [413]
    assert b"the body may have %d bytes" % len(BODY) in answer


@pytest.mark.parametrize("most", [1, 2])
def test_requests_beyond_the_limit_are_refused_while_others_are_under_way(most: int) -> None:
    async def run() -> None:
        app, gate = create_app(Settings(concurrency=most, access_log=False)), asyncio.Event()
        waiting = []
        for _ in range(most):
            assert statuses(at_once(app, BODY, [])) == [200]
            waiting.append(asyncio.create_task(by_asgi(app, BODY, [], gate)))
            await asyncio.sleep(0)  # it begins
        for answer in (at_once(app, BODY, []), await by_asgi(app, BODY, [])):
            assert statuses(answer) == [503]
            assert retry_after(answer) == 1
        gate.set()
        assert [statuses(await each) for each in waiting] == [[200]] * most
        assert statuses(at_once(app, BODY, [])) == [200]

    asyncio.run(run())


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(front, "RateLimit", lambda rate: RateLimit(rate, made))
    return made


@WAYS
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("rate", [0.01, 1 / 101, 0.3, 0.7, 1.0, 2.5, 6.0, 30.0])
def test_each_worker_has_its_share_of_the_rate_and_says_when_to_come_again(
    clock: Clock, ask: Ask, rate: float, workers: int
) -> None:
    share = rate / workers
    burst = max(1, math.floor(2 * share + 1e-9))  # two seconds of it
    app = create_app(Settings(rate=rate, workers=workers, access_log=False))

    def allowed() -> tuple[int, bytes]:
        """How many requests are answered now, and the first refusal."""
        for number in range(100):
            if statuses(answer := ask(app, BODY, [])) != [200]:
                assert statuses(answer) == [429]
                return number, answer
        raise AssertionError("there is no limit")

    number, refusal = allowed()
    assert number == burst
    clock.now += 1_000_000.0  # what was not used is not kept
    number, refusal = allowed()
    assert number == burst
    seconds = retry_after(refusal)
    missing = 1 - (max(1.0, 2 * share) - burst)
    assert seconds == max(1, math.ceil(missing / share - 1e-6))
    clock.now += seconds - 1
    assert seconds == 1 or allowed()[0] == 0
    clock.now += 1 + 1e-6  # sums are rounded
    assert allowed()[0] >= 1


@WAYS
def test_the_rate_is_that_of_each_key(clock: Clock, ask: Ask, tmp_path: Path) -> None:
    keys = make_keys(tmp_path / "keys.json")
    app = create_app(Settings(rate=1.0, keys=tmp_path / "keys.json", access_log=False))
    for scope in ("fuse", "admin"):
        header = [(b"authorization", bearer(keys[scope])["Authorization"].encode())]
        assert [statuses(ask(app, BODY, header)) for _ in range(3)] == [[200], [200], [429]]
    assert statuses(ask(app, BODY, [])) == [401]


def is_waiting() -> bool:
    """Whether a lock of this machine is waited for by this process."""
    lines = Path("/proc/locks").read_text().splitlines()
    return any("-> FLOCK" in line and f" {os.getpid()} " in line for line in lines)


@pytest.mark.parametrize("change", ["put", "roll back", "delete"])
def test_a_writer_of_models_waits_for_another_process(tmp_path: Path, change: str) -> None:
    if not Path("/proc/locks").exists():
        pytest.skip("/proc/locks tells who waits")
    registry = Registry(tmp_path)
    for seed in range(2):
        registry.put("m", model_content(seed))
    before = registry.content("m")
    changes: dict[str, Callable[[], object]] = {
        "put": lambda: registry.put("m", model_content(2)),
        "roll back": lambda: registry.roll_back("m", None),
        "delete": lambda: registry.delete("m"),
    }
    model_content(2)  # learned before
    with (registry.versions_folder / ".lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        writer = threading.Thread(target=changes[change])
        writer.start()
        wait_until(lambda: is_waiting() or not writer.is_alive())
        assert is_waiting()
        assert (tmp_path / "m.json").read_bytes() == before
    writer.join(60)
    assert not (tmp_path / "m.json").exists() or (tmp_path / "m.json").read_bytes() != before
