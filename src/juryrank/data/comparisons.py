"""A Dataset from pairwise comparisons: one list of two items each, in the order given."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Codes, Floats, Names
from juryrank.data.build import ONE_QUERY
from juryrank.data.dataset import Dataset
from juryrank.data.entries import codes, distinct_keys
from juryrank.data.names import sort_naturally
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError
from juryrank.kernels.slots import number_keys
from juryrank.polars import pl

SHARED = 1 << 13  # distinct objects; with more, hashing by address does not pay
Column: TypeAlias = "Sequence[Any] | NDArray[Any] | pl.Series"


def from_pairs(
    better: Column,
    worse: Column,
    *,
    ties: Column | None = None,
    experts: Column | None = None,
    weights: Column | None = None,
) -> Dataset:
    """A Dataset of one query from comparisons: ``better[n]`` beat ``worse[n]``, or tied with it if ``ties[n]``.

    ``experts`` are the judges of the comparisons, ``weights`` how many times each comparison counts.

    >>> from_pairs(["a", "a", "b"], ["b", "c", "c"], ties=[False, False, True])
    Dataset(1 queries, 3 slots, 1 experts, 3 lists, 6 entries)
    """
    n = len(better)
    if len(worse) != n:
        raise DataError(f"comparisons have two sides, got {n} better and {len(worse)} worse items")
    items, item = _object_codes(better, worse) or _codes(pl.concat([_names(better, "better"), _names(worse, "worse")]))
    sides = item.reshape(2, n)
    if (same := sides[0] == sides[1]).any():
        raise DataError(f"comparison {same.argmax() + 1} compares {items[sides[0, same.argmax()]]!r} with itself")
    rank = np.tile((1.0, 2.0), n)
    if ties is not None:
        _same_length(len(ties), n, "ties")
        rank[1::2][np.asarray(ties, bool)] = 1.0
    who, expert = (("all",), np.zeros(n, np.int32)) if experts is None else _experts(experts, n)
    return Dataset(
        rankings=Rankings(
            queries=(ONE_QUERY,),
            experts=who,
            items=items,
            slot_ptr=np.array([0, len(items)]),
            slot_item=np.arange(len(items), dtype=np.int32),
            list_ptr=np.array([0, n]),
            list_expert=expert,
            list_weight=np.ones(n) if weights is None else _weights(weights, n),
            entry_ptr=np.arange(0, 2 * n + 1, 2),
            entry_slot=sides.T.ravel(),
            entry_rank=rank,
        )
    )


def _object_codes(better: Column, worse: Column) -> tuple[Names, Codes] | None:
    """As ``_codes``, for lists that repeat the same few text objects: each object is hashed by its address."""
    if not (isinstance(better, list) and isinstance(worse, list)):
        return None
    texts = np.fromiter(chain(better, worse), object, len(better) + len(worse))
    address = np.frombuffer(texts, np.intp)  # of each object; ``map(id, …)`` takes four times as long
    first, number = np.empty(SHARED, np.int64), np.empty(len(texts), np.int32)
    found = number_keys(address, np.full(2 * SHARED, -1, np.int32), first, number)
    distinct = texts[first[:found]].tolist() if found >= 0 else [None]
    if not all(isinstance(text, str) for text in distinct):
        return None
    names = sorted(set(distinct))
    place = {name: code for code, name in enumerate(names)}
    return np.array(names, object), np.array([place[text] for text in distinct], np.int32)[number]


def _names(column: Column, side: str) -> pl.Series:
    try:
        texts = column if isinstance(column, pl.Series) else pl.Series(column, dtype=pl.String)
    except TypeError:
        texts = pl.Series([str(name) for name in column], dtype=pl.String)
    if texts.null_count():
        raise DataError(f"comparison {int(texts.is_null().arg_max() or 0) + 1} has no {side} item")
    return texts.cast(pl.String)


def _codes(texts: pl.Series) -> tuple[Names, Codes]:
    """The distinct names, sorted, and the position of each text among them."""
    first, found = distinct_keys(texts.cast(pl.Categorical).to_physical().to_numpy().astype(np.int64))
    names = texts.gather(first).to_numpy().astype(object)
    order = np.argsort(names)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    return names[order], place[found]


def _experts(column: Column, n: int) -> tuple[tuple[str, ...], Codes]:
    texts = _names(column, "expert of an")
    _same_length(len(texts), n, "experts")
    names = sort_naturally(texts)
    return tuple(names.to_list()), codes(texts, names).astype(np.int32)


def _weights(column: Column, n: int) -> Floats:
    weights = np.array(column, np.float64)
    _same_length(len(weights), n, "weights")
    if (wrong := ~(np.isfinite(weights) & (weights >= 0))).any():
        at = int(wrong.argmax())
        raise DataError(f"the weight of comparison {at + 1} must be a finite number >= 0, got {weights[at]}")
    return weights


def _same_length(given: int, n: int, what: str) -> None:
    if given != n:
        raise DataError(f"{given} {what} for {n} comparisons")
