"""Logs of interleaved pages: tables with a row for each item that was shown, its team, and whether it was clicked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from juryrank.errors import DataError
from juryrank.io.rows import first_true
from juryrank.io.sources import inputs_of, load_sources
from juryrank.io.tables import frames
from juryrank.io.tables.columns import Columns, Fail, as_names, join_names, roles
from juryrank.polars import pl
from juryrank.tasks.clicks.reading import LOG_HEADERS, as_clicked

REQUIRED, OPTIONAL = ("session", "item", "team", "clicked"), ("query", "position", "user")
HEADERS = {**{word: LOG_HEADERS.get(word, ()) for word in (*REQUIRED, *OPTIONAL)}, "team": ("teamname",)}
HEADERS["user"] = ("userid", "visitor", "visitorid", "clientid")  # not client: often the name of the program


def read_log(log: Any, columns: Columns = None) -> pl.DataFrame:
    """Columns session, query, item, team and user (null: none), clicked and shown, of a file, a table, or several."""
    logs = log if isinstance(log, list | tuple) and not _are_rows(log) else [log]
    parts = [part for one in logs for part in _read_one(one, columns)]
    if not parts:
        raise DataError("the log: expected a file or a table, got an empty list")
    return pl.concat(parts)


def _are_rows(log: Any) -> bool:
    return isinstance(log, list | tuple) and len(log) > 0 and all(isinstance(row, Mapping) for row in log)


def _read_one(log: Any, columns: Columns) -> list[pl.DataFrame]:
    if isinstance(log, str | os.PathLike) or hasattr(log, "read"):
        out = []
        for source in load_sources(inputs_of(log)):
            with source.reading():
                fail = frames.line_errors(source)
                out.append(_standard(frames.frame_of(source), columns, str(source.path), fail))
        return out
    if _are_rows(log):
        log = pl.DataFrame(list(log), infer_schema_length=None)
    elif not hasattr(log, "columns"):
        raise DataError(f"the log: expected a file, a table or a list of rows, got {type(log).__name__}")
    return [_standard(frames.from_arrow(log), columns, "the log", frames.row_errors("the log"))]


def _standard(frame: pl.DataFrame, columns: Columns, name: str, fail: Fail) -> pl.DataFrame:
    """The columns under standard names; every row must have a session and an item."""
    found = roles(frame.columns, columns, name, HEADERS, common=HEADERS)
    if absent := [word for word in REQUIRED if word not in found]:
        raise DataError(
            f"{name}: a log of interleaved pages needs a column {absent[0]!r}; columns are "
            f"{join_names(frame.columns)}; use columns={{{absent[0]!r}: 'HEADER'}}"
        )
    names = ("session", "item", "team", *(word for word in ("query", "user") if word in found))
    texts = {word: as_names(frame[found[word]], found[word], fail) for word in names}
    for word in ("session", "item"):
        if (row := first_true(texts[word].is_null())) is not None:
            raise fail(row, f"a {word} in column {found[word]!r}")
    return pl.DataFrame(texts).select(
        "session",
        (pl.col("query").fill_null("") if "query" in texts else pl.lit("")).alias("query"),
        "item",
        "team",
        as_clicked(frame[found["clicked"]], found["clicked"], fail),
        (frame[found["position"]].is_not_null() if "position" in found else pl.lit(True)).alias("shown"),
        pl.col("user") if "user" in texts else pl.lit(None, pl.String).alias("user"),
    )
