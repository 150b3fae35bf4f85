"""Files appear whole or not at all: written beside the target under another name, then renamed."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
from pathlib import Path

import polars as pl

from juryrank.errors import DataError
from juryrank.readers.source import PARQUET


def save(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path``, compressed when it ends in .gz or .zst; a failure leaves what was there.

    A link stays a link: what it leads to is written.
    """
    if path.is_symlink():
        path = path.resolve()
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: only a file can be written, and this is a folder, a device or a pipe")
    packed = _packed(path, content)
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_bytes(packed)
        beside.replace(path)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)


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
