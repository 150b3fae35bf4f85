"""Reading and writing of files: ``read`` detects the format from the content, ``write`` from the ending of the name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from juryrank.data import Consensus, Dataset, Labels
from juryrank.data.long_table import labels_from_dict, labels_from_rows
from juryrank.errors import DataError, one_warning_for_all, refuse_warnings
from juryrank.io import judgements
from juryrank.io.files import Writable, deliver
from juryrank.io.folders import save_folder
from juryrank.io.formats import FORMATS, format_for, get_format
from juryrank.io.item_features import add_features
from juryrank.io.letor_folds import fold_folders, fold_positions, read_folds
from juryrank.io.python_inputs import candidate_rows, frame_rows, merge_frames, python_dataset
from juryrank.io.records import consume, records_of
from juryrank.io.rows import Rows, concat
from juryrank.io.source import Source
from juryrank.io.sources import Input, inputs_of, join_rows, load_sources, read_rows, read_runs
from juryrank.io.tables import frames
from juryrank.io.tables.columns import Columns
from juryrank.io.tables.headerless import has_column_numbers
from juryrank.polars import require_threads

__all__ = ["FORMATS", "read", "write"]


def read(
    source: Any,
    *,
    labels: Any = None,
    features: Any = None,
    candidates: Any = None,
    format: str | None = None,  # noqa: A002
    columns: Columns = None,
    label_columns: Columns = None,
    values: str | None = None,
    strict: bool = False,
) -> Dataset:
    """The Dataset in a file, several files, a folder of runs or of LETOR folds, an open file, a dataframe, or Python.

    From Python, ``source`` is ``{expert: run}``, a list of ranx Runs, or one run: ``{query: {item: score}}``, a ranx
    Run, or an iterable of ``(query, item, score)`` or of records with ``query_id``, ``doc_id`` and ``score``.
    ``labels`` (a path, a frame, ``{query: {item: label}}``, ranx Qrels, ``(query, item, label)`` or records with
    ``relevance``) and ``features`` (LETOR feature files, or tables with a column per feature) are joined by the names
    of query and item. ``candidates`` (``{query: [items]}`` or a frame) get slots even if nobody ranks them. The format
    is detected from the files unless ``format`` is given.
    For tables, ``columns`` maps query, item, … to headers (to column numbers if there is no header, to None if there is
    no such column, ``expert`` to a list of headers if each expert has a column), and ``values`` is "rank" or "score".
    ``label_columns`` does the same for ``labels``. Data that is dropped or repaired gives a DataWarning, or with
    ``strict`` a DataError.
    """
    require_threads("read")
    if strict:
        with refuse_warnings():
            return read(
                source, labels=labels, features=features, candidates=candidates, format=format, columns=columns,
                label_columns=label_columns, values=values,
            )  # fmt: skip
    options = {name: given for name, given in (("columns", columns), ("values", values)) if given is not None}
    extra = None if candidates is None else candidate_rows(candidates)
    if format is not None:
        get_format(format)
    data = _read(source, format, options, extra)
    if features is not None:
        data = add_features(data, features)
    if labels is None and label_columns:
        raise DataError("label_columns= requires labels=")
    return data if labels is None else data.with_labels(read_labels(labels, label_columns))


def write(
    thing: Dataset | Consensus,
    path: str | os.PathLike[str] | Writable,
    format: str | None = None,  # noqa: A002
    *,
    top: int | None = None,
    tag: str | None = None,
) -> None:
    """Write a Dataset or Consensus in the format of the ending of ``path``, or in ``format``.

    Writing is atomic. Lists that a format cannot represent are an error. Of a Consensus, ``top`` items of each query
    are written (by default all), and ``tag`` names it in a TREC run. To an open binary file, a TREC run is written
    unless ``format`` is given; runs of several experts are written to it one after the other, to a path as a folder.
    """
    require_threads("write")
    if not isinstance(thing, Dataset | Consensus):
        raise DataError(f"write takes a Dataset or a Consensus, got {type(thing).__name__}")
    options: dict[str, Any] = {name: value for name, value in (("top", top), ("tag", tag)) if value is not None}
    if not isinstance(path, str | os.PathLike):
        deliver(get_format(format or "trec-run").lines(thing, **options), path)
        return
    target = Path(path)
    chosen = format_for(thing, target, format)
    if chosen.one_file_per_expert and isinstance(thing, Dataset) and not (len(thing.experts) == 1 and target.suffix):
        if os.path.isfile(target) or target.suffix:
            raise DataError(f"{target}: {len(thing.experts)} experts need a folder; give a path without an ending")
        save_folder(target, chosen.expert_files(thing, **options))
    else:
        deliver(chosen.lines(thing, target.name, **options), target)


def _read(source: Any, format_name: str | None, options: dict[str, Any], extra: Rows | None) -> Dataset:
    def build(rows: Rows) -> Dataset:
        return check((rows if extra is None else concat([rows, extra], rows.name)).build(), rows.name)

    def check(data: Dataset, name: str) -> Dataset:
        if not data.rankings.n_slots:
            raise DataError(f"{name}: nothing to read: no row has an item with a rank, a score or a label")
        return data

    source = merge_frames(consume(source))
    if hasattr(source, "__arrow_c_stream__"):
        return build(frame_rows(source, format_name, options))
    candidates = None if extra is None else extra.candidates
    if (found := python_dataset(source, format_name, options, candidates)) is not None:
        return check(found, "the data")
    inputs = inputs_of(source)
    if folders := _fold_folders(inputs):
        FORMATS["letor"].check_options(options, str(source))
        rows, members = read_folds(folders, format_name)
        data = build(rows)
        return replace(data, folds=fold_positions(data.queries, members))
    sources = load_sources(inputs, whole_folders=has_column_numbers(options.get("columns")))
    with one_warning_for_all({str(each.path) for each in sources}):
        return _read_sources(sources, format_name, options, extra, build)


def _read_sources(
    sources: list[Source],
    format_name: str | None,
    options: dict[str, Any],
    extra: Rows | None,
    build: Callable[[Rows], Dataset],
) -> Dataset:
    if (runs := read_runs(sources, format_name, options)) is not None:
        data = runs.dataset() if extra is None else None
        return build(join_rows(runs.rows(), sources)) if data is None else data
    if format_name is None and not options and all(map(judgements.is_judgements, sources)):
        return build(concat(judgements.label_rows(sources, None), sources[0].path.name))
    return build(read_rows(sources, format_name, options))


def _fold_folders(inputs: list[Input]) -> list[Path]:
    only = inputs[0] if len(inputs) == 1 else None
    return fold_folders(only) if isinstance(only, Path) else []


def read_labels(labels: Any, columns: Columns = None) -> Labels | Dataset:
    """The labels in a file, a frame, ``{query: {item: label}}`` or qrels of other libraries, as ``read`` takes them."""
    if isinstance(labels, Labels | Dataset):
        return labels
    if isinstance(labels, Mapping):
        return labels_from_dict(labels)
    if hasattr(labels, "__arrow_c_stream__"):
        return judgements.labels_from_frame(frames.from_arrow(labels), columns).build()
    labels = consume(labels)
    if (records := records_of(labels, "labels")) is not None:
        return labels_from_rows(records.labels())
    inputs = inputs_of(labels)
    if _fold_folders(inputs):
        return read(labels)
    return concat(judgements.label_rows(load_sources(inputs), columns), "labels").build()
