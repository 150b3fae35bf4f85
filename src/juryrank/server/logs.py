"""Logs as JSON, one object per line on stderr, with the id of the request; keys and bodies are never in them."""

from __future__ import annotations

import logging
import os
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
STDERR = 2
encode = msgspec.json.encode


def write_line(line: dict[str, Any]) -> None:
    """One line to stderr by one write, so that lines of several workers do not mix."""
    with suppress(OSError):  # a log that cannot be written is no reason to refuse work
        os.write(STDERR, encode(line) + b"\n")


def now() -> str:
    """The time of a line."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class JsonHandler(logging.Handler):
    """The records of our logger and of uvicorn as lines."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        line: dict[str, Any] = {"time": now(), "level": record.levelname.lower(), "message": record.getMessage()}
        if request_id := getattr(record, "request_id", None):
            line["request_id"] = request_id
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = "".join(traceback.format_exception(record.exc_info[1]))
        line["process"] = os.getpid()
        write_line(line)


def configure(level: str) -> None:
    """Our logger and uvicorn's write JSON lines, and nothing else does."""
    for name in ("juryrank", "uvicorn", "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers = [JsonHandler()] if name != "uvicorn.error" else []
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(LEVELS[level])


log = logging.getLogger("juryrank.server")
