"""Retargeting with margins: constraints z[better] - z[worse] >= margin beside the order.

Each constraint has a multiplier that pushes its two items apart before pooling; the smallest pushes that satisfy all
margins give the nearest scores. One pair in a query is solved by bisection, several in turn until none changes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import children, parents, sizes_to_ptr
from juryrank.methods.features.glm import Loss

DOUBLINGS = 60
BISECTIONS = 60
ROUNDS = 100
UNCHANGED = 1e-9

Bools = NDArray[np.bool_]
Pooling = Callable[[Floats], Floats]  # a predictor -> the link of the scores nearest to it in the order


@dataclass(frozen=True, eq=False)
class Pairs:
    """Preferences of the data: ``better[p]`` is to be ranked above ``worse[p]`` in their query."""

    better: Ints
    worse: Ints

    def lift(self, target: Floats) -> Floats:
        """The target with the better item of each pair at least as high as the worse."""
        lifted = target.copy()
        for _ in range(len(self.better)):
            low = lifted[self.better] < lifted[self.worse]
            if not low.any():
                break
            np.maximum.at(lifted, self.better[low], lifted[self.worse[low]])
        return lifted


@dataclass(frozen=True, eq=False)
class Margins:
    """Margins between the ends of the order and between the pairs of each query."""

    ptr: Ints
    order: Ints
    loss: Loss
    margin: float
    pairs: Pairs | None

    def nearest(self, f: Floats, pool: Pooling) -> Floats:
        """The link of the scores nearest to ``f`` that satisfy the order of ``pool`` and all margins."""
        rounds = self._rounds()
        pushes = [np.zeros(len(better)) for better, _ in rounds]
        if len(rounds) == 1 and self.loss.separable:
            pushes[0] = _smallest_pushes(len(pushes[0]), self._ends_short(f))
            return pool(_push(f, rounds, pushes))

        def short(k: int, push: Floats) -> Bools:
            z = self.loss.mean(self.ptr, pool(_push(f, rounds, [*pushes[:k], push, *pushes[k + 1 :]])))
            closer: Bools = z[rounds[k][0]] - z[rounds[k][1]] < self.margin
            return closer

        for _ in range(ROUNDS if len(rounds) > 1 else 1):
            before = list(pushes)
            for k in range(len(rounds)):
                pushes[k] = _smallest_pushes(len(pushes[k]), partial(short, k))
            if all(np.abs(a - b).max(initial=0.0) <= UNCHANGED for a, b in zip(before, pushes, strict=True)):
                break
        return pool(_push(f, rounds, pushes))

    def _rounds(self) -> list[tuple[Ints, Ints]]:
        """Better and worse items, at most one pair of a query in each round; the ends come first."""
        long = np.diff(self.ptr) > 1
        rounds = [(self.order[self.ptr[:-1][long]], self.order[self.ptr[1:][long] - 1])]
        if self.pairs is not None and len(self.pairs.better):
            query = parents(self.ptr)[self.pairs.better]
            by = np.argsort(query, kind="stable")
            turn = np.arange(len(by)) - np.searchsorted(query[by], query[by])
            for k in range(int(turn.max()) + 1):
                rounds.append((self.pairs.better[by[turn == k]], self.pairs.worse[by[turn == k]]))
        return rounds

    def _ends_short(self, f: Floats) -> Callable[[Floats], Bools]:
        """Which queries have their ends closer than the margin, given a push: without pooling.

        The first pooled value is the largest mean of a beginning of the order, the last the smallest mean of an end.
        """
        long = np.flatnonzero(np.diff(self.ptr) > 1)
        own, size = f[self.order[children(self.ptr, long)]], np.diff(self.ptr)[long]
        ptr = sizes_to_ptr(size)
        first, one = ptr[:-1], np.arange(len(size) + 1)
        total = np.add.reduceat(own, first) if len(size) else np.zeros(0)
        running = np.cumsum(own)
        begun = running - np.repeat(running[ptr[1:] - 1] - total, size)
        place = np.arange(len(own)) - np.repeat(first, size) + 1.0
        left, whole = np.repeat(size, size) - place, np.repeat(total / size, size)

        def short(push: Floats) -> Bools:
            by = np.repeat(push, size)
            head = np.where(left > 0, (begun + by) / place, whole)
            tail = np.where(left > 0, (np.repeat(total, size) - begun - by) / np.maximum(left, 1.0), whole)
            top, bottom = np.maximum.reduceat(head, first), np.minimum.reduceat(tail, first)
            closer: Bools = self.loss.mean(one, top) - self.loss.mean(one, bottom) < self.margin
            return closer

        return short


def _push(f: Floats, rounds: list[tuple[Ints, Ints]], pushes: list[Floats]) -> Floats:
    moved = f.copy()
    for (better, worse), push in zip(rounds, pushes, strict=True):
        np.add.at(moved, better, push)
        np.add.at(moved, worse, -push)
    return moved


def _smallest_pushes(n: int, short: Callable[[Floats], Bools]) -> Floats:
    """The smallest push of each of ``n`` pairs that satisfies its margin; gaps grow with their own push."""
    low, high = np.zeros(n), np.full(n, 1e-3)
    if not n or not (needed := short(low)).any():
        return low
    for _ in range(DOUBLINGS):
        if not (closer := needed & short(np.where(needed, high, 0.0))).any():
            break
        low, high = np.where(closer, high, low), np.where(closer, 2 * high, high)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        closer = short(np.where(needed, middle, 0.0))
        low, high = np.where(closer, middle, low), np.where(closer, high, middle)
        if (high - low <= 1e-12 * np.maximum(high, 1.0)).all():
            break
    return np.where(needed, high, 0.0)
