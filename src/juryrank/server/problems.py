"""Errors as answers: one JSON object each (RFC 9457, application/problem+json)."""

from __future__ import annotations

import errno
from http import HTTPStatus
from typing import Any

import msgspec

from juryrank.errors import DataError, JuryrankError

CONTENT_TYPE = b"application/problem+json"
MOST_CHARACTERS = 2000  # of a detail, which may quote the request


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class UnusableModelError(DataError):
    """The file of a model is damaged, and no version of it can be used."""

    status = 503


class StorageError(DataError):
    """Models cannot be written."""

    def __init__(self, message: str, cause: OSError) -> None:
        super().__init__(message)
        self.status = 507 if cause.errno in FULL else 500


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


def problem_of(error: JuryrankError) -> Problem:
    """The answer to a request that meets an error of juryrank."""
    return Problem(getattr(error, "status", 422), str(error))


def unexpected() -> Problem:
    """What a client is told of a fault of ours; the log has the rest."""
    return Problem(500, "the service has a fault; the log has its description under this request_id")
