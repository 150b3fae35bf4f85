"""Answers: as messages of ASGI, to HEAD as to GET; as bytes of HTTP where a connection is answered without ASGI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from starlette.routing import BaseRoute, Match
from uvicorn.protocols.http.httptools_impl import STATUS_LINE

from juryrank.server.problems import CONTENT_TYPE, Problem

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

JSON = b"application/json"
NOT_SNIFFED = (b"x-content-type-options", b"nosniff")
HEADS = {status: line.decode() + "content-type: " for status, line in STATUS_LINE.items()}
Message = MutableMapping[str, Any]


class Answer:
    """The answer of one request."""

    __slots__ = ("_request_id", "_send", "status")

    def __init__(self, send: Send, request_id: str) -> None:
        self._send, self._request_id, self.status = send, request_id, 0

    async def send(self, status: int, content_type: bytes, body: bytes, headers: dict[str, str] | None = None) -> None:
        """Send the whole answer."""
        self.status = status
        found = [
            (b"content-type", content_type),
            (b"content-length", b"%d" % len(body)),
            (b"x-request-id", self._request_id.encode()),
            NOT_SNIFFED,
        ]
        if headers:
            found += [(name.encode(), value.encode()) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": status, "headers": found})
        await self._send({"type": "http.response.body", "body": body})

    async def problem(self, problem: Problem) -> None:
        """Send a problem, unless an answer has begun."""
        if not self.status:
            await self.send(problem.status, CONTENT_TYPE, problem.body(self._request_id), problem.headers)

    async def pass_on(self, message: MutableMapping[str, Any]) -> None:
        """Send a message of the other routes, with the id of the request."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), (b"x-request-id", self._request_id.encode())]
        await self._send(message)


def whole_answer(
    status: int, content_type: str, body: bytes, request_id: str, headers: Mapping[str, str] | None = None
) -> bytes:
    """The bytes of an answer as ``Answer.send`` sends it; the connection stays open."""
    more = "".join(f"{name}: {value}\r\n" for name, value in headers.items()) if headers else ""
    head = (
        f"{HEADS[status]}{content_type}\r\ncontent-length: {len(body)}\r\nx-request-id: {request_id}\r\n"
        f"x-content-type-options: nosniff\r\n{more}\r\n"
    )
    return head.encode() + body


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
