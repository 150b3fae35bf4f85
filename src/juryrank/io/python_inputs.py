"""Dataframes and dicts as rows, for ``read``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError
from juryrank.io.formats import FORMATS, get_format
from juryrank.io.formats.comparisons import is_comparisons
from juryrank.io.rows import SLOT, Rows
from juryrank.io.sources import Options
from juryrank.io.tables import frames
from juryrank.io.tables.columns import convert_columns, roles
from juryrank.lazy_polars import pl


def frame_rows(frame: Any, format_name: str | None, options: Options) -> Rows:
    """The rows of anything with an Arrow stream: comparisons when it has their columns, else a table."""
    rows = frames.from_arrow(frame)
    if format_name is not None:
        return get_format(format_name).read_frame(rows, **options)
    compares = is_comparisons(rows.columns, options.get("columns"))
    return FORMATS["comparisons" if compares else "table"].read_frame(rows, **options)


def candidate_rows(candidates: Any) -> Rows:
    """Items that need slots, from ``{query: [items]}`` or a frame."""
    if isinstance(candidates, Mapping):
        pairs = [(str(query), str(item)) for query, items in candidates.items() for item in items]
        schema = {"query": pl.String, "item": pl.String}
        return Rows(name="candidates", candidates=pl.DataFrame(pairs, schema=schema, orient="row"))
    if hasattr(candidates, "__arrow_c_stream__"):
        frame = frames.from_arrow(candidates)
        found = roles(frame.columns, None, "candidates", SLOT)
        if "item" in found:
            rows = convert_columns(frame, found, frames.row_errors("candidates")).drop_nulls()
            return Rows(
                name="candidates",
                candidates=rows.with_columns(query="query" if "query" in found else pl.lit(ONE_QUERY)),
            )
    raise DataError("candidates must be {query: [items]} or a frame with columns query and item")
