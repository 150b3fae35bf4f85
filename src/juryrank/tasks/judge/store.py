"""The judgement file: a table with one row per answer, appended and flushed to the disk when the answer is given.

Columns: query, item, judge, grade, note, time. The last row of a query, item and judge counts, so a further row changes
an answer. A row without a grade is an item that the judge skipped, or whose answer was taken back (note "undone"). Rows
are only appended, each under a short lock, so several sessions may write to one file. A row that was half written when
a process or the machine stopped is dropped.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from juryrank.errors import DataError, warn_about_data
from juryrank.io.files import load, sync_folder
from juryrank.io.source import BYTE_ORDER_MARK, normalise_text
from juryrank.io.tables import frames
from juryrank.io.tables.columns import normalise
from juryrank.report.escapes import escape_formula, unescape_formula
from juryrank.tasks.judge.judgements import (
    COLUMNS,
    NEEDED,
    UNDONE,
    Judgement,
    answers_that_count,
    column_words,
    judgements_in_frame,
)

SEPARATORS = {".csv": ",", ".tsv": "\t"}
UNREADABLE = ("\r", "\0")  # in names: a text file would not give them back
TIME = "%Y-%m-%dT%H:%M:%SZ"
CUT_TIME = frozenset("0123456789-T:")  # a time of ours without its end, or nothing
Stamp = tuple[int, int]
LONGEST_HEADER = 100_000  # bytes
QUOTED = 60  # characters of a dropped row that a message quotes


class JudgementFile:
    """A file of judgements, CSV or TSV; it need not exist yet."""

    def __init__(self, path: Path) -> None:
        if path.suffix.lower() not in SEPARATORS:
            raise DataError(f"{path}: judgements are saved as .csv or .tsv, uncompressed; give such a name")
        self.path = path

    def read(self) -> list[Judgement]:
        """The answers that count, each judge's in the order in which they were given."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise DataError(f"{self.path}: cannot be read: {error.strerror or error}") from None
        return answers_that_count(self._rows(content[: _complete(content)]))

    def stamp(self) -> Stamp:
        """Size and time of the file, which change with its content; (0, 0) without a file."""
        with suppress(OSError):
            return _stamp(self.path.stat())
        return 0, 0

    def append(self, judgement: Judgement) -> tuple[Stamp, Stamp]:
        """Save one answer; when this returns, it is on the disk. The stamps of the file before and after it."""
        names = {"query": judgement.query, "item": judgement.item, "judge": judgement.judge}
        for word, name in names.items():
            if not name.strip() or any(character in name for character in UNREADABLE):
                raise DataError(
                    f"{self.path}: a blank name, or one with a carriage return or NUL, cannot be saved: {word} {name!r}"
                )
        stamped = replace(judgement, time=judgement.time or datetime.now(UTC).strftime(TIME))
        with self._locked() as file:
            content = self._drop_half_row(file)
            before = _stamp(os.fstat(file.fileno())) if content else (0, 0)
            header = _header(content)
            separator = _separator(header) if header else SEPARATORS[self.path.suffix.lower()]
            words = column_words(_cells(header, separator), str(self.path)) if header else COLUMNS
            row = _line([_cell(stamped, word) for word in words], separator)
            first = "" if header else _line(COLUMNS, separator)
            gap = "\n" if content and not content.endswith(b"\n") else ""
            file.write((gap + first + row).encode())
            file.flush()
            os.fsync(file.fileno())
            after = _stamp(os.fstat(file.fileno()))
        if not header:
            sync_folder(self.path.parent)
        return before, after

    def take_back(self, judgement: Judgement) -> tuple[Stamp, Stamp]:
        """Record that an answer does not count any more; returns the same as ``append``."""
        return self.append(replace(judgement, grade=None, note=UNDONE, time=""))

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The file, open to append, which no other session changes meanwhile."""
        try:
            with self.path.open("a+b") as file, _exclusive(file):
                yield file
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror or error}") from None

    @contextmanager
    def claimed(self, judge: str) -> Iterator[None]:
        """For one process at a time, where the system has locks: a model that is asked twice is paid twice."""
        name = blake2b(judge.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
        beside = Path(os.path.realpath(self.path))
        path = beside.with_name(f".{beside.name}.{name}.lock")
        try:
            file = _lock_file(path)
        except BlockingIOError:
            raise DataError(
                f"{self.path}: another command is asking {judge} for grades, which are saved here; wait for its "
                "end, or give another file with --judgements"
            ) from None
        except OSError as error:
            raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
        with file:
            try:
                yield
            finally:
                with suppress(OSError):  # Windows removes no open file
                    path.unlink()

    def _drop_half_row(self, file: BinaryIO) -> bytes:
        """The complete rows; what follows them is cut off with a warning."""
        file.seek(0)
        content = file.read()
        if (size := _complete(content)) < len(content):
            self._demand_judgements(content, size)
            cut = content[size:].decode(errors="backslashreplace").strip()[:QUOTED]
            warn_about_data(f"{self.path}: the last row is incomplete, it was dropped: {cut!r}")
            file.truncate(size)
            file.seek(0, os.SEEK_END)
        return content[:size]

    def _demand_judgements(self, content: bytes, size: int) -> None:
        """A DataError for a file of another kind, from which nothing must be cut."""
        if header := _header(content[:size]):
            column_words(_cells(header, _separator(header)), str(self.path))
        elif not any(_line(COLUMNS, separator).encode().startswith(content) for separator in SEPARATORS.values()):
            raise DataError(f"{self.path}: not a file of judgements, with the columns {', '.join(NEEDED)}")

    def repair(self) -> None:
        """Check that the file can be written, and drop a last row that is half written, with a warning."""
        if self.path.exists():
            with self._locked() as file:
                self._drop_half_row(file)
        elif not os.access(self.path.parent, os.W_OK):
            raise DataError(f"{self.path}: cannot be written: there is no folder {self.path.parent} to write to")

    def _rows(self, content: bytes) -> Iterator[Judgement]:
        if not (header := _header(content)):
            return
        separator = _separator(header)
        words = column_words(_cells(header, separator), str(self.path))
        text = normalise_text(self.path, content).decode()
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        next(reader)
        for cells in reader:
            if not any(map(str.strip, cells)):
                continue
            row = {word: unescape_formula(cell) for word, cell in zip(words, cells, strict=False) if word}
            if len(cells) < len(words) or not all(row[word].strip() for word in ("query", "item", "judge")):
                raise DataError(f"{self.path}:{reader.line_num}: expected query, item and judge, as in the header")
            yield Judgement(
                row["query"], row["item"], row["judge"], self._grade(row["grade"], separator, reader.line_num),
                row.get("note", ""), row.get("time", ""),
            )  # fmt: skip

    def _grade(self, text: str, separator: str, line: int) -> float | None:
        try:
            grade = float(text.replace(",", ".") if separator == ";" else text) if text.strip() else None
        except ValueError:
            grade = math.nan
        if grade is not None and not math.isfinite(grade):
            raise DataError(f"{self.path}:{line}: expected a grade that is a number, or none, got {text!r}")
        return grade


def judgements_of(thing: Any) -> list[Judgement]:
    """The judgements in a file or a frame with the columns query, item, judge and grade, or in such rows.

    The last of a query, item and judge counts.
    """
    if isinstance(thing, str | os.PathLike) and Path(thing).suffix.lower() in SEPARATORS:
        if not Path(thing).exists():
            raise DataError(f"{thing}: cannot be read: no such file")
        return JudgementFile(Path(thing)).read()
    if isinstance(thing, str | os.PathLike):
        source = load(Path(thing))
        with source.reading():
            return judgements_in_frame(frames.frame_of(source), str(thing), frames.line_errors(source))
    if hasattr(thing, "__arrow_c_stream__"):
        return judgements_in_frame(frames.from_arrow(thing), "judgements", frames.row_errors("judgements"))
    try:
        rows = [each if isinstance(each, Judgement) else Judgement(*each) for each in thing]
    except TypeError:
        raise DataError(f"judgements are a file, a frame or rows of {', '.join(NEEDED)}") from None
    return answers_that_count(rows)


def has_judgements(path: Path) -> bool:
    """Whether a file of text has the columns of judgements."""
    try:
        with path.open("rb") as file:
            header = _header(file.readline(LONGEST_HEADER))
        column_words(_cells(header, _separator(header)), str(path))
    except (OSError, csv.Error, DataError):
        return False
    return True


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns


@contextmanager
def _exclusive(file: BinaryIO) -> Iterator[None]:
    """A lock on an open file, where the system has such locks; it ends with the process."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _lock_file(path: Path) -> BinaryIO:
    """A file that this process has locked until it is closed; a BlockingIOError if another one has."""
    try:
        import fcntl
    except ImportError:  # Windows
        return path.open("wb")
    while True:
        file = path.open("wb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BaseException:
            file.close()
            raise
        if os.fstat(file.fileno()).st_nlink:
            return file
        file.close()  # the process that had it has just removed it


def _complete(content: bytes) -> int:
    """The length of the complete rows, which a line feed ends; an editor may have left out the last one."""
    if content.endswith(b"\n") and content.count(b'"') % 2 == 0:
        return len(content)
    size = complete = quotes = 0
    for line in io.BytesIO(content):
        size += len(line)
        quotes += line.count(b'"')  # a line feed inside quotes is part of a name
        if quotes % 2 == 0 and line.endswith(b"\n"):
            complete = size
    header, rest = _header(content[:complete]), content[complete:].decode(errors="replace")
    if not header or quotes % 2:
        return complete
    columns, cells = _cells(header, _separator(header)), _cells(rest, _separator(header))
    at = next((n for n, column in enumerate(columns) if normalise(column) == "time"), None)
    if len(cells) != len(columns):
        return complete
    if at is None or not set(cells[at]) <= CUT_TIME:
        return size
    before = _cells(content[:complete].decode(errors="replace").splitlines()[-1], _separator(header))
    by_hand = len(before) == len(columns) and cells[at] == before[at] == ""  # our rows have times
    return size if by_hand else complete


def _header(content: bytes) -> str:
    """The first line."""
    return content.removeprefix(BYTE_ORDER_MARK).partition(b"\n")[0].decode(errors="replace").rstrip("\r")


def _separator(header: str) -> str:
    return next((each for each in ("\t", ",", ";") if each in header), ",")


def _cells(line: str, separator: str) -> list[str]:
    return next(csv.reader([line], delimiter=separator), [])


def _line(cells: Sequence[str], separator: str) -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerow(cells)
    return out.getvalue()


def _cell(judgement: Judgement, word: str | None) -> str:
    """What a judgement has in a column; nothing in a column that was added by others."""
    value = getattr(judgement, word) if word else None
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(escape_formula(value))
