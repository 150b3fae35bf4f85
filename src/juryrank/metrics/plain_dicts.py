"""Runs and labels as plain dicts, matched without a Dataset, which would take most of the time of an evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.data.labels import LARGEST_LABEL
from juryrank.data.names import natural_key, sorted_naturally
from juryrank.kernels.ragged import descending_order, sizes_to_ptr
from juryrank.metrics.truth import (
    CONVENTIONS,
    ItemGrades,
    JudgedConsensus,
    single_precision,
    warn_of_unlabelled_queries,
    warn_of_unranked_queries,
)

Numbers = dict[str, Any]  # of items, in one query

DICT = frozenset((dict,))


def judge_dicts(
    runs: Mapping[str, Mapping[str, Any]], labels: Mapping[str, Any], convention: str
) -> dict[str, JudgedConsensus] | None:
    """Runs ``{query: {item: score}}`` by name, matched with ``{query: {item: label}}``; None for unusual input.

    Unusual: names that are not text, other types than dict, numbers that are not finite, queries of which neither side
    has all that the other has, no judged item. ``Truth`` handles these and gives the same result where both apply.
    """
    known = None if convention not in CONVENTIONS else _labels_of(labels)
    if known is None:
        return None
    judged = {name: _judge(run, known, convention) for name, run in runs.items()}
    if None in judged.values() or not any(one is not None and one.any_known for one in judged.values()):
        return None
    found = {name: one for name, one in judged.items() if one is not None}
    for name, one in found.items():
        total, hit = sum(map(bool, runs[name].values())), int((one.size > 0).sum())
        warn_of_unlabelled_queries(name, total - hit, total)
        warn_of_unranked_queries(name, len(known.queries) - hit, len(known.queries))
    return found


class _Labels(NamedTuple):
    queries: tuple[str, ...]
    by_query: list[Numbers]
    ideal_ptr: Ints
    ideal: Floats


def _labels_of(labels: Mapping[str, Any]) -> _Labels | None:
    if not _is_plain(labels):
        return None
    queries = tuple(sorted_naturally(query for query, judged in labels.items() if judged))
    by_query = [labels[query] for query in queries]
    ptr, value = _flat(by_query)
    if not queries or value is None or not (np.abs(value) <= LARGEST_LABEL).all():
        return None
    return _Labels(queries, by_query, ptr, value[_descending(ptr, value)])


def _judge(run: Mapping[str, Any], labels: _Labels, convention: str) -> JudgedConsensus | None:
    if not _is_plain(run):
        return None
    nothing: Numbers = {}
    ranked = [run.get(query, nothing) for query in labels.queries]
    others = [run[query] for query in run.keys() - labels.queries if run[query]]
    hit = sum(map(bool, ranked))
    if not hit or (others and hit < len(ranked)):
        return None
    ptr, score = _flat([*ranked, *others])
    if score is None or not np.isfinite(score).all():
        return None
    ptr = ptr[: len(ranked) + 1]
    score = score[: ptr[-1]]
    found = chain.from_iterable(map(map, [judged.get for judged in labels.by_query], ranked))
    value = np.fromiter(found, np.float64, len(score))  # None becomes NaN
    order = _order(ranked, ptr, score, value, convention)
    grades = ItemGrades(value[order], labels.ideal_ptr, labels.ideal)
    return JudgedConsensus(
        queries=labels.queries, convention=convention, slot_ptr=ptr, score=score[order], labels=grades, reference=grades
    )


def _is_plain(given: Mapping[str, Any]) -> bool:
    """Whether these are dicts with text as keys."""
    if not DICT.issuperset(map(type, given.values())):
        return False
    try:
        "".join(chain(given, *given.values()))  # the fastest test that all are text
    except TypeError:
        return False
    return True


def _flat(by_query: list[Numbers]) -> tuple[Ints, Floats | None]:
    """The offsets of each query, and the numbers of all; None where something is not a number."""
    ptr = sizes_to_ptr(list(map(len, by_query)))
    try:
        return ptr, np.fromiter(chain.from_iterable(map(dict.values, by_query)), np.float64, int(ptr[-1]))
    except (TypeError, ValueError, OverflowError):
        return ptr, None


def _descending(ptr: Ints, values: Floats) -> Ints:
    order = np.empty(len(values), np.int64)
    descending_order(ptr, values, order)
    return order


def _order(ranked: list[Numbers], ptr: Ints, score: Floats, label: Floats, convention: str) -> Ints:
    """Positions of each query from best to worst, equal scores by name as the convention says."""
    trec = convention == "trec"
    compared = single_precision(score) if trec else score
    order = _descending(ptr, compared)
    tied = np.zeros(len(order) + 1, bool)  # with the position before
    tied[1:-1] = _same(compared[order])
    tied[ptr] = False
    # The order of tied items with the same label and the same score in full precision has no effect.
    differing = tied[1:-1] & ~(_same(score[order]) & _same(label[order]))
    count = np.append(0, np.cumsum(differing))
    starts, stops = np.flatnonzero(tied[1:] & ~tied[:-1]), np.flatnonzero(tied[:-1] & ~tied[1:]) + 1
    groups = np.flatnonzero(count[stops - 1] > count[starts])
    if not len(groups):
        return order
    names, positions = list(chain.from_iterable(ranked)), order.tolist()
    key: Callable[[int], Any] = names.__getitem__ if trec else lambda at: natural_key(names[at])
    for start, stop in zip(starts[groups].tolist(), stops[groups].tolist(), strict=True):
        positions[start:stop] = sorted(positions[start:stop], key=key, reverse=trec)
    return np.array(positions, np.int64)


def _same(values: Floats) -> NDArray[np.bool_]:
    """Whether each value but the first equals the one before, or both are NaN."""
    unknown = np.isnan(values)
    same: NDArray[np.bool_] = (values[1:] == values[:-1]) | (unknown[1:] & unknown[:-1])
    return same
