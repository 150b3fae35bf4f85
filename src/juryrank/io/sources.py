"""Everything ``read`` takes, as rows: files, folders, folds, frames, labels and candidates in any shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import polars as pl

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError
from juryrank.io import fast_trec
from juryrank.io.experts import aliases, experts_in, named_apart, some_tags
from juryrank.io.formats import comparisons, format_of, name_of, named, recognised, table, trec_run
from juryrank.io.rows import SLOT, Rows, together
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import roles, typed

TEXT = {"query": pl.String, "item": pl.String}
Options = Mapping[str, Any]  # columns and values, where they are given


def usual_runs_in(sources: Sequence[Source], format_name: str | None, options: Options) -> Dataset | None:
    """The Dataset of TREC runs that are as runs usually are and large enough to matter, else None."""
    if options or sum(len(source.data) for source in sources) < fast_trec.WORTHWHILE:
        return None
    if any((named(format_name) if format_name else recognised(source)) is not trec_run for source in sources):
        return None
    data = fast_trec.read(sources)
    if data is None:
        return None
    tags = [some_tags(lambda start, stop, text=s.data: text[start:stop], len(s.data)) for s in sources]  # type: ignore[misc]
    return replace(data, aliases=aliases([source.stem for source in sources], tags))


def rows_of(sources: Sequence[Source], format_name: str | None, options: Options) -> Rows:
    """The rows of all sources."""
    parts = [_rows_of_file(source, format_name, options) for source in sources]
    name = str(sources[0].path) if len(sources) == 1 else f"{len(sources)} files"
    parts = named_apart(parts, sources)
    found = aliases([source.stem for source in sources], [experts_in(part) for part in parts])
    return replace(together(parts, name), aliases=found)


def _rows_of_file(source: Source, format_name: str | None, options: Options) -> Rows:
    module = format_of(source, format_name, options.get("columns"))
    demand_options(module, options, str(source.path))
    with source.reading():
        return module.read(source, **options)  # type: ignore[no-any-return]


def rows_of_frame(frame: Any, format_name: str | None, options: Options) -> Rows:
    """The rows of anything with an Arrow stream: comparisons when it has their columns, else a table."""
    rows = frames.arrow(frame)
    module = table if format_name is None else named(format_name)
    named_so = comparisons.named_in(options.get("columns"))
    if format_name is None and (named_so or comparisons.has_shape(frames.known_among(rows.columns))):
        module = comparisons
    if not hasattr(module, "read_frame"):
        raise DataError(f"a {type(frame).__name__} is a table or comparisons, not {format_name}")
    demand_options(module, options, "the table")
    return module.read_frame(rows, **options)  # type: ignore[no-any-return]


def demand_options(module: ModuleType, options: Options, source: str) -> None:
    """A DataError for an option that a format does not have."""
    if strange := [name for name in options if name not in getattr(module, "OPTIONS", ())]:
        raise DataError(f"{source}: {strange[0]}= does not apply to the format {name_of(module)}")


def no_lists(source: str, *, labels: bool = True) -> str:
    """What is wrong with data that has nothing to rank by, but perhaps labels."""
    if not labels:
        return f"{source}: items and no lists, so there is nothing to rank by; no row has a rank or a score"
    return (
        f"{source}: labels and no lists, so there is nothing to rank by; it looks like qrels: "
        "give the runs as the data and this file with labels="
    )


def candidate_rows(candidates: Any) -> Rows:
    """Items that need slots, from ``{query: [items]}`` or a frame."""
    if isinstance(candidates, Mapping):
        pairs = [(str(query), str(item)) for query, items in candidates.items() for item in items]
        return Rows(name="candidates", candidates=pl.DataFrame(pairs, schema=TEXT, orient="row"))
    if hasattr(candidates, "__arrow_c_stream__"):
        frame = frames.arrow(candidates)
        found = roles(frame.columns, None, "candidates", SLOT)
        if "item" in found:
            rows = typed(frame, found, frames.failing_in("candidates")).drop_nulls()
            return Rows(
                name="candidates",
                candidates=rows.with_columns(query="query" if "query" in found else pl.lit(ONE_QUERY)),
            )
    raise DataError("candidates must be {query: [items]} or a frame with columns query and item")
