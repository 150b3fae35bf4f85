"""Retargeting with margins: half-spaces z[better] - z[worse] >= margin beside the order.

Each half-space has a multiplier that pushes its two items apart before pooling; the smallest pushes that keep all
margins give the nearest scores. One pair in a query is solved by bisection, several in turn until none moves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.learners.glm import Loss

DOUBLINGS = 60
BISECTIONS = 60
ROUNDS = 100
STILL = 1e-9

Bools = NDArray[np.bool_]
Pooling = Callable[[Floats], Floats]  # a predictor -> the link of the scores nearest to it in the order


@dataclass(frozen=True, eq=False)
class Pairs:
    """Preferences of the data: in their query, ``better[p]`` stands above ``worse[p]``."""

    better: Ints
    worse: Ints

    def lift(self, target: Floats) -> Floats:
        """The target with the better item of each pair at least level with the worse."""
        lifted = target.copy()
        for _ in range(len(self.better)):
            low = lifted[self.better] < lifted[self.worse]
            if not low.any():
                break
            np.maximum.at(lifted, self.better[low], lifted[self.worse[low]])
        return lifted


@dataclass(eq=False)
class Margins:
    """Pairs to hold apart, in rounds with at most one of a query, and the push of each."""

    ptr: Ints
    loss: Loss
    margin: float
    rounds: list[tuple[Ints, Ints]]
    pushes: list[Floats] = field(init=False)

    def __post_init__(self) -> None:
        self.pushes = [np.zeros(len(better)) for better, _ in self.rounds]

    @classmethod
    def of(cls, ptr: Ints, order: Ints, loss: Loss, margin: float, pairs: Pairs | None) -> Margins:
        """The two ends of ``order`` in each query, and the pairs."""
        long = np.diff(ptr) > 1
        rounds = [(order[ptr[:-1][long]], order[ptr[1:][long] - 1])]
        if pairs is not None and len(pairs.better):
            query = parents(ptr)[pairs.better]
            by = np.argsort(query, kind="stable")
            turn = np.arange(len(by)) - np.searchsorted(query[by], query[by])
            rounds += [(pairs.better[by[turn == k]], pairs.worse[by[turn == k]]) for k in range(int(turn.max()) + 1)]
        return cls(ptr, loss, margin, rounds)

    def nearest(self, f: Floats, pool: Pooling) -> Floats:
        """The link of the scores nearest to ``f`` that keep the order of ``pool`` and all margins."""
        for _ in range(ROUNDS if len(self.rounds) > 1 else 1):
            before = [push.copy() for push in self.pushes]
            for k in range(len(self.rounds)):
                self.pushes[k] = self._smallest(k, f, pool)
            if all(np.abs(a - b).max(initial=0.0) <= STILL for a, b in zip(before, self.pushes, strict=True)):
                break
        return pool(self._pushed(f))

    def _pushed(self, f: Floats) -> Floats:
        moved = f.copy()
        for (better, worse), push in zip(self.rounds, self.pushes, strict=True):
            np.add.at(moved, better, push)
            np.add.at(moved, worse, -push)
        return moved

    def _short(self, k: int, push: Floats, f: Floats, pool: Pooling) -> Bools:
        """Which pairs of round ``k`` are closer than the margin with this push; gaps grow with their own push."""
        better, worse = self.rounds[k]
        self.pushes[k] = push
        z = self.loss.mean(self.ptr, pool(self._pushed(f)))
        short: Bools = z[better] - z[worse] < self.margin
        return short

    def _smallest(self, k: int, f: Floats, pool: Pooling) -> Floats:
        """The smallest push of each pair of round ``k`` that keeps its margin, the other pushes as they are."""
        low, high = np.zeros(len(self.pushes[k])), np.maximum(self.pushes[k], 1e-3)
        needed = self._short(k, low, f, pool)
        if not needed.any():
            return low
        for _ in range(DOUBLINGS):
            short = needed & self._short(k, np.where(needed, high, 0.0), f, pool)
            if not short.any():
                break
            high = np.where(short, 2 * high, high)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            short = self._short(k, np.where(needed, middle, 0.0), f, pool)
            low, high = np.where(short, middle, low), np.where(short, high, middle)
            if (high - low <= 1e-12 * np.maximum(high, 1.0)).all():
                break
        return np.where(needed, high, 0.0)
