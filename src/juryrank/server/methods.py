"""Methods of HTTP that the framework leaves to us: HEAD wherever GET is, and all methods of a path in ``Allow``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from starlette.routing import BaseRoute, Match

Message = MutableMapping[str, Any]


class HeadAsGet:
    """Answers HEAD as GET is answered, without the body."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __call__(self, scope: Message, receive: Any, send: Callable[[Message], Awaitable[None]]) -> None:
        """One request."""
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._inner(scope, receive, send)
            return

        async def send_head(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        await self._inner({**scope, "method": "GET"}, receive, send_head)


def allowed_methods(routes: Iterable[BaseRoute], scope: Message) -> str:
    """The header ``Allow`` of a path."""
    found: set[str] = set()
    for route in routes:
        if route.matches(scope)[0] != Match.NONE:
            found |= getattr(route, "methods", None) or set()
    found = found or {"GET"}  # of a folder of files, whose scope matches no route any more
    return ", ".join(sorted(found | ({"HEAD"} if "GET" in found else set())))
