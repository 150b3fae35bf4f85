"""Requests as they are sent, and how often; nothing here sends."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from juryrank.errors import DataError
from juryrank.tasks.judge.endpoint import Retries, seconds_to_wait

if TYPE_CHECKING:
    from juryrank.methods import Aggregator

TEMPORARY = (429, 502, 503)
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0


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


def model_path(name: str, action: str = "") -> str:
    return f"/v1/models/{quote(name, safe='')}{action}"


def post(path: str, body: Mapping[str, Any], *, repeatable: bool = True, seconds: float | None = None) -> Request:
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


def with_key(entry: Mapping[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in entry.items() if value is not None}
    return {**given, "key": given.get("key") or secrets.token_hex(16)}


def model_file(model: Aggregator | str | os.PathLike[str]) -> bytes:
    from juryrank.methods import Aggregator as Method
    from juryrank.models import path_of_model, to_json

    if isinstance(model, Method):
        return to_json(model).encode()
    try:
        return Path(path_of_model(model)).read_bytes()
    except OSError as error:
        raise DataError(f"{model}: cannot be read: {error.strerror or error}") from None
