"""The content of one file, decompressed and checked to be text or Parquet; errors point at its lines."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

from juryrank.errors import DataError
from juryrank.polars import pl

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
GZIP, ZSTD, PARQUET = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"PAR1"
PACKED = (".gz", ".zst")
SPREADSHEETS, WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"), (".xlsx", ".xlsm", ".xls", ".ods")
QUOTED = 40  # characters of an invalid line that a message quotes
START, HEAD = 20, 1000  # lines that sniffing looks at: first these, then those if needed
HEAD_BYTES = 1_000_000  # of them at most, but never less than one line


@dataclass(frozen=True)
class Source:
    """The content of a file; lines end in ``\\n``, without a byte order mark."""

    path: Path
    data: bytes
    first_line: int = 1  # the line of the file with which ``data`` begins

    @property
    def stem(self) -> str:
        """The file name without ``.gz`` and its extension."""
        return Path(unpacked_name(self.path)).stem

    @property
    def suffix(self) -> str:
        """The extension below ``.gz``, in lower case."""
        return ending_of(self.path)

    @property
    def parquet(self) -> bool:
        return self.data.startswith(PARQUET)

    @cached_property
    def start(self) -> list[str]:
        """The first 20 lines that are not blank."""
        return self._first(START, HEAD_BYTES // 10) or self.head[:START]

    @cached_property
    def head(self) -> list[str]:
        """The first 1000 lines that are not blank."""
        return self._first(HEAD, HEAD_BYTES)

    def _first(self, n: int, size: int) -> list[str]:
        if self.parquet:
            return []
        cut = self.data.find(b"\n", size)
        start = self.data if cut < 0 else self.data[:cut]
        lines = [line for line in start.split(b"\n", n)[:n] if line and not line.isspace()]
        return b"\n".join(lines).decode().split("\n") if lines else []

    def lines(self) -> pl.DataFrame:
        """Columns line (counted from 1) and text, for lines that are not blank."""
        frame = pl.read_lines(io.BytesIO(self.data), name="text", row_index_name="line", row_index_offset=1)
        return frame.filter(pl.col("text").str.contains(r"\S"))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Errors of polars inside become errors of this file."""
        try:
            yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise DataError(f"{self.path}: cannot be read: {str(error).splitlines()[0]}") from None

    def error(self, line: int, expected: str) -> DataError:
        """The error for a line (counted from 1): where, what was expected, how the line begins."""
        found = next(islice(io.BytesIO(self.data), line - 1, None), b"").decode(errors="replace").rstrip("\n")
        shown = found if len(found) <= QUOTED else found[:QUOTED] + "…"
        return DataError(f"{self.path}:{line + self.first_line - 1}: expected {expected}, got {shown!r}")


def ending_of(path: Path) -> str:
    """The extension of a file name below ``.gz`` or ``.zst``, in lower case."""
    name = unpacked_name(path)  # as Path.suffix, in a tenth of its time
    dot = name.rfind(".")
    return name[dot:].lower() if 0 < dot < len(name) - 1 else ""


def unpacked_name(path: Path) -> str:
    """The file name without ``.gz`` or ``.zst``."""
    name = path.name
    return name[: name.rindex(".")] if name.lower().endswith(PACKED) else name


def normalise_text(path: Path, data: bytes) -> bytes:
    """UTF-8 text with ``\\n`` at the end of lines, or an error that says why it is not."""
    if data.startswith(SPREADSHEETS) and path.suffix.lower() in WORKBOOKS:
        raise DataError(f"{path}: a workbook of a spreadsheet is not read; save its sheet as CSV, and read that file")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path}: the text is UTF-16; save it as UTF-8")
    while data.startswith(BYTE_ORDER_MARK):  # files that were joined may have several
        data = data.removeprefix(BYTE_ORDER_MARK)
    data = with_line_feeds(data)
    demand_text(path, data)
    return data


def with_line_feeds(data: bytes) -> bytes:
    """A text whose lines end in ``\\n``, where they may have ended in ``\\r\\n`` or ``\\r``."""
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def demand_text(path: Path, data: bytes, first_line: Callable[[], int] = lambda: 1) -> None:
    """A DataError for a NUL and for what is not UTF-8; ``first_line`` is the line of the file where ``data`` begins."""
    if (at := data.find(b"\0")) >= 0:
        line = first_line() + data.count(b"\n", 0, at)
        raise DataError(f"{path}:{line}: not a text file: it has a NUL byte; expected text or Parquet")
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            line = first_line() + data.count(b"\n", 0, error.start)
            byte = f"0x{data[error.start]:02x}"
            raise DataError(f"{path}:{line}: not UTF-8: byte {byte}; save the file as UTF-8") from None
