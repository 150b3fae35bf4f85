"""Bodies of requests: each of limited size and in limited time, and those that are being read together limited, too."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, MutableMapping
from typing import Any

from juryrank.server.problems import Problem
from juryrank.server.settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]


class DisconnectedError(Exception):
    """The client is gone before its request was complete."""


class Bodies:
    """What this worker has read of requests that are not complete."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self.held = settings, 0

    async def read(self, receive: Receive, headers: dict[bytes, bytes]) -> bytes:
        """The whole body."""
        limit, seconds = self._settings.max_body, self._settings.body_seconds
        check_length(headers, limit)
        waiting = Waiting(receive())
        first = waiting.message
        if first is not None and not first.get("more_body"):  # most bodies are there, in one piece
            body: bytes = first.get("body", b"")
            if first["type"] == "http.disconnect":
                raise DisconnectedError
            if len(body) > limit:
                raise too_large(limit)
            return body
        try:
            async with asyncio.timeout(seconds):
                return await self._read_on(receive, await waiting, limit)
        except TimeoutError:
            raise too_slow(seconds) from None

    async def _read_on(self, receive: Receive, message: Message, limit: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        try:
            while True:
                if message["type"] == "http.disconnect":
                    raise DisconnectedError
                part = message.get("body", b"")
                parts.append(part)
                size += len(part)
                self.hold(len(part))
                if size > limit:
                    raise too_large(limit)
                if not message.get("more_body"):
                    return b"".join(parts)
                message = await receive()
        finally:
            self.held -= size

    def hold(self, size: int) -> None:
        """Count what was read; a Problem if it is too much together."""
        self.held += size
        if self.held > self._settings.max_held:
            raise Problem(503, "too many large requests are being read; try again", headers={"retry-after": "1"})


class Waiting:
    """A message that is waited for; ``message`` has it if it was there at once, so that no timer is needed."""

    __slots__ = ("_steps", "_suspended", "message")

    def __init__(self, awaitable: Awaitable[Message]) -> None:
        self._steps: Any = awaitable.__await__()
        self.message: Message | None = None
        try:
            self._suspended = next(self._steps)
        except StopIteration as end:
            self.message = end.value

    def __await__(self) -> Generator[Any, None, Message]:
        if self.message is None:
            try:
                yield self._suspended
            except BaseException:
                self._steps.close()
                raise
            return (yield from self._steps)  # type: ignore[no-any-return]
        return self.message


class LimitedReceive:
    """``receive`` with the limits, for routes that read the body themselves."""

    def __init__(self, receive: Receive, bodies: Bodies, limit: int, seconds: float) -> None:
        self._receive, self._bodies, self._limit, self._seconds = receive, bodies, limit, seconds
        self._end, self._complete, self.size = time.monotonic() + seconds, False, 0

    async def __call__(self) -> Message:
        """The next message."""
        if self._complete:
            return await self._receive()  # waits for the end of the connection
        try:
            async with asyncio.timeout(max(0.0, self._end - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise too_slow(self._seconds) from None
        part = len(message.get("body", b""))
        self.size += part
        self._bodies.hold(part)
        self._complete = not message.get("more_body")
        if self.size > self._limit:
            raise too_large(self._limit)
        return message


def check_length(headers: dict[bytes, bytes], limit: int) -> None:
    """A Problem if the body is going to be too large."""
    length = headers.get(b"content-length", b"0")
    if not length.isdigit() or len(length) > 18 or int(length) > limit:
        raise too_large(limit)


def too_large(limit: int) -> Problem:
    """The answer to a body that is too large; the rest is read for a while, since closing at once could lose it."""
    return Problem(413, f"the body may have {limit} bytes")


def too_slow(seconds: float) -> Problem:
    """The answer to a body that does not arrive."""
    return Problem(408, f"the body must arrive within {seconds:g} seconds", headers={"connection": "close"})
