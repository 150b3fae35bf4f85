"""Errors as answers: one JSON object each (RFC 9457, application/problem+json)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

import msgspec

CONTENT_TYPE = b"application/problem+json"
MOST_CHARACTERS = 2000  # of a detail, which may quote the request


class Problem(Exception):  # noqa: N818 (the word of RFC 9457)
    """A request that is not answered; ``detail`` says what must hold and what was found."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None, **more: Any) -> None:
        if len(detail) > MOST_CHARACTERS:
            detail = detail[:MOST_CHARACTERS] + "…"
        super().__init__(detail)
        self.status, self.detail, self.headers, self.more = status, detail, headers or {}, more

    def body(self, request_id: str) -> bytes:
        """The answer; ``type`` is about:blank, so that the title is that of the status."""
        head = {"type": "about:blank", "title": HTTPStatus(self.status).phrase, "status": self.status}
        return msgspec.json.encode({**head, "detail": self.detail, "request_id": request_id, **self.more})


def unexpected() -> Problem:
    """What a client is told of a fault of ours; the log has the rest."""
    return Problem(500, "the service has a fault; the log has its description under this request_id")
