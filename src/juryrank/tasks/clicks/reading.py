"""Reading of click logs: tables with one row per impression, or documents of User Behavior Insights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.io.rows import first_true
from juryrank.io.source import Source
from juryrank.io.sources import inputs_of, load_sources
from juryrank.io.tables import frames
from juryrank.io.tables.columns import HEADERS, Columns, Fail, as_names, as_numbers, join_names, roles
from juryrank.polars import pl, require_threads
from juryrank.tasks.clicks.checks import warn_about_repetition
from juryrank.tasks.clicks.log import ClickLog, build_log, one_spelling
from juryrank.tasks.clicks.ubi import UBIDocuments, is_ubi

LOG_HEADERS = {
    "query": (*HEADERS["query"], "userquery", "searchterm", "keywords"),
    "item": (*HEADERS["item"], "objectid", "url"),
    "position": ("rank", "pos", "place", "ordinal"),
    "clicked": ("click", "isclick", "isclicked", "wasclicked"),
    "session": ("sessionid", "request", "requestid", "searchid", "impressionid"),
    "time": ("timestamp", "datetime", "date"),
    "ranking": ("variant", "model", "ranker", "bucket", "arm"),
    "propensity": ("showprobability",),
}
REQUIRED = ("query", "item", "position", "clicked")
FORMATS = ("table", "ubi")
YES, NO = ("1", "true", "t", "yes", "y", "1.0"), ("0", "false", "f", "no", "n", "0.0", "")


def read_clicks(
    source: Any,
    *,
    columns: Columns = None,
    format: str | None = None,  # noqa: A002
    actions: Sequence[str] = ("click",),
    first_position: int = 1,
    shown: int | None = None,
    normalise_queries: bool = False,
) -> ClickLog:
    """The click log in files, a folder or a dataframe: which items were shown where, and which were clicked.

    ``format`` is "table" or "ubi", by default what the columns say. A table (CSV, TSV, NDJSON, Parquet or a dataframe)
    has one row for each item that was shown: query, item, position, clicked (0 or 1), and perhaps session, time,
    ranking (which of several was shown) and propensity (the probability with which the item was shown at that
    position, as ``Fuser(explore=…)`` logs it); ``columns`` maps these names to other headers. "ubi" are the queries and
    events of User Behavior Insights (OpenSearch, schema 1.3), as JSON lines or as tables; the events whose
    ``action_name`` is in ``actions`` count as clicks. ``first_position`` is the number of the first position.
    ``shown`` is how many hits of a query people saw, for UBI without impression events and without a ``page_size`` in
    ``query_attributes``. ``normalise_queries`` makes queries one that differ only by case or blanks, named by the
    spelling with the most rows.
    What is not used is counted in ``dropped``, and a DataWarning names what looks wrong.
    """
    require_threads("read_clicks")
    if format is not None and format not in FORMATS:
        raise UnknownNameError.of("format of click logs", format, FORMATS)
    if first_position not in (0, 1):
        raise ParameterError(f"first_position must be 0 or 1, got {first_position!r}")
    if shown is not None and (not isinstance(shown, int) or isinstance(shown, bool) or shown < 1):
        raise ParameterError(f"shown must be a whole number of at least 1, got {shown!r}")
    if hasattr(source, "__arrow_c_stream__"):
        frame = frames.from_arrow(source)
        if format == "ubi" or (format is None and is_ubi(frame.columns)):
            return _read_ubi([frame], "the table", actions, columns, first_position, shown, normalise=normalise_queries)
        _refuse_shown("the table", shown)
        rows = _rows(frame, columns, "the table", None, comma=False)
        return _from_rows([rows], "the table", first_position, normalise=normalise_queries)
    sources = load_sources(inputs_of(source))
    name = str(sources[0].path) if len(sources) == 1 else f"{len(sources)} files"
    if format == "ubi" or (format is None and any(is_ubi(frames.headers_of(each)) for each in sources)):
        return _read_ubi(sources, name, actions, columns, first_position, shown, normalise=normalise_queries)
    _refuse_shown(name, shown)
    return _from_rows(
        [_from_source(each, columns) for each in sources], name, first_position, normalise=normalise_queries
    )


def _read_ubi(
    parts: Sequence[Source | pl.DataFrame],
    name: str,
    actions: Sequence[str],
    columns: Columns,
    first: int,
    shown: int | None,
    *,
    normalise: bool,
) -> ClickLog:
    if columns:
        raise DataError(f"{name}: columns= is for tables of impressions; documents of UBI have fixed names")
    documents = UBIDocuments(name, actions, shown)
    for part in parts:
        documents.add(part)
    return documents.log(first, normalise=normalise)


def _refuse_shown(name: str, shown: int | None) -> None:
    if shown is not None:
        raise DataError(
            f"{name}: shown={shown} (--shown) is for UBI without impression events; this is a table of impressions, "
            "which says what was shown; leave it out"
        )


def _from_source(source: Source, columns: Columns) -> pl.DataFrame:
    with source.reading():
        frame = frames.frame_of(source)
        comma = frames.separator_of(source) == ";"
        return _rows(frame, columns, str(source.path), frames.line_errors(source), comma=comma)


def _rows(frame: pl.DataFrame, columns: Columns, name: str, fail: Fail | None, *, comma: bool) -> pl.DataFrame:
    """The columns of a table of impressions under standard names."""
    fail = fail or frames.row_errors(name)
    found = roles(frame.columns, columns, name, LOG_HEADERS, common=LOG_HEADERS)
    if absent := [word for word in REQUIRED if word not in found]:
        hint = "; a log of clicks alone does not say what was shown: log every item that was shown, clicked or not"
        raise DataError(
            f"{name}: a click log needs a column {absent[0]!r}; columns are {join_names(frame.columns)}; "
            f"use columns={{{absent[0]!r}: 'HEADER'}}{hint if absent == ['clicked'] else ''}"
        )
    out = [as_names(frame[found[word]], found[word], fail).alias(word) for word in ("query", "item")]
    out.append(_whole_numbers(frame[found["position"]], found["position"], fail, comma=comma))
    out.append(as_clicked(frame[found["clicked"]], found["clicked"], fail))
    for word in ("session", "ranking"):
        if word in found:
            out.append(as_names(frame[found[word]], found[word], fail).alias(word))
    if "time" in found:
        out.append(frame[found["time"]].cast(pl.String).alias("time"))
    if "propensity" in found:
        out.append(_propensities(frame[found["propensity"]], found["propensity"], fail, comma=comma))
    return pl.DataFrame(out)


def _whole_numbers(column: pl.Series, header: str, fail: Fail, *, comma: bool) -> pl.Series:
    value = as_numbers(column, header, fail, comma=comma)
    if (row := first_true((value != value.round()) | (value.abs() > 2**53))) is not None:
        raise fail(row, f"a whole number in column {header!r} (not {column[row]})")
    return value.cast(pl.Int64).alias("position")


def as_clicked(column: pl.Series, header: str, fail: Fail) -> pl.Series:
    """Whether an item was clicked; an empty cell means no, as after a join of clicks to impressions."""
    if column.dtype.is_nested():
        raise fail(0, f"0 or 1 in column {header!r} (it is {column.dtype})")
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase().fill_null("")
    yes = text.is_in(list(YES))
    if (row := first_true(~yes & ~text.is_in(list(NO)))) is not None:
        raise fail(row, f"0 or 1 (or true or false) in column {header!r} (not {str(column[row])[:20]!r})")
    return yes.alias("clicked")


def _propensities(column: pl.Series, header: str, fail: Fail, *, comma: bool) -> pl.Series:
    value = as_numbers(column, header, fail, comma=comma)
    if (row := first_true((value.is_null() | (value <= 0) | (value > 1)).fill_null(True))) is not None:
        raise fail(row, f"a probability above 0 and at most 1 in column {header!r} (not {column[row]})")
    return value.alias("propensity")


def _from_rows(parts: Sequence[pl.DataFrame], name: str, first: int, *, normalise: bool) -> ClickLog:
    columns = {column for part in parts for column in part.columns}
    if strange := sorted(column for column in columns if any(column not in part.columns for part in parts)):
        raise DataError(f"{name}: some files have a column {strange[0]!r} and others do not; read them separately")
    rows = pl.concat([part.select(sorted(columns)) for part in parts])
    if not rows.height:
        raise DataError(f"{name}: the log has a header and no rows")
    if rows["clicked"].all() and rows.height > 1:
        raise DataError(
            f"{name}: all {rows.height} rows are clicked, so the log does not say what was shown and not clicked; "
            "log every item that was shown, with clicked = 0 where it was not clicked"
        )
    rows, notes = one_spelling(rows, name, normalise=normalise)
    warn_about_repetition(rows, name)
    return build_log(rows.with_columns(position=pl.col("position") + 1 - first), name, {}, notes)
