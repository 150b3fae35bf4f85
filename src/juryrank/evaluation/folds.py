"""Cross-validation folds by query."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juryrank.data import Dataset, Fold
from juryrank.data.arrays import Ints
from juryrank.errors import DataError, ParameterError


def splits_of(folds: int | Sequence[Fold] | None, data: Dataset, seed: int) -> tuple[Fold, ...]:
    """The requested folds, the folds of the data, or none."""
    if folds is None:
        splits = data.folds
    elif isinstance(folds, int):
        splits = seeded_folds(folds, data, seed)
    elif all(isinstance(fold, Fold) for fold in folds):
        splits = tuple(folds)
    else:
        raise ParameterError(f"folds must be a number of folds or a list of Fold, got {folds!r}")
    tested = [q for fold in splits for q in fold.test]
    if len(set(tested)) < len(tested):
        raise DataError("a query must be tested only once, but some queries are in the test part of two folds")
    return splits


def labelled_text(n: int, queries: Sequence[str]) -> str:
    """How many queries have labels, and an example of a query name: often the names differ from those in the labels."""
    example = f"; queries here are named like {queries[0]!r}" if len(queries) else ""
    return f"{n or 'none'} of {len(queries)} has any{example}; give labels= of these"


def seeded_folds(n: int, data: Dataset, seed: int) -> tuple[Fold, ...]:
    """``n`` random folds of the labelled queries: each query is tested once; with n > 2 it is once in validation."""
    known = np.zeros(len(data), bool)
    if data.labels is not None:
        known |= np.diff(data.labels.label_ptr) > 0
    if data.reference is not None:
        ranked = np.flatnonzero(~np.isnan(data.reference))
        known[np.searchsorted(data.rankings.slot_ptr, ranked, side="right") - 1] = True
    return folds_of(n, np.flatnonzero(known), seed, data.queries)


def folds_of(n: int, queries: Ints, seed: int, names: Sequence[str]) -> tuple[Fold, ...]:
    """As ``seeded_folds``, given the positions of the labelled queries, and the names of all."""
    if len(queries) < 2:
        raise DataError(f"folds need at least 2 queries with labels, and {labelled_text(len(queries), names)}")
    if not 2 <= n <= len(queries):
        raise ParameterError(f"folds must be from 2 to {len(queries)}, the number of queries with labels, got {n}")
    shuffled = np.random.default_rng(seed).permutation(queries)
    parts = [np.sort(part).tolist() for part in np.array_split(shuffled, n)]
    folds = []
    for test in range(n):
        valid = (test + 1) % n if n > 2 else None
        train = sorted(q for part in range(n) if part not in (test, valid) for q in parts[part])
        validation = () if valid is None else tuple(parts[valid])
        folds.append(Fold(str(test + 1), tuple(train), validation, tuple(parts[test])))
    return tuple(folds)
