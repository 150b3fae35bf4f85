"""Logs of interleaved pages: tables with a row for each item that was shown, its team, and whether it was clicked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from juryrank.errors import DataError
from juryrank.io.files import content_of, load, unpack
from juryrank.io.rows import first_true
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import HEADERS, Fail, as_names, as_numbers, join_names, normalise
from juryrank.lazy_polars import pl

NAMES = {
    "session": ("sessionid", "request", "requestid"),
    "query": HEADERS["query"],
    "item": HEADERS["item"],
    "team": ("teamname",),
    "position": ("rank", "place"),
    "clicked": ("click", "clicks", "isclicked"),
}
OPTIONAL = ("query", "position")
YES_NO = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


def read_log(log: Any, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Columns session, query, item, team (null: none), clicked and shown; ``log`` is a file, a table, or several."""
    logs = log if isinstance(log, list | tuple) and not _are_rows(log) else [log]
    if not logs:
        raise DataError("the log: expected a path or a table, got an empty list")
    return pl.concat([_read_one(one, columns or {}) for one in logs])


def _are_rows(log: Any) -> bool:
    return isinstance(log, list | tuple) and len(log) > 0 and all(isinstance(row, Mapping) for row in log)


def _read_one(log: Any, columns: Mapping[str, str]) -> pl.DataFrame:
    if isinstance(log, str | os.PathLike) or hasattr(log, "read"):
        source = _source(log)
        with source.reading():
            return _standard(frames.frame_of(source), columns, str(source.path), frames.line_errors(source))
    if _are_rows(log):
        log = pl.DataFrame(list(log), infer_schema_length=None)
    elif not hasattr(log, "columns"):
        raise DataError(f"the log: expected a path, a table or a list of rows, got {type(log).__name__}")
    return _standard(frames.from_arrow(log), columns, "the log", frames.row_errors("the log"))


def _source(log: Any) -> Source:
    """The content of a file, by its path or open."""
    if isinstance(log, str | os.PathLike):
        return load(Path(log))
    path = Path(str(getattr(log, "name", "the log")))
    return unpack(path, content_of(path, log))


def _standard(frame: pl.DataFrame, columns: Mapping[str, str], name: str, fail: Fail) -> pl.DataFrame:
    """The columns under standard names; every row must have a session and an item."""
    found = {word: _header(word, frame.columns, columns, name) for word in NAMES}
    texts = {word: as_names(frame[found[word]], found[word], fail) for word in ("session", "item", "team")}
    for word in ("session", "item"):
        if (row := first_true(texts[word].is_null())) is not None:
            raise fail(row, f"a {word} in column {found[word]!r}")
    query = as_names(frame[found["query"]], found["query"], fail).fill_null("") if found["query"] else pl.lit("")
    shown = frame[found["position"]].is_not_null() if found["position"] else pl.lit(True)
    clicked = _numbers(frame[found["clicked"]], found["clicked"], fail).fill_null(0.0) > 0
    return pl.DataFrame(texts).select(
        "session", query.alias("query"), "item", "team", clicked.alias("clicked"), shown.alias("shown")
    )


def _header(word: str, headers: list[str], columns: Mapping[str, str], name: str) -> str:
    """The header of a column, or nothing for one that may be absent."""
    if word in columns:
        if columns[word] not in headers:
            raise DataError(f"{name}: no column {columns[word]!r}; columns are {join_names(headers)}")
        return columns[word]
    for names in ((word,), NAMES[word]):
        if matching := [header for header in headers if normalise(header) in names]:
            return matching[0]
    if word in OPTIONAL:
        return ""
    needed = ", ".join(word for word in NAMES if word not in OPTIONAL)
    raise DataError(f"{name}: no column {word!r} (a log has {needed}); columns are {join_names(headers)}")


def _numbers(column: pl.Series, header: str, fail: Fail) -> pl.Series:
    """Numbers, or yes and no."""
    if column.dtype == pl.String:
        text = column.str.strip_chars().str.to_lowercase()
        column = pl.select(pl.when(text.is_in(list(YES_NO))).then(text.replace(YES_NO)).otherwise(column)).to_series()
    return as_numbers(column, header, fail)
