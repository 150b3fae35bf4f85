"""The footer of Parquet files: where row groups begin, and the footer of several files that are joined to one.

polars neither reports the row groups of a file nor writes a file piece by piece. A footer is a struct of Thrift's
compact protocol (https://parquet.apache.org/docs/file-format/): here a dict of field numbers, to kinds and values.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from juryrank.io.source import PARQUET

TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
INTEGERS = (4, 5, 6)  # of 16, 32 and 64 bits
TAIL = 4 + len(PARQUET)  # bytes of the length of the footer, and of the mark at the end
LARGEST = 1 << 24  # bytes of a footer that are read; Python takes a second for a megabyte
ROWS, ROW_GROUPS = 3, 4  # fields of a file
COLUMNS, GROUP_ROWS, GROUP_OFFSET, ORDINAL = 1, 3, 5, 7  # of a row group
CHUNK_OFFSETS, METADATA = (2, 4, 6), 3  # of a column in a row group
METADATA_OFFSETS = (9, 10, 11, 14)  # of pages and of a Bloom filter

Struct = dict[int, tuple[int, Any]]


def row_group_starts(path: Path) -> list[int] | None:
    """The first row of each row group, and the number of rows; None for a footer that is large or not understood."""
    try:
        with path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(end - TAIL)
            size = int.from_bytes(file.read(4), "little")
            if not 0 < size <= min(LARGEST, end - TAIL):
                return None
            file.seek(end - TAIL - size)
            groups = read_struct(file.read(size))[ROW_GROUPS][1][1]
        return list(accumulate((int(group[GROUP_ROWS][1]) for group in groups), initial=0))
    except (OSError, LookupError, TypeError, ValueError, RecursionError):
        return None  # polars reports what is wrong


class JoinedFiles:
    """Parquet files with the same columns, joined to one: ``add`` gives bytes to write, and in the end ``finish``."""

    def __init__(self) -> None:
        self.size = len(PARQUET)  # of what is written so far
        self.footer: Struct | None = None

    def add(self, content: bytes) -> bytes:
        """What a file adds, all but its footer; the first one begins with the mark of Parquet."""
        size = int.from_bytes(content[-TAIL : -len(PARQUET)], "little")
        stop = len(content) - TAIL - size
        footer = read_struct(content[stop:-TAIL])
        shift = self.size - len(PARQUET)
        self.size += stop - len(PARQUET)
        for group in footer[ROW_GROUPS][1][1]:
            _move(group, shift)
            group.pop(ORDINAL, None)  # optional, and different in the joined file
        if self.footer is None:
            self.footer = footer
            return content[:stop]
        kind, rows = self.footer[ROWS]
        self.footer[ROWS] = kind, rows + footer[ROWS][1]
        self.footer[ROW_GROUPS][1][1].extend(footer[ROW_GROUPS][1][1])
        return content[len(PARQUET) : stop]

    def finish(self) -> bytes:
        """The footer of all files."""
        assert self.footer is not None, "at least one file is needed"
        footer = write_struct(self.footer)
        return b"".join([footer, len(footer).to_bytes(4, "little"), PARQUET])


def _move(group: Struct, shift: int) -> None:
    """Add ``shift`` to the places in the file that a row group names."""

    def move(fields: Struct, numbers: tuple[int, ...]) -> None:
        for number in numbers:
            if fields.get(number, (0, 0))[1] > 0:  # 0 stands for none
                kind, place = fields[number]
                fields[number] = kind, place + shift

    move(group, (GROUP_OFFSET,))
    for chunk in group[COLUMNS][1][1]:
        move(chunk, CHUNK_OFFSETS)
        move(chunk[METADATA][1], METADATA_OFFSETS)


def read_struct(data: bytes) -> Struct:
    """A struct from its bytes."""
    return _read_struct(iter(data))


def _read_struct(data: Iterator[int]) -> Struct:
    out: Struct = {}
    number = 0
    while head := _next(data):
        kind = head & 15
        number = number + (head >> 4) if head >> 4 else _integer(data)
        out[number] = kind, (kind == TRUE if kind in (TRUE, FALSE) else _read(kind, data))
    return out


def _read(kind: int, data: Iterator[int]) -> Any:
    if kind in INTEGERS:
        return _integer(data)
    if kind == BINARY:
        return _bytes(data, _natural(data))
    if kind in (LIST, SET):
        head = _next(data)
        count = _natural(data) if head >> 4 == 15 else head >> 4
        return head & 15, [_read(head & 15, data) for _ in range(count)]
    if kind == STRUCT:
        return _read_struct(data)
    if kind in (TRUE, FALSE, BYTE):  # of a list
        return _next(data)
    if kind == DOUBLE:
        return _bytes(data, 8)
    raise ValueError(f"a kind {kind}")


def _next(data: Iterator[int]) -> int:
    byte = next(data, None)
    if byte is None:
        raise ValueError("the end")
    return byte


def _bytes(data: Iterator[int], count: int) -> bytes:
    return bytes(_next(data) for _ in range(count))


def _natural(data: Iterator[int]) -> int:
    """A number >= 0, seven bits in a byte."""
    value, shift = 0, 0
    while True:
        byte = _next(data)
        value |= (byte & 127) << shift
        if byte < 128:
            return value
        shift += 7


def _integer(data: Iterator[int]) -> int:
    value = _natural(data)
    return (value >> 1) ^ -(value & 1)


def write_struct(fields: Struct) -> bytes:
    """The bytes of a struct."""
    out = bytearray()
    _write_struct(fields, out)
    return bytes(out)


def _write_struct(fields: Struct, out: bytearray) -> None:
    before = 0
    for number, (kind, value) in sorted(fields.items()):
        if kind in (TRUE, FALSE):
            kind = TRUE if value else FALSE
        if 0 < number - before < 16:
            out.append((number - before) << 4 | kind)
        else:
            out.append(kind)
            _write_integer(number, out)
        before = number
        if kind not in (TRUE, FALSE):
            _write(kind, value, out)
    out.append(0)


def _write(kind: int, value: Any, out: bytearray) -> None:
    if kind in INTEGERS:
        _write_integer(value, out)
    elif kind == BINARY:
        _write_natural(len(value), out)
        out += value
    elif kind in (LIST, SET):
        of, values = value
        out.append(min(len(values), 15) << 4 | of)
        if len(values) >= 15:
            _write_natural(len(values), out)
        for each in values:
            _write(of, each, out)
    elif kind == STRUCT:
        _write_struct(value, out)
    elif kind == DOUBLE:
        out += value
    else:
        out.append(value)


def _write_natural(value: int, out: bytearray) -> None:
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)


def _write_integer(value: int, out: bytearray) -> None:
    _write_natural(value << 1 if value >= 0 else (-value << 1) - 1, out)
