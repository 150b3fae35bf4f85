"""Limits of reading: a small file can decompress to more than fits into memory, and a device may be endless.

JURYRANK_MAX_SIZE is the limit for one file, unpacked; a line may have 1/64 of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path

from juryrank.errors import DataError, ParameterError

VARIABLE = "JURYRANK_MAX_SIZE"
DEFAULT = 4 * 2**30
LINES = 64  # the limit of a line is that of a file divided by this
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
ZSTD_FRAME, ZSTD_SKIPPED = 0xFD2FB528, range(0x184D2A50, 0x184D2A60)
ZSTD_BLOCK = 1 << 17  # bytes that a block unpacks to at most


def size_of(text: str) -> int:
    """``"500MB"`` as bytes; a ValueError if it is not a size.

    >>> size_of("1.5 KB"), size_of("2GiB")
    (1500, 2147483648)
    """
    number = text.strip().rstrip("BKMGTIbkmgti ")
    unit = text.strip()[len(number) :].strip().upper()
    try:
        value = float(number) * UNITS.get(unit, math.nan)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 1):
        raise ValueError(f"a size is a number with KB, MB or GB, and at least one byte; got {text!r}")
    return int(value)


def size_text(size: int) -> str:
    """A number of bytes as text for messages.

    >>> size_text(4 * 2**30), size_text(1500)
    ('4.29 GB', '1.5 KB')
    """
    unit = next((unit for unit in ("GB", "MB", "KB") if size >= UNITS[unit]), "")
    return f"{size / UNITS[unit]:.3g} {unit or 'bytes'}"


def max_size() -> int:
    """Bytes that a file may have, unpacked."""
    text = os.environ.get(VARIABLE)
    if not text:
        return DEFAULT
    try:
        return size_of(text)
    except ValueError as error:
        raise ParameterError(f"{VARIABLE}: {error}") from None


def max_line() -> int:
    """Bytes that a line may have."""
    return max_size() // LINES


def too_large(path: Path) -> DataError:
    """The error for a file beyond the limit."""
    return DataError(
        f"{path}: more than {size_text(max_size())} of data, which is the limit for one file; if this is correct, "
        f"raise it: {VARIABLE}={size_text(4 * max_size()).replace(' ', '')}"
    )


def too_long(path: Path, line: int) -> DataError:
    """The error for a line beyond the limit."""
    return DataError(
        f"{path}:{line}: a line of more than {size_text(max_line())}; is it text? If this is correct, raise the "
        f"limit, of which a line may have 1/{LINES}: {VARIABLE}={size_text(4 * max_size()).replace(' ', '')}"
    )


def check_line_lengths(path: Path, data: bytes) -> None:
    """A DataError for the first line that is too long."""
    most = max_line()
    step = most // 2 or 1  # a line that is too long has no line feed in one of these stretches
    for at in range(0, len(data) - step + 1 if len(data) > most else 0, step):
        if data.find(b"\n", at, at + step) < 0:
            start, stop = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
            if (len(data) if stop < 0 else stop) - start > most:
                raise too_long(path, data.count(b"\n", 0, start) + 1)


def join_chunks(path: Path, chunks: Iterable[bytes], *, text: bool) -> bytes:
    """All chunks, or an error beyond the limit; reading stops early if the content is not text."""
    parts: list[bytes] = []
    size = line = 0
    for chunk in chunks:
        parts.append(chunk)
        size += len(chunk)
        if size > max_size():
            raise too_large(path)
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r"))
        line = line + len(chunk) if end < 0 else len(chunk) - end - 1
        if text and (b"\0" in chunk or line > max_line()):
            break
    return b"".join(parts)


def zstd_size(data: bytes) -> int:
    """Bytes that zstd data unpacks to at most, by the headers of its blocks, up to the first damaged one."""
    at = total = 0
    while at + 5 <= len(data) and total <= max_size():
        magic = int.from_bytes(data[at : at + 4], "little")
        if magic in ZSTD_SKIPPED:
            at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
            continue
        if magic != ZSTD_FRAME:
            break
        at, size = _frame(data, at)
        total += size
    return total


def _frame(data: bytes, at: int) -> tuple[int, int]:
    """Where a frame ends, and what it unpacks to at most (RFC 8878, 3.1.1)."""
    flags = data[at + 4]
    single, checksum = flags >> 5 & 1, flags >> 2 & 1
    size_bytes = (single, 2, 4, 8)[flags >> 6]
    head = at + 5 + (1 - single) + (0, 1, 2, 4)[flags & 3]
    most = ZSTD_BLOCK
    if single:
        stated = int.from_bytes(data[head : head + size_bytes], "little") + (256 if size_bytes == 2 else 0)
        most = min(most, stated)
    at, total, last = head + size_bytes, 0, 0
    while not last and at + 3 <= len(data) and total <= max_size():
        block = int.from_bytes(data[at : at + 3], "little")
        last, kind, size = block & 1, block >> 1 & 3, block >> 3
        total += most if kind == 2 else size
        at += 3 + (1 if kind == 1 else size)
    return at + 4 * checksum, total
