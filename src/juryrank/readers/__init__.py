"""Readers and writers, one format per file; ``read`` finds the format by looking into the file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from juryrank.data import Dataset, Labels
from juryrank.data.build import ONE_QUERY, labels_from_long, natural
from juryrank.errors import DataError, UnknownNameError
from juryrank.readers import letor, letor_features, table, trec_qrels, trec_run
from juryrank.readers.experts import named_apart
from juryrank.readers.folds import fold_folders, read_folds
from juryrank.readers.long import SLOT, Long, features_of, together
from juryrank.readers.source import Source, files_in, load

FORMATS: dict[str, ModuleType] = {  # in the order in which they are tried
    "letor": letor,
    "letor-features": letor_features,
    "trec-run": trec_run,
    "trec-qrels": trec_qrels,
    "table": table,
}
TABULAR = ("table",)

__all__ = ["FORMATS", "read"]


def read(
    source: Any,
    *,
    labels: Any = None,
    features: Any = None,
    candidates: Any = None,
    format: str | None = None,  # noqa: A002
    columns: Mapping[str, str] | None = None,
    values: str | None = None,
) -> Dataset:
    """The Dataset in a file, several files, a folder of runs or of LETOR folds, or a dataframe.

    ``labels`` (a path, a frame or ``{query: {item: label}}``) and ``features`` (paths of LETOR feature files) are
    joined by the names of query and item. ``candidates`` (``{query: [items]}`` or a frame) get slots though nobody may
    rank them. The format is found by looking into the files, or is ``format``. For tables, ``columns`` maps our words
    to other headers, and ``values`` says whether a column ``value`` holds ranks or scores.
    """
    if format is not None and format not in FORMATS:
        raise UnknownNameError.of("format", format, FORMATS)
    options = {"columns": columns, "values": values}
    data = _read_all(source, format, options, None if candidates is None else _candidate_rows(candidates))
    if features is not None:
        data = _with_features(data, features)
    return data if labels is None else data.with_labels(_labels(labels))


def _read_all(
    source: Any, format_name: str | None, options: dict[str, Any], candidates: pl.DataFrame | None
) -> Dataset:
    if hasattr(source, "__arrow_c_stream__"):
        rows = table.read_frame(table.arrow(source), **options)
        return _build(rows, candidates)
    paths = _paths(source)
    if len(paths) == 1 and (folds := fold_folders(paths[0])):
        rows, made = read_folds(folds, lambda s: _format(s, format_name))
        data = _build(rows, candidates)
        return replace(data, folds=made(data.queries))
    files = [file for path in paths for file in (files_in(path) if path.is_dir() else [path])]
    with ThreadPoolExecutor() as pool:  # decompression does not hold the interpreter's lock
        sources = list(pool.map(load, files))
    parts = [_read_one(s, format_name, options) for s in sources]
    name = str(files[0]) if len(files) == 1 else f"{len(files)} files"
    return _build(together(named_apart(parts, sources), name), candidates)


def _paths(source: Any) -> list[Path]:
    if isinstance(source, str | os.PathLike):
        return [Path(source)]
    if isinstance(source, Sequence) and source and all(isinstance(s, str | os.PathLike) for s in source):
        return [Path(s) for s in source]
    raise DataError(
        f"read takes a path, a list of paths or a dataframe, got {type(source).__name__}; "
        "for dicts, lists and arrays see juryrank.data.build"
    )


def _read_one(source: Source, format_name: str | None, options: dict[str, Any]) -> Long:
    module = _format(source, format_name)
    given = {k: v for k, v in options.items() if v is not None}
    if given and module not in [FORMATS[name] for name in TABULAR]:
        raise DataError(f"{source.path}: {' and '.join(given)} are for tables, and this is none; see format=")
    try:
        return module.read(source, **given)  # type: ignore[no-any-return]
    except pl.exceptions.PolarsError as error:
        raise DataError(f"{source.path}: cannot be read: {str(error).splitlines()[0]}") from None


def _format(source: Source, name: str | None) -> ModuleType:
    if name is not None:
        return FORMATS[name]
    for module in FORMATS.values():
        if module.sniff(source):
            return module
    raise source.error(1, f"one of the formats {', '.join(FORMATS)} (say format=… to choose)")


def _build(rows: Long, candidates: pl.DataFrame | None) -> Dataset:
    return (
        rows if candidates is None else together([rows, Long(name=rows.name, candidates=candidates)], rows.name)
    ).build()


def _candidate_rows(candidates: Any) -> pl.DataFrame:
    if isinstance(candidates, Mapping):
        rows = [(str(query), str(item)) for query, items in candidates.items() for item in items]
        return pl.DataFrame(rows, schema={"query": pl.String, "item": pl.String}, orient="row")
    if hasattr(candidates, "__arrow_c_stream__"):
        frame = table.arrow(candidates)
        found = table.roles(frame.columns, None, "candidates")
        if "item" in found:
            named = table.typed(frame, {w: h for w, h in found.items() if w in SLOT}, table.failing_in("candidates"))
            return named if "query" in found else named.select(query=pl.lit(ONE_QUERY), item="item")
    raise DataError("candidates must be {query: [items]} or a frame with columns query and item")


def _labels(labels: Any) -> Labels | Dataset:
    if isinstance(labels, Labels | Dataset):
        return labels
    if not isinstance(labels, Mapping):
        return read(labels)
    rows = [(str(q), str(item), float(value)) for q, judged in labels.items() for item, value in judged.items()]
    frame = pl.DataFrame(rows, schema={"query": pl.String, "item": pl.String, "label": pl.Float64}, orient="row")
    return labels_from_long(
        frame, tuple(natural(frame["query"])), frame["item"].unique().sort().to_numpy().astype(object)
    )


def _with_features(data: Dataset, features: Any) -> Dataset:
    files = [f for path in _paths(features) for f in (files_in(path) if path.is_dir() else [path])]
    parts = [letor_features.read(load(file)) for file in files]
    rows = together(parts, str(files[0]) if len(files) == 1 else f"{len(files)} files").features
    assert rows is not None
    matrix, names = features_of(data.rankings, rows, "features")
    return replace(data, features=matrix, feature_names=names)
