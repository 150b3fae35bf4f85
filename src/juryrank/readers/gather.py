"""Everything ``read`` takes, as rows: files, folders, folds, frames, labels and candidates in any shape."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from juryrank.data import Dataset, Labels
from juryrank.data.build import ONE_QUERY, labels_from_long, natural
from juryrank.errors import DataError
from juryrank.kernels.jit import threads
from juryrank.readers import comparisons, table, tabular, trec_run, usual_runs
from juryrank.readers.columns import roles, typed
from juryrank.readers.experts import named_apart
from juryrank.readers.formats import format_of, named
from juryrank.readers.long import SLOT, Long, together
from juryrank.readers.source import Source, files_in, load

TEXT = {"query": pl.String, "item": pl.String}
Options = Mapping[str, Any]  # columns and values, where they are given


def paths_of(source: Any) -> list[Path]:
    """The paths that a path or a list of paths means."""
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    if isinstance(source, Sequence) and source and all(isinstance(s, str | os.PathLike) for s in source):
        return [Path(s) for s in source]
    raise DataError(
        f"read takes a path, a list of paths or a dataframe, got {type(source).__name__}; "
        "for dicts, lists and arrays see juryrank.data.build"
    )


def files_of(paths: Sequence[Path]) -> list[Path]:
    """The files, and all files in folders."""
    return [file for path in paths for file in (files_in(path) if path.is_dir() else [path])]


def usual_runs_in(sources: Sequence[Source], format_name: str | None, options: Options) -> Dataset | None:
    """The Dataset of TREC runs that are as runs usually are and large enough to matter, else None."""
    if options or sum(len(source.data) for source in sources) < usual_runs.WORTHWHILE:
        return None
    if any(format_of(source, format_name) is not trec_run for source in sources):
        return None
    return usual_runs.read(sources)


def rows_of(sources: Sequence[Source], format_name: str | None, options: Options) -> Long:
    """The rows of all sources."""
    parts = [_rows_of_file(source, format_name, options) for source in sources]
    name = str(sources[0].path) if len(sources) == 1 else f"{len(sources)} files"
    return together(named_apart(parts, sources), name)


def loaded(files: Sequence[Path]) -> list[Source]:
    """The content of the files."""
    if len(files) == 1:
        return [load(files[0])]
    with ThreadPoolExecutor(threads()) as pool:  # neither reading nor unpacking holds the interpreter's lock
        return list(pool.map(load, files))


def _rows_of_file(source: Source, format_name: str | None, options: Options) -> Long:
    module = format_of(source, format_name)
    demand_options(module, options, str(source.path))
    with source.reading():
        return module.read(source, **options)  # type: ignore[no-any-return]


def rows_of_frame(frame: Any, format_name: str | None, options: Options) -> Long:
    """The rows of anything with an Arrow stream: comparisons when it has left, right and winner, else a table."""
    rows = tabular.arrow(frame)
    module = table if format_name is None else named(format_name)
    if format_name is None and tabular.known_among(rows.columns).issuperset(comparisons.PAIR):
        module = comparisons
    if not hasattr(module, "read_frame"):
        raise DataError(f"a {type(frame).__name__} is a table or comparisons, not {format_name}")
    demand_options(module, options, "the table")
    return module.read_frame(rows, **options)  # type: ignore[no-any-return]


def demand_options(module: ModuleType, options: Options, source: str) -> None:
    """A DataError for an option that a format does not have."""
    if strange := [name for name in options if name not in getattr(module, "OPTIONS", ())]:
        raise DataError(f"{source}: {strange[0]}= does not apply to the format {module.__name__.rpartition('.')[2]}")


def candidate_rows(candidates: Any) -> Long:
    """Items that need slots, from ``{query: [items]}`` or a frame."""
    if isinstance(candidates, Mapping):
        pairs = [(str(query), str(item)) for query, items in candidates.items() for item in items]
        return Long(name="candidates", candidates=pl.DataFrame(pairs, schema=TEXT, orient="row"))
    if hasattr(candidates, "__arrow_c_stream__"):
        frame = tabular.arrow(candidates)
        found = roles(frame.columns, None, "candidates", SLOT)
        if "item" in found:
            rows = typed(frame, found, tabular.failing_in("candidates")).drop_nulls()
            return Long(
                name="candidates",
                candidates=rows.with_columns(query="query" if "query" in found else pl.lit(ONE_QUERY)),
            )
    raise DataError("candidates must be {query: [items]} or a frame with columns query and item")


def labels_from_dict(labels: Mapping[Any, Mapping[Any, float]]) -> Labels:
    """Labels from ``{query: {item: label}}``."""
    try:
        rows = [(str(q), str(item), float(value)) for q, judged in labels.items() for item, value in judged.items()]
    except (AttributeError, TypeError, ValueError):
        raise DataError("labels must be {query: {item: number}}, or something that read takes") from None
    frame = pl.DataFrame(rows, schema={**TEXT, "label": pl.Float64}, orient="row")
    items = frame["item"].unique().sort().to_numpy().astype(object)
    return labels_from_long(frame, tuple(natural(frame["query"])), items, "labels")
