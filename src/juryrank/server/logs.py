"""Logs as JSON, one object per line on stderr, with the id of the request; keys and bodies are never in them."""

from __future__ import annotations

import logging
import os
import time
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
STDERR = 2
encode = msgspec.json.Encoder().encode


def write_line(line: bytes) -> None:
    """One line to stderr by one write, so that lines of several workers do not mix."""
    try:  # noqa: SIM105 (suppress takes longer)
        os.write(STDERR, line)
    except OSError:  # a log that cannot be written is no reason to refuse work
        pass


def now() -> str:
    """The time of a line."""
    seconds = time.time()
    return f"{_second(int(seconds))}.{int(seconds * 1000) % 1000:03}+00:00"


@lru_cache(maxsize=2)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def write_request(request_id: str, method: str, route: str, status: int, seconds: float, more: str) -> None:
    """Write the line of a request that has been answered; none of these texts needs to be escaped in JSON.

    ``more`` is of ``members``.
    """
    whole, thousandths = divmod(round(seconds * 1e6), 1000)
    write_line(
        f'{{"time":"{now()}","level":"info","request_id":"{request_id}","method":"{method}","route":"{route}",'
        f'"status":{status},"milliseconds":{whole}.{thousandths:03}{more}}}\n'.encode()
    )


@lru_cache(maxsize=1024)
def members(key: str, model: str, version: str) -> str:
    """The name of the key, and the model with its version, as members of a line; those that are empty are left out."""
    found = {"key": key, "model": model, "version": version}
    text = encode({name: value for name, value in found.items() if value}).decode()
    return "," + text[1:-1] if text != "{}" else ""


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
        write_line(encode(line) + b"\n")


def configure(level: str) -> None:
    """Our logger and those of the server write JSON lines, and nothing else does."""
    for name in ("juryrank", "uvicorn", "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers = [JsonHandler()] if name != "uvicorn.error" else []
        logger.propagate = name == "uvicorn.error"
        logger.setLevel(LEVELS[level])


log = logging.getLogger("juryrank.server")
