"""Long tables, one row per entry: CSV, TSV, NDJSON, Parquet, or any frame with an Arrow stream.

Columns: item, and any of query, expert, rank, score, label, weight, list. Without a query column there is one query,
"all"; without an expert column the file is one expert, named after the file. A row without an expert, or without a
rank and score, only makes its item a candidate. With both rank and score the order is that of the ranks.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

import polars as pl

from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, MissingExtraError
from juryrank.readers.columns import HEADERS, Fail, plain, roles, typed
from juryrank.readers.long import SLOT, Long, warn_of_contradictions
from juryrank.readers.source import Source

SEPARATORS = {".csv": ",", ".tsv": "\t"}
ROWS = (".ndjson", ".jsonl")
WHAT = "rows of query, item, expert, and rank or score"


def sniff(source: Source) -> bool:
    """Parquet, JSON lines, the extension of a table, or a header with a word for the item and another we know."""
    if source.parquet or source.suffix in (*SEPARATORS, *ROWS) or source.data.startswith(b"{"):
        return True
    known = known_words(source)
    return "item" in known and len(known) > 1


def known_words(source: Source) -> set[str]:
    """Our words that the header of a text table has."""
    if source.parquet or not source.head:
        return set()
    names = {plain(name) for name in source.head[0].replace('"', "").split(separator_of(source))}
    return {word for word, others in HEADERS.items() if word in names or names.intersection(others)}


def read(source: Source, columns: Mapping[str, str] | None = None, values: str | None = None) -> Long:
    """The entries, candidates and labels of a table file."""
    frame = frame_of(source)
    return rows_to_long(frame, str(source.path), source.stem, failing(source), columns, values)


def read_frame(
    frame: pl.DataFrame, columns: Mapping[str, str] | None = None, values: str | None = None, name: str = "table"
) -> Long:
    """The entries, candidates and labels of a dataframe."""
    return rows_to_long(frame, name, name, failing_in(name), columns, values)


def arrow(thing: Any) -> pl.DataFrame:
    """A polars frame from anything that has an Arrow stream."""
    try:
        return thing if isinstance(thing, pl.DataFrame) else pl.DataFrame(thing)
    except ImportError as error:
        raise MissingExtraError(f"reading a {type(thing).__name__} needs another package: {error}") from None
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise DataError(f"the {type(thing).__name__} is not a table: {error}") from None


def rows_to_long(
    frame: pl.DataFrame, name: str, expert: str, fail: Fail, columns: Mapping[str, str] | None, values: str | None
) -> Long:
    """Rows under any header as entries, candidates and labels; ``expert`` is who speaks when no column says so."""
    found = directed(roles(frame.columns, columns, name), values, name)
    if "item" not in found:
        told = ", ".join(repr(c) for c in frame.columns[:12])
        raise DataError(f"{name}: a table needs a column 'item'; columns are {told}; say columns={{'item': …}}")
    ordered = "rank" in found or "score" in found
    if "expert" in found and not ordered:
        raise DataError(f"{name}: experts need a rank or a score; say columns={{'rank': …}} or columns={{'score': …}}")
    rows = typed(frame, {w: h for w, h in found.items() if w not in ("left", "right", "winner")}, fail)
    if "query" not in found:
        rows = rows.with_columns(query=pl.lit(ONE_QUERY))
    unnamed = rows.select(pl.any_horizontal(pl.col(SLOT).is_null())).to_series()
    if unnamed.any():
        raise fail(int(unnamed.arg_max() or 0), "a name for query and item")
    labels = rows.select(*SLOT, "label").drop_nulls("label").unique() if "label" in found else None
    if not ordered:
        bare = rows if labels is None else rows.filter(pl.col("label").is_null())
        return Long(name=name, candidates=bare.select(SLOT) if bare.height else None, labels=labels)
    if "expert" not in found:
        rows = rows.with_columns(expert=pl.lit(expert))
    said = rows.select(pl.col("expert").is_not_null() & ~pl.all_horizontal(_values(rows).is_null())).to_series()
    entries = rows.filter(said).drop("label", strict=False)
    if "rank" in found and "score" in found:
        warn_of_contradictions(entries, name, "ranks")
    rest = rows.filter(~said).select(SLOT).unique()
    return Long(name=name, entries=entries, candidates=rest if rest.height else None, labels=labels)


def directed(found: dict[str, str], values: str | None, source: str) -> dict[str, str]:
    """The roles with 'value' turned into rank or score, as ``values`` says."""
    if values not in (None, "rank", "score"):
        raise DataError(f"values must be 'rank' or 'score', got {values!r}")
    if "value" not in found:
        if values is not None and values not in found:
            raise DataError(f"{source}: values={values!r} is about a column 'value', which the table does not have")
        return found
    if "rank" in found or "score" in found:
        return {word: header for word, header in found.items() if word != "value"}
    if values is None:
        raise DataError(
            f"{source}: column {found['value']!r} may be a rank (small is best) or a score (large is best); "
            "say values='rank' or values='score'"
        )
    return {values if word == "value" else word: header for word, header in found.items()}


def frame_of(source: Source) -> pl.DataFrame:
    """The table in a file, all text for CSV and TSV."""
    data = io.BytesIO(source.data)
    try:
        if source.parquet:
            return pl.read_parquet(data)
        if source.data.lstrip().startswith(b"{"):
            return pl.read_ndjson(data, infer_schema_length=None)
        return pl.read_csv(data, separator=separator_of(source), infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _unreadable(source, str(error).splitlines()[0]) from None


def separator_of(source: Source) -> str:
    """What stands between the columns: tab, comma or semicolon, whichever the header has."""
    header = source.head[0] if source.head else ""
    return next((s for s in ("\t", ",", ";") if s in header), SEPARATORS.get(source.suffix, ","))


def failing(source: Source) -> Fail:
    """Errors that point at the line of a row."""

    def fail(row: int, expected: str) -> DataError:
        if source.parquet:
            return failing_in(str(source.path))(row, expected)
        if source.data.lstrip().startswith(b"{"):
            return source.error(source.lines()["line"][row], expected)
        reader = csv.reader(io.StringIO(source.data.decode()), delimiter=separator_of(source))
        for n, _ in enumerate(cells for cells in reader if cells):
            if n == row + 1:
                break
        return source.error(reader.line_num, expected)

    return fail


def failing_in(name: str) -> Fail:
    """Errors that name the row of a frame, counted from 1."""
    return lambda row, expected: DataError(f"{name}: row {row + 1}: expected {expected}")


def _values(rows: pl.DataFrame) -> pl.Expr:
    return pl.col([c for c in ("rank", "score") if c in rows.columns])


def _unreadable(source: Source, reason: str) -> DataError:
    if source.parquet:
        return DataError(f"{source.path}: the Parquet file is damaged ({reason})")
    if source.data.lstrip().startswith(b"{"):
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
