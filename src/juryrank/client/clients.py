"""``Client`` and ``AsyncClient``: they differ in how they send and wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable
from typing import Any, Self

from juryrank.client.calls import Calls
from juryrank.client.requests import Attempts, Reply, Request


class Client(Calls[dict[str, Any]]):
    """A client of ``juryrank serve``, with the key that the service asks for.

    Connections are kept for later calls and may be used by several threads; ``with`` or ``close`` ends them. A call is
    sent again up to ``retries`` times if there is no connection or the service is busy (429, 502, 503), after the time
    that it asks for, or else 0.1 seconds that double. All this takes at most ``timeout`` seconds. Other errors are a
    ``juryrank.errors.ServiceError`` at once.
    """

    _transport = "Client"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End all connections."""
        self._http.close()

    def _call(self, request: Request) -> dict[str, Any]:
        attempts = Attempts(request, self._timeout, self._retries)
        while (wait := attempts.wait_after(reply := self._send(request, attempts.seconds_left))) is not None:
            time.sleep(wait)
        return self._answer(reply)

    def _send(self, request: Request, seconds: float) -> Reply:
        parts, end = [], time.monotonic() + seconds
        try:
            with self._http.stream(
                request.method, request.path, content=request.content, timeout=self._limits(seconds)
            ) as found:
                for part in found.iter_bytes():
                    parts.append(part)
                    if time.monotonic() > end:  # each part came in time, and all of them did not
                        raise TimeoutError
                return Reply(found.status_code, found.headers, b"".join(parts))
        except (self._httpx.RequestError, TimeoutError) as error:
            return self._no_reply(error)


class AsyncClient(Calls[Awaitable[dict[str, Any]]]):
    """``Client`` for asyncio: the same calls, to be awaited; ``async with`` or ``await close()`` ends connections."""

    _transport = "AsyncClient"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End all connections."""
        await self._http.aclose()

    async def _call(self, request: Request) -> dict[str, Any]:
        attempts = Attempts(request, self._timeout, self._retries)
        while (wait := attempts.wait_after(reply := await self._send(request, attempts.seconds_left))) is not None:
            await asyncio.sleep(wait)
        return self._answer(reply)

    async def _send(self, request: Request, seconds: float) -> Reply:
        try:
            async with asyncio.timeout(seconds):
                found = await self._http.request(
                    request.method, request.path, content=request.content, timeout=self._limits(seconds)
                )
        except (self._httpx.RequestError, TimeoutError) as error:
            return self._no_reply(error)
        return Reply(found.status_code, found.headers, found.content)
