"""The linear ordering problem by linear programs, with a proof, for groups without a simpler proof.

Variables x[i, j] in {0, 1} for i < j say that i comes before j. Orders are the 0/1 points without three-cycles; the
constraints that forbid them, 0 <= x[i, j] + x[j, k] - x[i, k] <= 1, are added only where a solution breaks one. Where
the linear program has no whole solution, it is split by which of two items comes first.

A proof does not rely on the tolerances of the solver. For any prices p >= 0 of the constraints A x <= b, no order gains
more than p b + the sum of max(0, gain - p A) over the pairs; this bound is computed here, from the prices that the
solver found.
"""

from __future__ import annotations

from math import fsum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.linear_ordering import insertion_search, round_to_units

Flags = NDArray[np.bool_]
Cut = tuple[int, int, int, int]  # i < j < k and the side that was broken: 0 or 1

ROUNDING = 2.0**-52  # of one operation, relative to its result
WHOLE = 1e-6  # how near to 0 or 1 the solver brings a whole number
CUTS_PER_ROUND = 20  # per item; more cuts slow each round down, fewer need more rounds
FINEST = 1e-8  # gains smaller than this beside the largest are below the tolerances of the solver


def order_by_programs(margin: Floats, start: Ints, noise: float) -> tuple[Ints, bool]:
    """As ``best_order`` of ``_groups``, by linear programs alone."""
    margin, step = round_to_units(margin, noise)
    return _Search(margin, step, start).run()


class _Bound(NamedTuple):
    """The solution of a linear program, and what no order can exceed."""

    before: Floats  # [n, n]
    bound: float


class _Search:
    """Branch and bound over linear programs that share their cuts."""

    def __init__(self, margin: Floats, step: float, start: Ints) -> None:
        n = len(margin)
        self.margin = margin
        self.upper = np.triu_indices(n, 1)
        self.number = np.zeros((n, n), np.int64)
        self.number[self.upper] = np.arange(len(self.upper[0]))
        self.gain = margin[self.upper]
        size = np.abs(self.gain[self.gain != 0])
        self.unit = max(size.min(), FINEST * size.max())
        self.slack = 4 * n * ROUNDING * float(np.abs(self.gain).sum())
        self.enough = max(self.slack, step - self.slack)
        self.best, self.value = start, self._value(start)
        self.cuts: dict[Cut, None] = {}  # in the order in which they were found

    def _value(self, order: Ints) -> float:
        place = np.argsort(order)
        return fsum(self.gain[place[self.upper[0]] < place[self.upper[1]]])

    def offer(self, order: Ints) -> None:
        """Keep an order that is better than the best so far."""
        value = self._value(order)
        if value > self.value + self.slack:
            self.best, self.value = order, value

    def run(self) -> tuple[Ints, bool]:
        """The best order, and whether no other can be better."""
        proven = True
        above = np.zeros(self.margin.shape, bool)  # pairs that are decided, with all that follows from them
        ahead = [above]
        while ahead:
            above = ahead.pop()
            before = self._relaxed(above)
            if before is None:
                continue
            i, j = self.upper
            unsure = np.abs(before[i, j] - 0.5)
            pair = int(unsure.argmin())
            if unsure[pair] >= 0.5 - WHOLE:
                proven = False  # whole, but the bound does not say that it is best
                continue
            first, second = int(i[pair]), int(j[pair])
            if before[first, second] > 0.5:
                first, second = second, first
            ahead += [_decided(above, first, second), _decided(above, second, first)]
        return self.best, proven

    def _relaxed(self, above: Flags) -> Floats | None:
        """The solution of the linear program with these pairs decided; None where no order in it can be better."""
        while True:
            before, bound = self._solve(above)
            if bound <= self.value + self.enough:
                return None
            order = np.argsort(-before.sum(1), kind="stable")
            insertion_search(self.margin, order, 0.0)
            self.offer(order)
            if bound <= self.value + self.enough:
                return None
            known = len(self.cuts)
            self.cuts |= dict.fromkeys(_broken_triangles(before, CUTS_PER_ROUND * len(before)))
            if len(self.cuts) == known:
                return before

    def _solve(self, above: Flags) -> _Bound:
        """Without cuts, and where the solver fails, every pair as its margin says."""
        i, j = self.upper
        least, most = above[i, j].astype(float), 1.0 - above[j, i]
        x = np.where(self.gain > 0, most, least)
        rest, fixed = self.gain, 0.0
        if self.cuts:
            matrix, limit = self._constraints()
            answer = linprog(
                -self.gain / self.unit, matrix, limit, bounds=np.stack([least, most], 1), method="highs-ds"
            )
            if answer.x is not None:
                x, price = answer.x, np.maximum(-answer.ineqlin.marginals, 0.0) * self.unit
                rest, fixed = self.gain - matrix.T @ price, fsum(price * limit)
        bound = fsum((fixed, *(rest * np.where(rest > 0, most, least))))
        before = np.zeros(self.margin.shape)
        before[i, j], before[j, i] = x, 1.0 - x
        return _Bound(before, bound)

    def _constraints(self) -> tuple[csr_array, Floats]:
        """Cuts as rows of A x <= b: x[i, j] + x[j, k] - x[i, k] <= 1, or its negative <= 0."""
        cut = np.array(list(self.cuts))
        columns = self.number[cut[:, [0, 1, 0]], cut[:, [1, 2, 2]]]
        signs = np.array([1.0, 1.0, -1.0]) * np.where(cut[:, 3:] == 1, 1.0, -1.0)
        rows = np.repeat(np.arange(len(cut)), 3)
        return csr_array((signs.ravel(), (rows, columns.ravel())), shape=(len(cut), len(self.gain))), 1.0 * cut[:, 3]


def _decided(above: Flags, first: int, second: int) -> Flags:
    """The decided pairs with one more, and all that follows."""
    over, under = above[:, first].copy(), above[second].copy()
    over[first] = under[second] = True
    decided: Flags = above | np.outer(over, under)
    return decided


def _broken_triangles(before: Floats, most: int) -> list[Cut]:
    """Triples i < j < k with before(i,j) + before(j,k) - before(i,k) below 0 or above 1, worst first."""
    n = len(before)
    found: list[tuple[float, int, int, int, int]] = []
    for i in range(n - 2):
        total = before[i, i + 1 :, None] + before[i + 1 :, i + 1 :] - before[i, None, i + 1 :]
        for side, excess in enumerate((-total, total - 1.0)):
            j, k = np.nonzero(np.triu(excess, 1) > WHOLE)
            triples = ([i] * len(j), (j + i + 1).tolist(), (k + i + 1).tolist(), [side] * len(j))
            found.extend(zip(excess[j, k].tolist(), *triples, strict=True))
    found.sort(key=lambda t: (-t[0], t[1:]))
    return [cut[1:] for cut in found[:most]]
