"""Tables as files and as frames: CSV, TSV, NDJSON and Parquet, read and written."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from juryrank.errors import DataError, MissingExtraError
from juryrank.io.limits import max_size, too_large
from juryrank.io.source import Source, ending_of
from juryrank.io.tables.columns import HEADERS, Fail, normalise
from juryrank.polars import pl
from juryrank.report.escapes import FORMULA, NUMBER

CELL = 8  # bytes of a cell in memory, at least
SEPARATORS = {".csv": ",", ".tsv": "\t"}
JSON_LINES = (".ndjson", ".jsonl")
ENDINGS = (*SEPARATORS, *JSON_LINES, ".parquet")
QUOTED = re.compile(r'"[^"]*"')
SHUT = "\0"  # stands for a separator inside quotes; no text has it
ESCAPED = (b"'=", b"'+", b"'-", b"'@", b"'\t")  # part of each cell with an apostrophe before a formula
UNREADABLE = r"[\r\x00]"  # in text: line ends become line feeds, and NUL means that a file is not text


def known_headers(source: Source) -> set[str]:
    """The standard names in the header or schema of a table file."""
    return match_headers(headers_of(source))


def match_headers(headers: Iterable[str]) -> set[str]:
    """The standard names for which there is a header."""
    names = {normalise(name) for name in headers}
    return {word for word, others in HEADERS.items() if word in names or names.intersection(others)}


def from_arrow(thing: Any) -> pl.DataFrame:
    """A polars frame from anything that has an Arrow stream; a named index of pandas is a column."""
    index = getattr(getattr(thing, "index", None), "names", None)
    if index and None not in index and not set(index) & set(thing.columns):
        thing = thing.reset_index()
    try:
        return polars_frame(thing)
    except ImportError as error:
        raise MissingExtraError(f"reading a {type(thing).__name__} needs another package: {error}") from None
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise DataError(f"the {type(thing).__name__} is not a table: {error}") from None


def frame_of(source: Source) -> pl.DataFrame:
    """The table in a file, all text for CSV and TSV."""
    data = io.BytesIO(source.data)
    try:
        if source.parquet:
            _demand_few_cells(source)
            return pl.read_parquet(data)
        if is_json(source):
            return pl.read_ndjson(data, infer_schema_length=None)
        frame = pl.read_csv(data, separator=separator_of(source), infer_schema=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise _unreadable(source, str(error).splitlines()[0]) from None
    _demand_whole_rows(source, frame)
    if any(sign in source.data for sign in ESCAPED):
        text = pl.col(pl.String)
        frame = frame.with_columns(
            pl.when(text.str.contains(f"^'{FORMULA.pattern}")).then(text.str.slice(1)).otherwise(text)
        )
    doubled = {header: header.replace('""', '"') for header in frame.columns if '""' in header}
    return frame.rename(doubled) if doubled else frame  # polars does so in cells, but not in headers


def _demand_few_cells(source: Source) -> None:
    """A DataError for a Parquet file that unpacks to more than the limit: one value may stand for a billion rows."""
    table = pl.scan_parquet(io.BytesIO(source.data))
    if CELL * len(table.collect_schema()) * int(table.select(pl.len()).collect().item()) > max_size():
        raise too_large(source.path)


def _demand_whole_rows(source: Source, frame: pl.DataFrame) -> None:
    """A DataError for equal headers, and for the first row that ends early; polars accepts both."""
    twice = [header for header in frame.columns if "_duplicated_" in header and header.rpartition("_duplicated_")[0]]
    if twice and (name := twice[0].rpartition("_duplicated_")[0]) in frame.columns:
        raise source.error(1, f"different headers (there are several columns {name!r}; rename or drop all but one)")
    if frame.height and frame.width > 1 and frame[:, -1].null_count():  # only then a row may have ended early
        reader = csv.reader(io.StringIO(source.data.decode()), delimiter=separator_of(source))
        for cells in reader:
            if cells and len(cells) < frame.width:
                raise source.error(reader.line_num, f"{frame.width} columns, as in the header")


def headerless_frame(source: Source, data: bytes, separator: str, names: list[str]) -> pl.DataFrame:
    """The table in text without a header, all text, with these names for its columns."""
    try:
        return pl.read_csv(data, has_header=False, separator=separator, infer_schema=False, new_columns=names)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _unreadable(source, str(error).splitlines()[0]) from None


def separator_of(source: Source) -> str:
    """The separator of the columns: tab, comma or semicolon, whichever the header has."""
    header = QUOTED.sub("", source.head[0]) if source.head else ""
    return next((s for s in ("\t", ",", ";") if s in header), SEPARATORS.get(source.suffix, ","))


def place_of(fail: Fail, row: int) -> str:
    """The place of a row as errors name it: ``line 7``, or ``row 7`` of a frame."""
    text = str(fail(row, "")).partition(": expected ")[0]
    number = text.rpartition(":")[2].strip()
    return number if number.startswith("row ") else f"line {number}"


def line_errors(source: Source, *, header: bool = True) -> Fail:
    """Errors that point at the line of a row."""

    def fail(row: int, expected: str) -> DataError:
        if source.parquet:
            return row_errors(str(source.path))(row, expected)
        if is_json(source):
            return source.error(source.lines()["line"][row], expected)
        skipped = len(source.data) - len(source.data.lstrip(b"\n"))  # polars skips blank lines before the header
        reader = csv.reader(io.StringIO(source.data[skipped:].decode()), delimiter=separator_of(source))
        for _ in zip(range(row + 1 + header), reader, strict=False):
            pass
        return source.error(reader.line_num + skipped, expected)

    return fail


def row_errors(name: str) -> Fail:
    """Errors that name the row of a frame, counted from 1."""
    return lambda row, expected: DataError(f"{name}: row {row + 1}: expected {expected}")


def frame_lines(
    frame: pl.DataFrame, file_name: str, *, header: bool = True, for_people: bool = False
) -> Iterator[bytes]:
    """A frame as the content of a file with this name (CSV without one); a DataError for a name it cannot represent.

    Without ``header``, it is a later part of the content, which is not possible with Parquet. A file ``for_people`` may
    be opened in a spreadsheet: in CSV and TSV, text that it would run as a formula gets an apostrophe, which reading
    takes away.
    """
    ending = ending_of(Path(file_name))
    separator = None if ending == ".parquet" or ending in JSON_LINES else SEPARATORS.get(ending, ",")
    _demand_names(frame, text=separator is not None)
    out = io.BytesIO()
    if separator is not None:
        frame = frame.with_columns(_without_formulas(for_people=for_people))
        frame.write_csv(out, separator=separator, include_header=header)
    elif ending == ".parquet":
        frame.write_parquet(out)
    else:
        frame.write_ndjson(out)
    return iter([out.getvalue()])


def _without_formulas(*, for_people: bool) -> pl.Expr:
    """Text columns with an apostrophe where reading takes one away, and before formulas in a file for people."""
    text = pl.col(pl.String)
    begins = text.str.contains(f"^{'' if for_people else chr(39)}{FORMULA.pattern}")
    return pl.when(begins & ~text.str.contains(f"^({NUMBER.pattern})$")).then("'" + text).otherwise(text).name.keep()


def _demand_names(frame: pl.DataFrame, *, text: bool) -> None:
    """A DataError for a name that is empty, or that would not be read back from text."""
    for column in frame.select(pl.col(pl.String)):
        if (column == "").any():
            raise DataError(f"a table cannot represent an empty name, and the data has one ({column.name} '')")
        if text and column.str.contains(UNREADABLE).any():
            bad = column.filter(column.str.contains(UNREADABLE))[0]
            raise DataError(
                f"CSV and TSV cannot represent a carriage return or a NUL in a name: {column.name} {bad!r}; "
                "write .parquet or .ndjson instead"
            )


def headers_of(source: Source) -> list[str]:
    """The headers of a table file, or the cells of its first line."""
    try:
        if source.parquet:
            return list(pl.read_parquet_schema(io.BytesIO(source.data)))
        if is_json(source):
            return list(json.loads(source.head[0]))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, RecursionError):
        return []
    if not source.head:
        return []
    separator, first = separator_of(source), source.head[0]
    whole = QUOTED.sub(lambda cell: cell[0][1:-1].replace(separator, SHUT), first)
    return [cell.replace(SHUT, separator) for cell in whole.replace('"', "").split(separator)]


def is_json(source: Source) -> bool:
    """Whether the file has JSON objects."""
    return source.data.lstrip().startswith(b"{")


def _unreadable(source: Source, reason: str) -> DataError:
    if source.parquet:
        return DataError(f"{source.path}: the Parquet file is damaged ({reason})")
    if is_json(source):
        return DataError(f"{source.path}: expected one JSON object per line ({reason})")
    reader = csv.reader(io.StringIO(source.data.decode()), delimiter=separator_of(source), strict=True)
    width = 0
    try:
        for cells in reader:
            width = width or len(cells)
            if len(cells) > width:
                return source.error(reader.line_num, f"{width} columns, as in the header")
    except csv.Error:
        return source.error(reader.line_num, "cells whose quotes match")
    return DataError(f"{source.path}: not a table ({reason})")


def polars_frame(thing: Any) -> pl.DataFrame:
    """A polars frame from anything that has an Arrow stream, for which pandas needs pyarrow."""
    if isinstance(thing, pl.DataFrame):
        return thing
    try:
        return pl.DataFrame(thing)
    except ImportError:
        if not _is_pandas(thing):
            raise
        return pl.DataFrame([_series(str(name), column) for name, column in thing.items()])


def _is_pandas(thing: Any) -> bool:
    """Whether a thing is a DataFrame of pandas, which is not imported for this."""
    return any(c.__name__ == "DataFrame" and c.__module__.partition(".")[0] == "pandas" for c in type(thing).__mro__)


def _series(name: str, column: Any) -> pl.Series:
    """A column, null where a value is missing."""
    kind = column.dtype.kind
    if kind in "iufbM" and not hasattr(column.dtype, "na_value"):
        return pl.Series(name, column.to_numpy())
    known = column.notna().tolist()
    values = [value if here else None for value, here in zip(column.astype(object).tolist(), known, strict=True)]
    if str(column.dtype) in ("str", "string"):
        return pl.Series(name, values, dtype=pl.String)
    return pl.Series(name, values, dtype={"i": pl.Int64, "u": pl.UInt64, "f": pl.Float64, "b": pl.Boolean}.get(kind))
