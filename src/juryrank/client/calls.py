"""The calls of the service, for both clients: what is sent, and how answers are read."""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import urlsplit

from juryrank import __version__
from juryrank.client.requests import Reply, Request, model_file, model_path, post, with_key
from juryrank.errors import MissingExtraError, ParameterError, ServiceError

if TYPE_CHECKING:
    from types import ModuleType

    from juryrank.methods import Aggregator

Answer = TypeVar("Answer")
Lists = Mapping[str, Any]

CONNECT_SECONDS = 5.0  # after which a connection is tried again
REFIT_SECONDS = 600.0
QUOTED = 300  # characters of an answer that an error quotes


class Calls(ABC, Generic[Answer]):
    """The calls of the service; answers are those of its JSON, in the order in which it gives them."""

    _transport: str  # the class of httpx that sends

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 30.0, retries: int = 3) -> None:
        self._url = _checked_url(url)
        if isinstance(timeout, bool) or not isinstance(timeout, int | float) or not 0 < timeout < math.inf:
            raise ParameterError(f"timeout must be a number of seconds > 0, got {timeout!r}")
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise ParameterError(f"retries must be a whole number >= 0, got {retries!r}")
        self._timeout, self._retries = timeout, retries
        self._httpx = _import_httpx()
        self._http: Any = getattr(self._httpx, self._transport)(base_url=self._url, headers=_headers(key))

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
        body = {
            "lists": lists, "queries": queries, "model": model, "method": method, "weights": weights, "params": params,
            "top": top, "explain": explain or None,
        }  # fmt: skip
        return self._call(post("/v1/fuse", body))

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
        return self._call(post("/v1/explain", body))

    def models(self) -> Answer:
        """The models of the service."""
        return self._call(Request("GET", "/v1/models"))

    def model(self, name: str) -> Answer:
        """What a model has learned, and its versions."""
        return self._call(Request("GET", model_path(name)))

    def put_model(self, name: str, model: Aggregator | str | os.PathLike[str]) -> Answer:
        """Upload a fitted model, or the file of one, which is in use from then on."""
        return self._call(Request("PUT", model_path(name), model_file(model)))

    def delete_model(self, name: str) -> Answer:
        """Remove a model from use; the answer is empty."""
        return self._call(Request("DELETE", model_path(name), repeatable=False))

    def roll_back(self, name: str, version: str | None = None) -> Answer:
        """Put an earlier version of a model in use again; without ``version``, the one before the present one."""
        return self._call(post(model_path(name, "/rollback"), {"version": version}, repeatable=version is not None))

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
        entry = {
            "key": key, "query": query, "lists": lists, "labels": labels, "clicks": clicks, "model": model,
            "judge": judge,
        }  # fmt: skip
        return self._call(post("/v1/feedback", with_key(entry)))

    def feedback_many(self, entries: Iterable[Mapping[str, Any]]) -> Answer:
        """Store several entries, each a dict of the arguments of ``feedback``; all are stored, or none."""
        return self._call(post("/v1/feedback", {"feedback": [with_key(entry) for entry in entries]}))

    def refit(self, name: str, *, promote: bool | str | None = None, timeout: float = REFIT_SECONDS) -> Answer:
        """Learn from the feedback; the answer has the held-out gain over the model in use, and what was promoted."""
        body = {"promote": promote}
        return self._call(post(model_path(name, "/refit"), body, repeatable=False, seconds=timeout))

    def refits(self, name: str) -> Answer:
        """What the last refits of a model found."""
        return self._call(Request("GET", model_path(name, "/refit")))

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

    def _limits(self, seconds: float) -> Any:
        return self._httpx.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def _import_httpx() -> ModuleType:
    try:
        import httpx
    except ImportError:
        raise MissingExtraError.of("serve", "a client of the service needs httpx") from None
    return httpx


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
