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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from juryrank.data import Dataset, Labels
from juryrank.errors import DataError, warn_about_data
from juryrank.io import read_labels
from juryrank.io.files import load
from juryrank.io.source import BYTE_ORDER_MARK, normalise_text
from juryrank.io.tables import frames
from juryrank.io.tables.columns import Fail, as_names, as_numbers, join_names, normalise
from juryrank.lazy_polars import pl

COLUMNS = ("query", "item", "judge", "grade", "note", "time")
NEEDED = {"query": ("qid",), "item": (), "judge": (), "grade": ("label",)}  # and other headers that they may have
SKIPPED, UNDONE = "skipped", "undone"
SEPARATORS = {".csv": ",", ".tsv": "\t"}
UNREADABLE = ("\r", "\0")  # in names: a text file would not give them back
TIME = "%Y-%m-%dT%H:%M:%SZ"
CUT_TIME = frozenset("0123456789-T:")  # a time of ours without its end, or nothing
QUOTED = 60  # characters of a dropped row that a message quotes


@dataclass(frozen=True)
class Judgement:
    """The answer of one judge about one item of a query; without a grade if the item was skipped."""

    query: str
    item: str
    judge: str
    grade: float | None
    note: str = ""
    time: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Query and item."""
        return self.query, self.item


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
        return _that_count(self._rows(content[: _complete(content)]))

    def append(self, judgement: Judgement) -> None:
        """Save one answer; when this returns, it is on the disk."""
        names = {"query": judgement.query, "item": judgement.item, "judge": judgement.judge}
        for word, name in names.items():
            if not name.strip() or any(character in name for character in UNREADABLE):
                raise DataError(
                    f"{self.path}: a blank name, or one with a carriage return or NUL, cannot be saved: {word} {name!r}"
                )
        stamped = replace(judgement, time=judgement.time or datetime.now(UTC).strftime(TIME))
        with self._locked() as file:
            content = self._drop_half_row(file)
            header = _header(content)
            separator = _separator(header) if header else SEPARATORS[self.path.suffix.lower()]
            words = column_words(_cells(header, separator), str(self.path)) if header else COLUMNS
            row = _line([_cell(stamped, word) for word in words], separator)
            before = "" if header else _line(COLUMNS, separator)
            gap = "\n" if content and not content.endswith(b"\n") else ""
            file.write((gap + before + row).encode())
            file.flush()
            os.fsync(file.fileno())

    def take_back(self, judgement: Judgement) -> None:
        """Record that an answer does not count any more."""
        self.append(replace(judgement, grade=None, note=UNDONE, time=""))

    @contextmanager
    def _locked(self) -> Iterator[BinaryIO]:
        """The file, open to append, which no other session changes meanwhile."""
        try:
            with self.path.open("a+b") as file, _exclusive(file):
                yield file
        except OSError as error:
            raise DataError(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def _drop_half_row(self, file: BinaryIO) -> bytes:
        """The complete rows; what follows them is cut off with a warning."""
        file.seek(0)
        content = file.read()
        if (size := _complete(content)) < len(content):
            cut = content[size:].decode(errors="backslashreplace").strip()[:QUOTED]
            warn_about_data(f"{self.path}: the last row is incomplete, it was dropped: {cut!r}")
            file.truncate(size)
            file.seek(0, os.SEEK_END)
        return content[:size]

    def repair(self) -> None:
        """Drop a last row that is half written, with a warning."""
        if self.path.exists():
            with self._locked() as file:
                self._drop_half_row(file)

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
            row = {word: cell for word, cell in zip(words, cells, strict=False) if word}
            if len(cells) < len(words) or not all(row[word].strip() for word in ("query", "item", "judge")):
                raise DataError(f"{self.path}:{reader.line_num}: expected query, item and judge, as in the header")
            yield Judgement(
                row["query"], row["item"], row["judge"], self._grade(row["grade"], reader.line_num),
                row.get("note", ""), row.get("time", ""),
            )  # fmt: skip

    def _grade(self, text: str, line: int) -> float | None:
        try:
            grade = float(text) if text.strip() else None
        except ValueError:
            grade = math.nan
        if grade is not None and not math.isfinite(grade):
            raise DataError(f"{self.path}:{line}: expected a grade that is a number, or none, got {text!r}")
        return grade


def column_words(headers: Sequence[str], name: str) -> list[str | None]:
    """The standard name of each column, None for a column that was added by others."""
    found = [normalise(header) if normalise(header) in COLUMNS else None for header in headers]
    for word, others in NEEDED.items():
        if word not in found:
            found = [word if normalise(header) in others else old for header, old in zip(headers, found, strict=True)]
        if found.count(word) != 1:
            raise DataError(
                f"{name}: judgements have the columns {', '.join(NEEDED)}, each once; columns are "
                f"{join_names(headers)}; give another file, or rename them"
            )
    return found


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
            return _of_frame(frames.frame_of(source), str(thing), frames.line_errors(source))
    if hasattr(thing, "__arrow_c_stream__"):
        return _of_frame(frames.from_arrow(thing), "judgements", frames.row_errors("judgements"))
    try:
        rows = [each if isinstance(each, Judgement) else Judgement(*each) for each in thing]
    except TypeError:
        raise DataError(f"judgements are a file, a frame or rows of {', '.join(NEEDED)}") from None
    return _that_count(rows)


def _of_frame(frame: pl.DataFrame, name: str, fail: Fail) -> list[Judgement]:
    words = column_words(frame.columns, name)
    by_word = {word: frame[header] for word, header in zip(words, frame.columns, strict=True) if word}
    texts = [as_names(by_word[word], word, fail) for word in ("query", "item", "judge")]
    notes = by_word.get("note", pl.Series([""]).extend_constant("", frame.height - 1)).fill_null("")
    columns = [*texts, as_numbers(by_word["grade"], "grade", fail), notes]
    return _that_count(Judgement(*row) for row in zip(*columns, strict=True))


def _that_count(rows: Iterable[Judgement]) -> list[Judgement]:
    """The last row of each query, item and judge, unless it takes the answer back."""
    found: dict[tuple[str, str, str], Judgement] = {}
    for row in rows:
        key = (*row.key, row.judge)
        found.pop(key, None)
        if row.note != UNDONE:
            found[key] = row
    return list(found.values())


def frame_of(judgements: Iterable[Judgement]) -> pl.DataFrame:
    """Those judgements that have a grade, as a frame."""
    rows = [(each.query, each.item, each.judge, each.grade) for each in judgements if each.grade is not None]
    text = dict.fromkeys(("query", "item", "judge"), pl.String)
    return pl.DataFrame(rows, schema={**text, "grade": pl.Float64}, orient="row")


def labels_of(judgements: Iterable[Judgement]) -> Labels | None:
    """The labels of the items that have been graded, None if there are none; several judges are combined."""
    frame = frame_of(judgements)
    if frame.is_empty():
        return None
    found = read_labels(frame)
    return found.labels if isinstance(found, Dataset) else found


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
    time = dict(zip(map(normalise, columns), cells, strict=False)).get("time", "without")
    is_row = len(cells) == len(columns) and not set(time) <= CUT_TIME
    return size if is_row else complete


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
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
