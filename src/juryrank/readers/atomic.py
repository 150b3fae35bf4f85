"""Where bytes go: files that appear whole or not at all (written beside the target, then renamed), and stdout."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import polars as pl

from juryrank.errors import DataError
from juryrank.readers.source import PARQUET

UNFINISHED: list[Path] = []  # files that this process is writing


def save(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, compressed when it ends in .gz or .zst; a failure leaves what was there.

    A link stays a link: what it leads to is written.
    """
    if path.is_symlink():
        path = path.resolve()
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: only a file can be written, and this is a folder, a device or a pipe")
    packed = _packed(path, content)
    with replacing(path) as file:
        file.write(packed)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A new file beside ``path``, which takes its place when all is written; a failure leaves what was there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    UNFINISHED.append(beside)
    try:
        with beside.open("xb") as file:
            yield file
        beside.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        UNFINISHED.remove(beside)


def discard_unfinished() -> None:
    """Remove what is half written, before the process ends without cleaning up."""
    for beside in list(UNFINISHED):
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def stdout() -> BinaryIO:
    """Standard output for bytes: UTF-8 and single line feeds, whatever the locale."""
    sys.stdout.flush()
    return sys.stdout.buffer


def _packed(path: Path, content: bytes) -> bytes:
    if path.suffix.lower() == ".gz":
        return gzip.compress(content, mtime=0)  # without a time, equal data gives equal files
    if path.suffix.lower() == ".zst":
        if content.startswith(PARQUET):
            raise DataError(f"{path}: Parquet is compressed inside; drop the .zst")
        lines = pl.DataFrame({"line": content.decode().removesuffix("\n").split("\n")})
        out = io.BytesIO()
        lines.write_csv(out, include_header=False, quote_style="never", compression="zstd")
        return out.getvalue()
    return content
