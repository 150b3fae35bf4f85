"""Ranks of a leaderboard: equal scores share one, and only items that met, perhaps through others, are compared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.data.ties import tied_ranks
from juryrank.kernels.ragged import sizes_to_ptr

EQUAL = 1e-10  # scores that differ by less, or by this share of the largest, differ by rounding
ALONE = -1


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of items that met, perhaps through others; the largest is number 0."""

    of_item: Ints  # [n_items] the number of the group of each item, ALONE without a game
    sizes: Ints

    @property
    def alone(self) -> Ints:
        """The items without a game."""
        return np.flatnonzero(self.of_item == ALONE)

    @property
    def members(self) -> list[Ints]:
        """The items of each group, in their order."""
        order = np.argsort(self.of_item, kind="stable")[len(self.alone) :]
        return np.split(order, np.cumsum(self.sizes)[:-1]) if len(self.sizes) else []


def groups_of(first: Ints, second: Ints, n_items: int) -> Groups:
    """The groups that pairs of items connect."""
    root = _first_reached(first, second, n_items)
    plays = np.zeros(n_items, bool)
    plays[first] = plays[second] = True
    found, number, size = np.unique(root[plays], return_inverse=True, return_counts=True)
    order = np.lexsort((found, -size))
    of_item = np.full(n_items, ALONE)
    of_item[plays] = np.argsort(order)[number]
    return Groups(of_item, size[order])


def _first_reached(first: Ints, second: Ints, n: int) -> Ints:
    """For each of ``n`` nodes, the smallest that pairs connect it with."""
    root = np.arange(n)
    while (apart := root[first] != root[second]).any():
        low, high = np.minimum(root[first], root[second])[apart], np.maximum(root[first], root[second])[apart]
        np.minimum.at(root, high, low)
        while (root[root] != root).any():
            root = root[root]
    return root


def level_scores(scores: Floats) -> Floats:
    """The scores, where those that differ by rounding are equal to the largest of them.

    >>> level_scores(np.array([0.5, 0.1, 0.5 + 1e-14])).tolist() == [0.5 + 1e-14, 0.1, 0.5 + 1e-14]
    True
    """
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    step = EQUAL * max(1.0, float(np.abs(scores).max(initial=0.0)))
    begins = np.append(True, falling[:-1] - falling[1:] > step)[: len(falling)]
    out = np.empty_like(scores)
    out[order] = falling[begins][np.cumsum(begins) - 1]
    return out


def ranked(scores: Floats, groups: Groups) -> tuple[Ints, Ints]:
    """The items with games, group by group from best to worst, and the rank of each in its group."""
    order = np.lexsort((-scores, groups.of_item))[len(groups.alone) :]
    return order, tied_ranks(sizes_to_ptr(groups.sizes), scores[order])


def ranks_of_resamples(scores: Floats) -> Ints:
    """The ranks in each row of scores, the highest first; equal scores share the smaller rank."""
    order = np.argsort(-scores, axis=1)
    ordered = np.take_along_axis(scores, order, axis=1)
    place = np.arange(scores.shape[1]) * np.ones((len(scores), 1), np.int64)
    place[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = 0
    ranks = np.empty_like(place)
    np.put_along_axis(ranks, order, 1 + np.maximum.accumulate(place, axis=1), axis=1)
    return ranks


def count_above(low: Floats, high: Floats) -> Ints:
    """For each item, the number of others whose ``low`` is above its ``high``."""
    above: Ints = len(low) - np.searchsorted(np.sort(low), high, side="right")
    return above
