"""``fit_files``: fit a method whose statistics are sums to files that are larger than memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.errors import DataError, ParameterError
from juryrank.io.tables.columns import Columns
from juryrank.kernels.ragged import parents
from juryrank.methods import METHODS, Aggregator
from juryrank.methods import method as make_method
from juryrank.methods.learned.batched_curves import fit_batches
from juryrank.methods.learned.curves import PositionCurves
from juryrank.scan.batches import Batch
from juryrank.scan.labelled_files import LabelledFiles, open_files

SHARE = 0.5  # of the memory of a batch, for reading it; the rest is for statistics and held-out values


def fit_files(
    paths: Sequence[str | os.PathLike[str]],
    method: str | Aggregator = "jury",
    *,
    memory: int,
    labels: Any = None,
    label_columns: Columns = None,
    format: str | None = None,  # noqa: A002
    options: Mapping[str, Any] | None = None,
    **params: Any,
) -> Aggregator:
    """Fit ``jury`` or ``ridge`` to the lists in TREC runs or Parquet tables, using about ``memory`` bytes.

    The model is the same as that of ``fit``, bit by bit. ``method`` and its parameters are as in ``fit``. ``labels``
    are anything that ``read`` takes, or the column label of the tables: TREC qrels that would take more than a quarter
    of the memory are read query by query, all others are in memory. ``memory`` does not include the program itself,
    and a query is never split; files are read three times.
    """
    if isinstance(method, Aggregator) and params:
        raise ParameterError(f"{method.name} has its parameters already; give the method by name to set them here")
    model = copy(method) if isinstance(method, Aggregator) else make_method(method, **params)
    fit_and_count(
        paths, model, memory=memory, labels=labels, label_columns=label_columns, format=format, options=options
    )
    return model


def fit_and_count(
    paths: Sequence[str | os.PathLike[str]], model: Aggregator, *, labels: Any = None, **reading: Any
) -> TrainingCounts:
    """Fit the model itself, as ``fit_files`` fits a copy, and count what it was fitted to."""
    check_sums(model)
    return fit_labelled(open_files(paths, labels, share=SHARE, **reading), model)


def check_sums(model: Aggregator) -> PositionCurves:
    """The model; a DataError if it cannot be fitted batch by batch."""
    if isinstance(model, PositionCurves):
        return model
    able = ", ".join(name for name in ("jury", "ridge") if name in METHODS)
    if not model.learns:
        raise DataError(f"{model.name} learns nothing from data, so that a memory limit does not apply; fit without it")
    raise DataError(
        f"{model.name} needs all its training data at once, so it cannot be fitted with a memory limit, as {able} can; "
        "fit it without a limit to a sample of the queries that fits into memory"
    )


@dataclass(frozen=True)
class TrainingCounts:
    """What a model was fitted to."""

    n_queries: int
    n_labelled: int  # queries with a judged item
    n_items: int
    n_judged: int

    def __str__(self) -> str:
        return (
            f"learned from {self.n_labelled} of {self.n_queries} queries with {self.n_judged} labels of "
            f"{self.n_items} items"
        )


def fit_labelled(files: LabelledFiles, model: Aggregator) -> TrainingCounts:
    """Fit the model to the files, and count what it was fitted to."""
    curves = check_sums(model)
    if not files.has_labels:
        raise DataError(f"{model.name} learns from labels, and the data has none; give labels, or a fitted model")
    counted = _Counted(files)
    fit_batches(curves, counted)
    return counted.counts()


class _Counted:
    """Batches of labelled files, counted in the first pass."""

    def __init__(self, files: LabelledFiles) -> None:
        self.files, self.n_queries = files, files.n_queries
        self.found: dict[int, tuple[int, int, int, int]] = {}  # by the first query of a batch, in the first pass

    def map(self, work: Any, together: Any = None) -> Any:
        first = not self.found

        def counted(batch: Batch) -> Any:
            if first and len(batch.data):
                self.found[int(batch.numbers[0])] = _counts(batch)
            return work(batch)

        return self.files.map(counted, together)

    def counts(self) -> TrainingCounts:
        """The sums over all batches."""
        return TrainingCounts(*np.sum(list(self.found.values()), axis=0).tolist())


def _counts(batch: Batch) -> tuple[int, int, int, int]:
    r, judged = batch.data.rankings, ~np.isnan(batch.data.slot_labels)
    return len(r), len(np.unique(parents(r.slot_ptr)[judged])), r.n_slots, int(judged.sum())
