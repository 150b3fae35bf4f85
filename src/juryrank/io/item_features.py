"""Features of items, joined to the slots of a dataset: LETOR feature files, tables, frames or another Dataset.

A table has a column item, perhaps query, and a column of numbers per feature; without a query column an item has the
same features in every query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.io.dataset_frames import slot_frame
from juryrank.io.formats import format_of
from juryrank.io.formats.ballots import BallotFormat
from juryrank.io.formats.table import Table
from juryrank.io.rows import SLOT, align_features, first_true
from juryrank.io.source import Source
from juryrank.io.sources import inputs_of, load_sources, read_rows
from juryrank.io.tables import frames
from juryrank.io.tables.columns import Fail, as_numbers, convert_columns, roles
from juryrank.polars import pl

Features: TypeAlias = "tuple[pl.DataFrame, Floats, tuple[str, ...]]"  # whose rows they are, [n_rows, n_features], names


def add_features(data: Dataset, given: Any) -> Dataset:
    """The dataset with these features of its items."""
    rows, values, names = _features(given)
    return replace(data, features=align_features(data.rankings, rows, values, "features"), feature_names=names)


def _features(given: Any) -> Features:
    if isinstance(given, Dataset):
        return _from_dataset(given)
    if hasattr(given, "__arrow_c_stream__"):
        return _from_table(frames.from_arrow(given), "features", frames.row_errors("features"))
    sources = load_sources(inputs_of(given))
    if not any(isinstance(format_of(source), Table | BallotFormat) for source in sources):
        return _from_dataset(read_rows(sources, "letor-features", {}).build())
    parts = [_from_file(source) for source in sources]
    columns, names = parts[0][0].columns, parts[0][2]
    for source, part in zip(sources, parts, strict=True):
        if (part[0].columns, part[2]) != (columns, names):
            raise DataError(f"{source.path}: expected the columns of {sources[0].path}, the file before it")
    return pl.concat(part[0] for part in parts), np.vstack([part[1] for part in parts]), names


def _from_dataset(data: Dataset) -> Features:
    if data.features is None:
        raise DataError("features: the data that was given has no features")
    return slot_frame(data.rankings), data.features, data.feature_names


def _from_file(source: Source) -> Features:
    with source.reading():
        return _from_table(frames.frame_of(source), str(source.path), frames.line_errors(source))


def _from_table(frame: pl.DataFrame, name: str, fail: Fail) -> Features:
    found = roles(frame.columns, None, name, SLOT)
    names = tuple(header for header in frame.columns if header not in found.values())
    if "item" not in found or not names:
        headers = ", ".join(repr(c) for c in frame.columns[:12])
        raise DataError(
            f"{name}: a table of features needs a column 'item' and columns of numbers; columns are {headers}"
        )
    rows = convert_columns(frame, found, fail)
    if (row := first_true(rows.select(pl.any_horizontal(pl.all().is_null())).to_series())) is not None:
        raise fail(row, "a name in every column of names")
    values = [as_numbers(frame[header], header, fail).fill_null(float("nan")).to_numpy() for header in names]
    return rows, np.column_stack(values).astype(np.float64), names
