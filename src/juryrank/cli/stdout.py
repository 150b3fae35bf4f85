"""Standard output with clear failures: a full disk is an error of one line, a closed pipe is no error."""

from __future__ import annotations

import io
import os
import sys
from typing import Any, TextIO

from juryrank.errors import JuryrankError

READER_GONE = 141  # the exit code of a program ended by SIGPIPE: 128 + 13


class StdoutError(JuryrankError):
    """Results could not be written to stdout."""


class ReaderGoneError(Exception):
    """The reader of stdout has closed the pipe: ``juryrank … | head -1``."""


class _Guarded(io.RawIOBase):
    """The file behind stdout. After a failure it discards the rest, which Python would write again at exit."""

    def __init__(self, file: io.FileIO | None) -> None:
        self.file = file
        self.failed = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        if self.file is None:
            raise io.UnsupportedOperation("it is closed")
        return self.file.fileno()

    def write(self, content: Any) -> int | None:
        if self.failed:
            return len(content)
        try:
            if self.file is None:
                raise OSError("it is closed")
            return self.file.write(content)
        except OSError as error:
            self.failed = True
            if isinstance(error, BrokenPipeError):
                raise ReaderGoneError from None
            raise StdoutError(f"results cannot be written to stdout: {error.strerror or error}") from None


def guard_stdout() -> None:
    """Make writing to stdout raise one of the two errors above, never an OSError."""
    out: TextIO | None = sys.stdout
    errors: TextIO | None = sys.stderr
    if errors is None:  # closed; print(file=None) would write to stdout
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if out is None:
        sys.stdout = _text_to(None, "utf-8", "strict")
    elif sys.__stdout__ is not None and out is sys.__stdout__ and not out.isatty():
        out.flush()
        sys.stdout = _text_to(io.FileIO(out.fileno(), "w", closefd=False), out.encoding, out.errors or "strict")


def _text_to(file: io.FileIO | None, encoding: str, errors: str) -> TextIO:
    return io.TextIOWrapper(io.BufferedWriter(_Guarded(file)), encoding, errors)
