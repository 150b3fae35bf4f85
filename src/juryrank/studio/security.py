"""Who may use the studio: those who know the token, from a page of this machine."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from juryrank.server.bodies import Bodies, LimitedReceive, check_length
from juryrank.server.front import too_many
from juryrank.server.problems import CONTENT_TYPE, Problem
from juryrank.server.settings import Settings
from juryrank.server.sites import Sites

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Headers = [
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
NEEDED = "open the address with the token that juryrank studio printed"


class Gate:
    """Passes requests on that have the token, within the limits of the service; all answers get headers for browsers.

    ``/?token=…`` sets a cookie and goes on to ``/``, so that the token is not in the address any more. Pages of other
    sites are refused, too, even where a browser would send the cookie.
    """

    def __init__(self, inner: Any, token: str, port: int, sites: Sites) -> None:
        self._inner, self._token, self._sites = inner, token.encode(), sites
        self._cookie = f"juryrank-studio-{port}"  # browsers have one set of cookies for all ports
        self._limits, self._active = Settings(), 0
        self._bodies = Bodies(self._limits)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "lifespan":
            await self._inner(scope, receive, send)
            return

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        raw = dict(scope["headers"])
        headers = {name: value.decode("latin-1") for name, value in raw.items()}
        in_address = _token_in(scope)
        try:
            if scope["type"] != "http":
                raise Problem(403, "there are no web sockets here")
            self._sites.check(scope["method"], raw, scope["headers"], scope["http_version"])
            self._check_token(headers, in_address)
            _check_kind(scope["method"], headers)
            check_length(raw, self._limits.max_body)
            if self._active >= self._limits.concurrency:
                raise too_many()
        except Problem as problem:
            more = [(name.encode(), value.encode()) for name, value in problem.headers.items()]
            await _answer(send_safely, problem.status, problem.body(""), [(b"content-type", CONTENT_TYPE), *more])
            return
        if in_address is not None and scope["path"] == "/" and scope["method"] in ("GET", "HEAD"):
            value = f"{self._cookie}={in_address}; Path=/; HttpOnly; SameSite=Strict"
            await _answer(send_safely, 303, b"", [(b"location", b"/"), (b"set-cookie", value.encode())])
            return
        limited = LimitedReceive(receive, self._bodies, self._limits.max_body, self._limits.body_seconds)
        self._active += 1
        try:
            await self._inner(scope, limited, send_safely)
        finally:
            self._active -= 1
            self._bodies.held -= limited.size

    def _check_token(self, headers: dict[bytes, str], in_address: str | None) -> None:
        scheme, _, bearer = headers.get(b"authorization", "").partition(" ")
        given = in_address or (bearer.strip() if scheme.lower() == "bearer" else self._in_cookie(headers))
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self._token):
            raise Problem(403, f"the token is {'missing' if not given else 'not that of this studio'}: {NEEDED}")

    def _in_cookie(self, headers: dict[bytes, str]) -> str:
        try:
            found = SimpleCookie(headers.get(b"cookie", "")).get(self._cookie)
        except CookieError:
            return ""
        return "" if found is None else found.value


def _check_kind(method: str, headers: dict[bytes, str]) -> None:
    """What changes something must be JSON, which no form of a page can send."""
    kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
    if method not in ("GET", "HEAD") and kind != "application/json":
        raise Problem(415, "the body must be JSON, with the header Content-Type: application/json")


def _token_in(scope: Scope) -> str | None:
    """The token in the address."""
    query = scope.get("query_string", b"").decode("latin-1")
    return (parse_qs(query).get("token") or [None])[0] if "token" in query else None


async def _answer(send: Send, status: int, body: bytes, headers: Headers) -> None:
    headers = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
