"""Monotone retargeting: the scores nearest to a linear predictor among all in a given order.

D(z‖f) has the scores z as its first argument, so pooling adjacent violators takes plain means of the linear predictor,
and the link comes after. Items that the order ties may be in any order; sorted by the predictor, they cost least.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.learning.per_query import standardise, sum_by_query
from juryrank.methods.features.glm import Loss
from juryrank.methods.features.margins import Margins, Pairs

QUERIES_AT_ONCE = 256  # pooled in one call, separated by an offset that costs no more than three digits
TIE_DECIMALS = 9  # targets that are equal to so many decimals are tied


@dataclass(frozen=True)
class Scale:
    """The scale of scores, which could otherwise shrink to 0.

    Without a margin, t has variance 1 in each query. With one, the best and the worst score of each query differ by at
    least the margin, as do the scores of each pair.
    """

    margin: float | None = None
    pairs: Pairs | None = None


def sort_order(ptr: Ints, f: Floats, target: Floats) -> Ints:
    """Positions by query, then by target and by predictor, both largest first."""
    return np.lexsort((-f, -np.round(target, TIE_DECIMALS), parents(ptr)))


def pool(ptr: Ints, f: Floats, order: Ints, weight: Floats | None = None) -> Floats:
    """The values nearest to ``f`` by (weighted) squares that do not increase along ``order``, in each query."""
    from scipy.optimize import isotonic_regression

    out = np.empty(len(f))
    apart = float(np.ptp(f)) + 1.0 if len(f) else 1.0
    query = parents(ptr)
    for first, last in pairwise([*range(0, len(ptr) - 1, QUERIES_AT_ONCE), len(ptr) - 1]):
        some = order[ptr[first] : ptr[last]]
        if not len(some):
            continue
        offset = (query[some] - first) * apart
        weights = None if weight is None else weight[some]
        out[some] = isotonic_regression(f[some] - offset, weights=weights, increasing=False).x + offset
    return out


def retarget(ptr: Ints, f: Floats, target: Floats, loss: Loss, scale: Scale, before: Floats | None = None) -> Floats:
    """t = the link of the scores nearest to ``f`` in the order of ``target``; never worse than ``before``, if given."""
    if scale.margin is not None:
        margins = Margins(ptr, sort_order(ptr, f, target), loss, scale.margin, scale.pairs)
        return margins.nearest(f, lambda moved: pool(ptr, moved, sort_order(ptr, moved, target)))
    before = standardise(ptr, target) if before is None else before
    goal = standardise(ptr, pool(ptr, f, sort_order(ptr, f, target)))
    constant = np.repeat(sum_by_query(ptr, goal**2) == 0, np.diff(ptr))
    goal = np.where(constant, before, goal)
    return goal if loss.quadratic else _no_worse(ptr, f, loss, goal, before)


def _no_worse(ptr: Ints, f: Floats, loss: Loss, goal: Floats, before: Floats) -> Floats:
    """The last of a few points between ``before`` and ``goal`` that is no further from ``f`` than ``before``."""
    sizes = np.diff(ptr)
    least = loss.divergence(ptr, before, f)
    out, found = before.copy(), np.zeros(len(sizes), bool)
    for share in (1.0, 0.5, 0.25, 0.125, 0.0625):
        tried = standardise(ptr, share * goal + (1 - share) * before)
        better = ~found & (loss.divergence(ptr, tried, f) <= least)
        out = np.where(np.repeat(better, sizes), tried, out)
        found |= better
    return out


def retarget_with_steps(ptr: Ints, f: Floats, level: Floats, loss: Loss, margin: float) -> Floats:
    """t nearest to ``f`` with each level of a query at least ``margin`` above the one below it (MEMR).

    Levels count 0, 1, 2 … from the worst. A block of t = c + constant, c = margin · level, costs least where the
    constant is the mean of f - c, weighted by how fast scores grow there.
    """
    c = margin * level
    return c + pool(ptr, f - c, sort_order(ptr, f, level), None if loss.quadratic else loss.weight(c))


def label_levels(ptr: Ints, labels: Floats) -> Floats:
    """The number of smaller labels, each counted once, that the query of an item has."""
    query = parents(ptr)
    order = np.lexsort((labels, query))
    new = np.zeros(len(order))
    new[1:] = (labels[order][1:] > labels[order][:-1]) & (query[order][1:] == query[order][:-1])
    climbed = np.cumsum(new)
    first = ptr[:-1][np.diff(ptr) > 0]
    out = np.empty(len(order))
    out[order] = climbed - np.repeat(climbed[first], np.diff(ptr)[np.diff(ptr) > 0])
    return out
