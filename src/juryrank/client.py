"""``Client`` and ``AsyncClient`` of the service: what is sent, how answers are read, and what is sent again."""

from __future__ import annotations

import asyncio
import json
import math
import os
import secrets
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar
from urllib.parse import quote, urlsplit

from juryrank import __version__
from juryrank.errors import DataError, MissingExtraError, ParameterError, ServiceError
from juryrank.retries import Retries, seconds_to_wait

if TYPE_CHECKING:
    from juryrank.methods import Aggregator

Answer = TypeVar("Answer")
Lists = Mapping[str, Any]

CONNECT_SECONDS = 5.0  # after which a connection is tried again
REFIT_SECONDS = 600.0
TEMPORARY = (429, 502, 503)
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0
QUOTED = 300  # characters of an answer that an error quotes


class Request(NamedTuple):
    """A request; one that is not ``repeatable`` would have its effect twice if only the answer was lost."""

    method: str
    path: str
    content: bytes | None = None
    repeatable: bool = True
    seconds: float | None = None  # instead of those of the client


class Reply(NamedTuple):
    """What was answered; status 0 where there is no answer, with the reason as content."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    was_sent: bool = True  # whether the service may have received the request


class Attempts:
    """The attempts of one request: how much time is left, and whether and when it is sent again."""

    def __init__(self, request: Request, seconds: float, retries: int) -> None:
        self._request, self._n = request, 0
        self._end = time.monotonic() + (request.seconds or seconds)
        self._retries = Retries(most=retries, first_wait=FIRST_WAIT, longest_wait=LONGEST_WAIT)

    @property
    def seconds_left(self) -> float:
        """Seconds until the request must have been answered."""
        return max(0.001, self._end - time.monotonic())

    def wait_after(self, reply: Reply) -> float | None:
        """Seconds until the next attempt; None if there is none."""
        lost = reply.status in (0, 502) and reply.was_sent and not self._request.repeatable
        if lost or reply.status not in (0, *TEMPORARY) or self._n == self._retries.most:
            return None
        asked = seconds_to_wait(reply.headers.get("retry-after"))
        wait = self._retries.wait(self._n, asked)  # clients that fail together spread out
        self._n += 1
        return wait if wait < self._end - time.monotonic() else None


class Calls(ABC, Generic[Answer]):
    """The calls of the service; answers are those of its JSON, in the order in which it gives them."""

    _transport: str  # the class of httpx that sends

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 30.0, retries: int = 3) -> None:
        self._url = _checked_url(url)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise ParameterError(f"timeout must be a number of seconds > 0, got {timeout!r}")
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise ParameterError(f"retries must be a whole number >= 0, got {retries!r}")
        try:
            import httpx
        except ImportError:
            raise MissingExtraError.of("serve", "a client of the service needs httpx") from None
        self._httpx, self._timeout, self._retries = httpx, timeout, retries
        self._http: Any = getattr(httpx, self._transport)(base_url=self._url, headers=_headers(key))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url!r})"

    @abstractmethod
    def _call(self, request: Request) -> Answer:
        """The answer to a request, after as many attempts as it takes."""

    def fuse(
        self,
        lists: Lists | None = None,
        *,
        queries: Mapping[str, Lists] | None = None,
        model: str | None = None,
        method: str | None = None,
        weights: Mapping[str, float] | None = None,
        params: Mapping[str, Any] | None = None,
        top: int | None = None,
        explain: bool = False,
    ) -> Answer:
        """One ranking of the lists of one query, or of each of several ``queries``, by a model or a method.

        A list is ``[id, …]``, ``{id: score}``, ``[(id, score), …]`` or ``[{"id": id, "score": score}, …]``.
        """
        body = {"lists": lists, "queries": queries, "model": model, "method": method, "weights": weights}
        return self._call(_post("/v1/fuse", {**body, "params": params, "top": top, "explain": explain or None}))

    def explain(
        self,
        lists: Lists,
        *,
        model: str | None = None,
        method: str | None = None,
        weights: Mapping[str, float] | None = None,
        params: Mapping[str, Any] | None = None,
        top: int | None = None,
    ) -> Answer:
        """The ranking of one query with the rank of each item in each list, and what each expert adds to its score."""
        body = {"lists": lists, "model": model, "method": method, "weights": weights, "params": params, "top": top}
        return self._call(_post("/v1/explain", body))

    def models(self) -> Answer:
        """The models of the service."""
        return self._call(Request("GET", "/v1/models"))

    def model(self, name: str) -> Answer:
        """What a model has learned, and its versions."""
        return self._call(Request("GET", _model_path(name)))

    def put_model(self, name: str, model: Aggregator | str | os.PathLike[str]) -> Answer:
        """Upload a fitted model, or the file of one, which is in use from then on."""
        return self._call(Request("PUT", _model_path(name), _model_file(model)))

    def delete_model(self, name: str) -> Answer:
        """Remove a model from use; the answer is empty."""
        return self._call(Request("DELETE", _model_path(name), repeatable=False))

    def roll_back(self, name: str, version: str | None = None) -> Answer:
        """Put an earlier version of a model in use again; without ``version``, the one before the present one."""
        return self._call(_post(_model_path(name, "/rollback"), {"version": version}, repeatable=version is not None))

    def feedback(
        self,
        query: str,
        lists: Lists | None = None,
        *,
        labels: Mapping[str, float | None] | None = None,
        clicks: Mapping[str, Any] | None = None,
        model: str | None = None,
        judge: str | None = None,
        key: str | None = None,
    ) -> Answer:
        """Store labels, ``{id: grade}``, or clicks, ``{"shown": [ids], "clicked": [ids]}``, of one query.

        The service keeps feedback with the same ``key`` once. Without a key, each call gets a new one, so that attempts
        after a lost answer store nothing twice.
        """
        entry = {"key": key, "query": query, "lists": lists, "labels": labels, "clicks": clicks, "model": model}
        return self._call(_post("/v1/feedback", _with_key({**entry, "judge": judge})))

    def feedback_many(self, entries: Iterable[Mapping[str, Any]]) -> Answer:
        """Store several entries, each a dict of the arguments of ``feedback``; all are stored, or none."""
        return self._call(_post("/v1/feedback", {"feedback": [_with_key(entry) for entry in entries]}))

    def refit(self, name: str, *, promote: bool | str | None = None, timeout: float = REFIT_SECONDS) -> Answer:
        """Learn from the feedback; the answer has the held-out gain over the model in use, and what was promoted."""
        body = {"promote": promote}
        return self._call(_post(_model_path(name, "/refit"), body, repeatable=False, seconds=timeout))

    def refits(self, name: str) -> Answer:
        """What the last refits of a model found."""
        return self._call(Request("GET", _model_path(name, "/refit")))

    def health(self) -> Answer:
        """The status and the version of the service."""
        return self._call(Request("GET", "/healthz"))

    def _answer(self, reply: Reply) -> dict[str, Any]:
        """The answer of the last attempt, or the error."""
        text = reply.content.decode(errors="replace")
        try:
            found = json.loads(text or "{}")
        except (ValueError, RecursionError):
            found = None
        problem: dict[str, Any] = found if isinstance(found, dict) else {}
        if 200 <= reply.status < 300 and isinstance(found, dict):
            return problem
        request_id = problem.get("request_id") or reply.headers.get("x-request-id")
        if not reply.status:
            raise ServiceError(f"{self._url}: {text}; is the URL right, and the service running?")
        detail = problem.get("detail") or " ".join(text.split())[:QUOTED] or "no reason is given"
        if reply.status < 400:
            detail = f"the answer is not that of juryrank serve: {detail}"
        raise ServiceError(f"{self._url}: HTTP {reply.status}: {detail}", status=reply.status, request_id=request_id)

    def _no_reply(self, error: Exception) -> Reply:
        """What stands for the answer after an error of the connection."""
        x = self._httpx
        sent = not isinstance(error, x.ConnectError | x.ConnectTimeout | x.PoolTimeout)
        reason = "no answer in time" if isinstance(error, x.TimeoutException | TimeoutError) else "no connection"
        return Reply(0, {}, f"{reason} ({str(error) or type(error).__name__})".encode(), sent)

    def _arguments(self, request: Request, seconds: float) -> dict[str, Any]:
        """A request as httpx takes it."""
        limits = self._httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))
        return {"method": request.method, "url": request.path, "content": request.content, "timeout": limits}


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
            with self._http.stream(**self._arguments(request, seconds)) as found:
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
                found = await self._http.request(**self._arguments(request, seconds))
        except (self._httpx.RequestError, TimeoutError) as error:
            return self._no_reply(error)
        return Reply(found.status_code, found.headers, found.content)


def _checked_url(url: str) -> str:
    parts = urlsplit(url.strip()) if isinstance(url, str) else urlsplit("")
    try:
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or "@" in parts.netloc:
        raise ParameterError("the URL of a service must be such as http://127.0.0.1:8347, without a key or a query")
    return parts.geturl().rstrip("/")


def _headers(key: str | None) -> dict[str, str]:
    headers = {"content-type": "application/json", "user-agent": f"juryrank/{__version__}"}
    if key is None:
        return headers
    if not isinstance(key, str) or not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ParameterError("the key must be a text as juryrank serve --create-key prints it")
    return {**headers, "authorization": f"Bearer {key}"}


def _model_path(name: str, action: str = "") -> str:
    return f"/v1/models/{quote(name, safe='')}{action}"


def _post(path: str, body: Mapping[str, Any], *, repeatable: bool = True, seconds: float | None = None) -> Request:
    """A request with what is given of the body."""
    given = {name: value for name, value in body.items() if value is not None}
    try:
        text = json.dumps(given, allow_nan=False, ensure_ascii=False, default=_plain)
        return Request("POST", path, text.encode(), repeatable, seconds)
    except (TypeError, ValueError, RecursionError, UnicodeEncodeError) as error:
        raise DataError(f"the request cannot be sent as JSON: {error}") from None


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy, and mappings that are no dicts, as JSON has them."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} is not a list, a dict, a text or a number")


def _with_key(entry: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in entry.items() if value is not None}
    return {**given, "key": given.get("key") or secrets.token_hex(16)}


def _model_file(model: Aggregator | str | os.PathLike[str]) -> bytes:
    from juryrank.methods import Aggregator as Method
    from juryrank.models import path_of_model, to_json

    if isinstance(model, Method):
        return to_json(model).encode()
    try:
        return Path(path_of_model(model)).read_bytes()
    except OSError as error:
        raise DataError(f"{model}: cannot be read: {error.strerror or error}") from None
