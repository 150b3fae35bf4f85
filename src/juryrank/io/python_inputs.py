"""What ``read`` takes besides files: dataframes, dicts, and the runs and qrels of other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY, from_dicts
from juryrank.data.long_table import from_long
from juryrank.data.shapes import is_number
from juryrank.errors import DataError
from juryrank.io.dataset_frames import entries_of
from juryrank.io.formats import FORMATS, ballots_in, get_format, named_ballots
from juryrank.io.formats.comparisons import is_comparisons
from juryrank.io.records import LABEL, SCORE, Records, consume, ranx_class, records_of
from juryrank.io.rows import SLOT, Rows, concat
from juryrank.io.sources import Options
from juryrank.io.tables import frames
from juryrank.io.tables.columns import convert_columns, roles
from juryrank.polars import pl

ONE_RUN = "run"  # the expert of a run without a name
SOURCE = "the data"  # in messages


def frame_rows(frame: Any, format_name: str | None, options: Options) -> Rows:
    """The rows of anything with an Arrow stream: comparisons or ballots when it has their columns, else a table."""
    rows = frames.from_arrow(frame)
    if format_name is not None:
        return get_format(format_name).read_frame(rows, **options)
    columns = options.get("columns")
    if is_comparisons(rows.columns, columns):
        return FORMATS["comparisons"].read_frame(rows, **options)
    found = named_ballots(columns) or ballots_in(rows, columns) or FORMATS["table"]
    return found.read_frame(rows, **options)


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


def merge_frames(given: Any) -> Any:
    """``{expert: frame}`` as one frame with a column of experts; everything else unchanged."""
    if not isinstance(given, Mapping) or not given:
        return given
    if not all(hasattr(frame, "__arrow_c_stream__") for frame in given.values()):
        return given
    parts = []
    for name, thing in given.items():
        frame = frames.from_arrow(thing)
        if "expert" in frames.match_headers(frame.columns):
            raise DataError(f"expert {name!r}: its frame has a column of experts, too; give the frame without a dict")
        parts.append(frame.with_columns(expert=pl.lit(str(name))))
    try:
        return pl.concat(parts, how="diagonal_relaxed")
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the frames of {', '.join(map(repr, given))} do not fit together: {error}") from None


def python_dataset(
    source: Any, format_name: str | None, options: Options, candidates: pl.DataFrame | None
) -> Dataset | None:
    """The Dataset of a dict, or of the runs or qrels of another library; None for paths, open files and the like."""
    runs = _runs_of(source)
    if runs is None:
        return None
    if format_name is not None or "columns" in options:
        raise DataError("format= and columns= are for files and dataframes")
    if isinstance(runs, Rows):
        rows = runs if candidates is None else concat([runs, Rows(name=SOURCE, candidates=candidates)], SOURCE)
        return rows.build()
    data = from_dicts(runs, values=options.get("values", "score"))
    if candidates is not None:
        entries = entries_of(data.rankings).drop("list", "slot", "weight")
        data = from_long(entries, candidates=candidates, natural_items=True)
    return data


def runs_by_expert(given: Mapping[Any, Any]) -> dict[Any, Any]:
    """``{expert: {query: list}}`` from ``{expert: run}``; ``from_dicts`` checks what is no run."""
    return {name: _lists_of(consume(run), f"expert {str(name)!r}") for name, run in given.items()}


def _lists_of(run: Any, where: str) -> Any:
    """``{query: list}`` of a run; what is no run is unchanged."""
    if isinstance(run, Mapping):
        return run
    if hasattr(run, "__arrow_c_stream__") and hasattr(run, "columns"):
        rows = frame_rows(run, None, {})
        if rows.entries is None or "score" not in rows.entries.columns or rows.labels is not None:
            raise DataError(f"{where}: a frame among other runs needs columns query, item and score, and no labels")
        query, item, score = (rows.entries[name].to_list() for name in ("query", "item", "score"))
        return Records(query, item, score, SCORE, where).lists()
    records = records_of(run, where)
    return run if records is None else records.lists()


def _runs_of(source: Any) -> Mapping[Any, Any] | Rows | None:
    """``{expert: {query: list}}``, or the rows of labels; None for paths, open files and the like."""
    if isinstance(source, Mapping):
        return {ONE_RUN: source} if _is_one_run(source) else runs_by_expert(source)
    if isinstance(source, list | tuple) and source and all(ranx_class(run) == "Run" for run in source):
        return runs_by_expert(_by_name(source))
    records = records_of(source, SOURCE)
    if records is not None and records.kind == LABEL:
        return Rows(name=SOURCE, labels=records.labels())
    return None if records is None else {getattr(source, "name", None) or ONE_RUN: records.lists()}


def _is_one_run(given: Mapping[Any, Any]) -> bool:
    """Whether this is ``{query: {item: score}}``, not ``{expert: run}``; an error if it is neither throughout."""
    scores = {name: _has_scores(inner) for name, inner in given.items() if not isinstance(inner, Mapping) or inner}
    if len(set(scores.values())) > 1:
        one, other = (next(repr(name) for name, found in scores.items() if found is kind) for kind in (True, False))
        raise DataError(
            f"{SOURCE}: a dict must be {{query: {{item: score}}}} or {{expert: run}}, "
            f"but {one} has scores of items and {other} has not"
        )
    return any(scores.values())


def _has_scores(inner: Any) -> bool:
    """Whether this is ``{item: score}``, by its first score."""
    first = next(iter(inner.values())) if isinstance(inner, Mapping) else ""
    return first is None or is_number(first)


def _by_name(runs: Sequence[Any]) -> dict[str, Any]:
    """Runs of ranx by their names."""
    if len(runs) == 1:
        return {runs[0].name or ONE_RUN: runs[0]}
    named = {run.name: run for run in runs}
    if len(named) < len(runs) or not all(named):
        raise DataError(f"{SOURCE}: each Run of a list needs a name of its own, or give {{expert: run}}")
    return named
