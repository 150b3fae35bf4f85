"""The front of the service, a plain ASGI application: sites, keys, limits, ids, metrics and logs for every request.

``/v1/fuse`` and ``/v1/explain`` are answered here, since a framework would take longer than the fusion; all other
requests go on to the application with the other routes. A connection that has such a request as a whole asks for its
answer by ``answer_at_once``, without ASGI, which would take longer than the fusion, too.
"""

from __future__ import annotations

import logging
import math
import re
import secrets
import time
from collections.abc import MutableMapping, Sequence
from itertools import count
from typing import Any

from juryrank.server import logs
from juryrank.server.answers import JSON, Answer, Send, whole_answer
from juryrank.server.bodies import Bodies, DisconnectedError, LimitedReceive, Receive, check_length, too_large
from juryrank.server.fusing import Fusing, ModelInUse
from juryrank.server.keys import Key, KeyRing, RateLimit
from juryrank.server.logs import log
from juryrank.server.paths import FUSION, OPEN, route_of
from juryrank.server.problems import CONTENT_TYPE, Problem, unexpected
from juryrank.server.settings import Settings
from juryrank.server.sites import Sites
from juryrank.server.telemetry import Metrics

Scope = MutableMapping[str, Any]

REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# Scopes, each of which is enough.
ADMIN = frozenset(("admin",))
FUSE, FEEDBACK, ANY = ADMIN | {"fuse"}, ADMIN | {"feedback"}, ADMIN | {"fuse", "feedback"}


class Front:
    """What every request passes."""

    def __init__(self, inner: Any, fusing: Fusing, metrics: Metrics, settings: Settings) -> None:
        self._inner, self._fusing, self._metrics, self._settings = inner, fusing, metrics, settings
        self._keys = None if settings.keys is None else KeyRing(settings.keys)
        self._sites = Sites(settings.host, settings.allow_hosts, settings.cors)
        self._rates = RateLimit(settings.rate / settings.workers)
        self._prefix, self._counter = secrets.token_hex(4), count(1)
        self._bodies = Bodies(settings)
        self._active = 0
        self._logs_requests = settings.access_log and log.isEnabledFor(logging.INFO)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        start, path, method = time.perf_counter(), scope["path"], scope["method"]
        headers = dict(scope["headers"])
        request_id = self._request_id(headers)
        answer = Answer(send, request_id)
        self._active += 1
        key, used, state = None, None, scope.setdefault("state", {})
        try:
            if self._active > self._settings.concurrency:
                raise too_many()
            self._sites.check(method, headers, scope["headers"], scope["http_version"])
            key = self._key_of(path, method, headers)
            self._admit(path, method, key)
            if method == "POST" and (path == "/v1/fuse" or path == "/v1/explain"):
                used = await self._fuse(path, receive, answer, headers)
            else:
                state.update(request_id=request_id)
                await self._pass_on(scope, receive, answer, headers)
        except Problem as problem:
            await answer.problem(problem)
        except DisconnectedError:
            answer.status = 499
        except Exception:
            log.exception("a request failed", extra={"request_id": request_id})
            await answer.problem(unexpected())
        finally:
            self._active -= 1
            self._note(request_id, method, route_of(path), answer.status, start, key, used or state.get("model"))

    def answer_at_once(self, path: str, found: Sequence[tuple[bytes, bytes]], body: bytes) -> bytes:
        """The answer, with its head, to POST of a path of ``FUSION`` with these headers; the whole body is there."""
        start, headers = time.perf_counter(), dict(found)
        request_id, key, used = self._request_id(headers), None, None
        try:
            if self._active >= self._settings.concurrency:
                raise too_many()
            self._sites.check("POST", headers, found)
            key = self._key_of(path, "POST", headers)
            self._admit(path, "POST", key)
            if len(body) > self._settings.max_body:
                raise too_large(self._settings.max_body)
            content, used = self._fused(path, body)
            status, answer = 200, whole_answer(200, JSON.decode(), content, request_id)
        except Exception as error:
            if not isinstance(error, Problem):
                log.exception("a request failed", extra={"request_id": request_id})
                error = unexpected()
            status, content = error.status, error.body(request_id)
            answer = whole_answer(status, CONTENT_TYPE.decode(), content, request_id, error.headers)
        self._note(request_id, "POST", path, status, start, key, used)
        return answer

    def _note(
        self, request_id: str, method: str, route: str, status: int, start: float, key: Key | None,
        used: ModelInUse | None,
    ) -> None:  # fmt: skip
        """Count a request that has been answered, and write its line."""
        seconds = time.perf_counter() - start
        self._metrics.request(route, status, seconds)
        if self._logs_requests:
            name, model, version = "" if key is None else key.name, "", ""
            if used is not None:
                model, version = used.name, used.version
            logs.write_request(request_id, method, route, status, seconds, logs.members(name, model, version))

    def _request_id(self, headers: dict[bytes, bytes]) -> str:
        given = headers.get(b"x-request-id")
        if given is not None and REQUEST_ID.fullmatch(given):
            return given.decode()
        return f"{self._prefix}-{next(self._counter):x}"

    def _key_of(self, path: str, method: str, headers: dict[bytes, bytes]) -> Key | None:
        """The key of the request, if one is asked for; a Problem without a known one."""
        if self._keys is None or is_open(path, method):
            return None
        given = headers.get(b"authorization", b"")
        text = given[7:] if given[:7].lower() == b"bearer " else headers.get(b"x-api-key", b"")
        key = self._keys.find(text.decode("latin-1"))
        if key is None:
            detail = "a key is needed, as the header Authorization: Bearer KEY" if not text else "the key is not known"
            raise Problem(401, detail, headers={"www-authenticate": "Bearer"})
        return key

    def _admit(self, path: str, method: str, key: Key | None) -> None:
        """A Problem if the key does not allow the request, or there are too many."""
        if is_open(path, method):
            return
        if key is not None and not (needed := _needed_scopes(path, method)).intersection(key.scopes):
            raise Problem(
                403, f"the key has the scopes {', '.join(key.scopes)}, and this needs {' or '.join(sorted(needed))}"
            )
        if wait := self._rates.wait("" if key is None else key.id):
            raise Problem(429, "too many requests for this key", headers={"retry-after": f"{max(1, math.ceil(wait))}"})

    async def _pass_on(self, scope: Scope, receive: Receive, answer: Answer, headers: dict[bytes, bytes]) -> None:
        """Let another route answer, with limits for what it reads."""
        if scope["path"] in FUSION:
            detail = f"{scope['method']} {scope['path']}: only POST is allowed"
            raise Problem(405, detail, headers={"allow": "POST"})
        model = scope["method"] == "PUT" and scope["path"].startswith("/v1/models/")
        limit = self._settings.max_model if model else self._settings.max_body
        check_length(headers, limit)
        limited = LimitedReceive(receive, self._bodies, limit, self._settings.body_seconds)
        try:
            await self._inner(scope, limited, answer.pass_on)
        finally:
            self._bodies.held -= limited.size

    async def _fuse(
        self, path: str, receive: Receive, answer: Answer, headers: dict[bytes, bytes]
    ) -> ModelInUse | None:
        content, used = self._fused(path, await self._bodies.read(receive, headers))
        await answer.send(200, JSON, content)
        return used

    def _fused(self, path: str, body: bytes) -> tuple[bytes, ModelInUse | None]:
        content, entries, warned, used = self._fusing.answer(body, explain=path == "/v1/explain")
        self._metrics.fused(entries, warned)
        return content, used


def too_many() -> Problem:
    """The answer to a request beyond ``concurrency``."""
    return Problem(503, "too many requests are under way; try again", headers={"retry-after": "1"})


def is_open(path: str, method: str) -> bool:
    """Whether a request needs no key and counts for no rate."""
    return path in OPEN or method == "OPTIONS"


def _needed_scopes(path: str, method: str) -> frozenset[str]:
    if path in FUSION:
        return FUSE
    if path == "/v1/feedback" and method == "POST":
        return FEEDBACK
    if method in ("GET", "HEAD") and (path == "/metrics" or path.startswith("/v1/models")):
        return ANY
    return ADMIN
