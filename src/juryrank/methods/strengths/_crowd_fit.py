r"""The fit of crowd-bt in time proportional to entries, for long lists, whose comparisons are many times their entries.

With log odds ρ of the reliability of an expert and strengths x, the logarithm of the probability that the expert puts i
above j is s(ρ + x_i - x_j) - s(ρ) - s(x_i - x_j), where s(z) = log(1 + exp(z)). A smooth function of x_i - x_j is a sum
of products: its values at pairs of Chebyshev points, times polynomials of x_i and of x_j. So the sum over all j below i
needs only running sums of these polynomials, not the pairs. The number of points is chosen by the range of the
strengths: s is analytic in a strip of width π around the real line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints

ACCURACY = 1e-9  # of the interpolation
MOST_POINTS = 100  # with more, the pairs themselves are as fast
NEGLIGIBLE = 1e-4  # slope in units of standard deviations: of strengths, an error of a ten thousandth of them
ALLOWED = 100  # times that slope, of what counts as a maximum
MANY, LONG = 20_000_000, 100  # comparisons, and comparisons per entry, from which this is faster than all pairs
MAX_STEPS, MOST_ROUNDS = 300, 100
BLOCK = 200_000  # multiplications
EXACT = 1e-10  # change of log odds
LARGEST = 30.0  # of the log odds of a reliability


def has_long_lists(rankings: Rankings) -> bool:
    """Whether the comparisons are so many, and lists so long, that sums over entries are faster."""
    comparisons = int((rankings.list_size * (rankings.list_size - 1) // 2).sum())
    return comparisons >= MANY and comparisons >= LONG * rankings.n_entries


@dataclass(frozen=True, eq=False)
class LongLists:
    """Lists with weights, and how strengths and reliabilities are regularised."""

    rankings: Rankings
    weight: Floats  # [n_lists]
    prior: float
    trust: float
    evidence: float
    tol: float = NEGLIGIBLE

    @cached_property
    def groups(self) -> tuple[Ints, Ints] | None:
        """For each entry, where the entries tied with it begin and end in its list; None without ties."""
        r = self.rankings
        size = r.list_size
        first = np.repeat(r.entry_ptr[:-1], size)
        place = np.arange(r.n_entries)
        begins = np.concatenate([[True], (r.entry_rank[1:] != r.entry_rank[:-1]) | (first[1:] != first[:-1])])
        if begins.all():
            return None
        start = place[begins][np.cumsum(begins) - 1]
        end = np.append(place[begins][1:], len(place))[np.cumsum(begins) - 1]
        return start - first, end - first

    @cached_property
    def compared(self) -> Floats:
        """[n_experts]: the comparisons of each expert."""
        r = self.rankings
        pairs = self.weight * (r.list_size * (r.list_size - 1) / 2)
        return np.bincount(r.list_expert, pairs, minlength=len(r.experts)).astype(np.float64)

    def spread(self) -> Floats:
        """Rough standard deviations of strengths, by which steps are scaled."""
        r, pull = self.rankings, (2 * self.trust - 1) ** 2 / 4
        games = np.repeat(self.weight * np.maximum(r.list_size - 1, 0), r.list_size)
        scale: Floats = 1 / np.sqrt(self.prior + pull * np.bincount(r.entry_slot, games, minlength=r.n_slots))
        return scale

    def evaluate(self, x: Floats, odds: Floats, *, improve: bool) -> tuple[float, Floats, Floats] | None:
        """The log posterior, its slope by strength, and log odds; None if too many points would be needed.

        With ``improve``, the log odds are the best for these strengths, so that the slope is that of the best value.
        """
        points = chebyshev_points(float(x.min()), float(x.max()))
        if points is None:
            return None
        basis, between = lagrange(points, x), points[:, None] - points
        leads = chebyshev_points(float(between.min()), float(between.max()), most=4 * MOST_POINTS)
        assert leads is not None
        counts = self._pairs(basis).reshape(len(odds), -1) @ lagrange(leads, between.ravel())
        if improve:
            odds = self._best_odds(counts, leads, odds)
        gain = np.logaddexp(0.0, leads + odds[:, None]) - np.logaddexp(0.0, leads)
        certain = self.compared + self.evidence
        value = float((gain * counts).sum()) - 0.5 * self.prior * float(x @ x)
        value += self.evidence * self.trust * float(odds.sum()) - float(certain @ np.logaddexp(0.0, odds))
        return value, self._slope(basis, between, odds) - self.prior * x, odds

    def _pairs(self, basis: Floats) -> Floats:
        """[n_experts, points, points]: the sum over the comparisons of an expert of products of the polynomials."""
        r = self.rankings
        pairs = np.zeros((len(r.experts), basis.shape[1], basis.shape[1]))
        for m, (expert, weight) in enumerate(zip(r.list_expert.tolist(), self.weight.tolist(), strict=True)):
            a, b = int(r.entry_ptr[m]), int(r.entry_ptr[m + 1])
            own = basis[r.entry_slot[a:b]]
            pairs[expert] += weight * gram(self._above(own, a, b), own)
        return pairs

    def _slope(self, basis: Floats, between: Floats, odds: Floats) -> Floats:
        """[n_slots]: the slope of the likelihood."""
        r, slope, chance = self.rankings, np.zeros(self.rankings.n_entries), logistic(between)
        for m, (expert, weight) in enumerate(zip(r.list_expert.tolist(), self.weight.tolist(), strict=True)):
            a, b = int(r.entry_ptr[m]), int(r.entry_ptr[m + 1])
            own = basis[r.entry_slot[a:b]]
            above, pull = self._above(own, a, b), logistic(between + odds[expert]) - chance
            won = np.einsum("ij,ij->i", product(own, pull), own.sum(0) - own - above)
            slope[a:b] = weight * (won - np.einsum("ij,ij->i", product(above, pull), own))
        by_item: Floats = np.bincount(r.entry_slot, slope, minlength=r.n_slots).astype(np.float64)
        return by_item

    def _best_odds(self, counts: Floats, leads: Floats, odds: Floats) -> Floats:
        """The best log odds of each expert, of which there is one: by Newton's method between bounds."""
        low, high = np.full(len(odds), -LARGEST), np.full(len(odds), LARGEST)
        certain = self.compared + self.evidence
        for _ in range(MOST_ROUNDS):
            right, chance = logistic(leads + odds[:, None]), logistic(odds)
            slope = (right * counts).sum(1) + self.evidence * self.trust - certain * chance
            curve = certain * chance * (1 - chance) - (right * (1 - right) * counts).sum(1)
            low, high = np.where(slope > 0, odds, low), np.where(slope > 0, high, odds)
            step = slope / np.where(curve > 0, curve, np.inf)
            new = odds + step
            inside = (new > low) & (new < high) & (curve > 0)
            new = np.where(inside, new, (low + high) / 2)
            odds, change = new, np.abs(new - odds)
            if float(change.max(initial=0.0)) < EXACT:
                break
        return odds

    def _above(self, own: Floats, a: int, b: int) -> Floats:
        """For each entry of a list, the sum of the rows of the entries above it, and half of those tied with it."""
        sums = np.zeros((b - a + 1, own.shape[1]))
        np.cumsum(own, axis=0, out=sums[1:])
        if self.groups is None:
            return sums[:-1]
        start, end = self.groups[0][a:b], self.groups[1][a:b]
        half: Floats = 0.5 * (sums[start] + sums[end] - own)
        return half

    def maximise(self, x: Floats, odds: Floats, *, reliabilities: bool) -> tuple[Floats, Floats] | None:
        """Strengths, and with ``reliabilities`` also log odds, of the highest posterior; None if it is not found."""
        from scipy.optimize import minimize

        scale, best_odds = self.spread(), [odds]

        def cost(z: Floats) -> tuple[float, Floats]:
            found = self.evaluate(z * scale, best_odds[0], improve=reliabilities)
            if found is None:
                raise TooWideError
            value, slope, best_odds[0] = found
            return -value, -slope * scale

        limits = {"maxiter": MAX_STEPS, "gtol": self.tol, "ftol": 0.0, "maxcor": 20, "maxls": 30}
        try:
            best = minimize(cost, x / scale, jac=True, method="L-BFGS-B", options=limits)
            if float(np.abs(best.jac).max()) > ALLOWED * self.tol:
                return None
            cost(best.x)  # for the log odds of the best strengths
        except TooWideError:
            return None
        return best.x * scale, best_odds[0]

    def reliabilities(self) -> Floats | None:
        """[n_experts]: the reliabilities of the highest posterior; None if it is not found."""
        trust = np.full(len(self.rankings.experts), np.log(self.trust / (1 - self.trust)))
        found = self.maximise(np.zeros(self.rankings.n_slots), trust, reliabilities=True)
        return None if found is None else logistic(found[1])


class TooWideError(Exception):
    """The strengths have too wide a range to be interpolated."""


def product(rows: Floats, matrix: Floats) -> Floats:
    """The matrix product, in blocks so small that BLAS uses one thread: others only wait for each other."""
    height = max(BLOCK // matrix.size, 1)
    whole = len(rows) // height * height
    blocks = np.matmul(rows[:whole].reshape(-1, height, rows.shape[1]), matrix)
    return np.concatenate([blocks.reshape(whole, matrix.shape[1]), rows[whole:] @ matrix])


def gram(left: Floats, right: Floats) -> Floats:
    """The product of the transpose of one matrix with another, in blocks as ``product``."""
    n = left.shape[1]
    height = max(BLOCK // (n * n), 1)
    whole = len(left) // height * height
    blocks = left[:whole].reshape(-1, height, n).transpose(0, 2, 1), right[:whole].reshape(-1, height, n)
    sums: Floats = np.matmul(*blocks).sum(0) + left[whole:].T @ right[whole:]
    return sums


def logistic(z: Floats) -> Floats:
    """1 / (1 + exp(-z)), without overflow."""
    chance: Floats = 0.5 + 0.5 * np.tanh(0.5 * z)
    return chance


def chebyshev_points(low: float, high: float, most: int = MOST_POINTS) -> Floats | None:
    """Points between which functions of differences are interpolated to ``ACCURACY``; None if too many are needed."""
    half = max((high - low) / 2, 1e-3) * (1 + 1e-9)
    bend = np.pi / half
    n = int(np.ceil(-np.log(ACCURACY) / np.log(bend + np.sqrt(bend * bend + 1)))) + 2
    if n > most:
        return None
    points: Floats = (low + high) / 2 + half * np.cos(np.pi * (np.arange(n) + 0.5) / n)
    return points


def lagrange(points: Floats, x: Floats) -> Floats:
    """[len(x), len(points)]: the polynomials that are 1 at one point and 0 at the others, at x (barycentric)."""
    n = len(points)
    weight = (-1.0) ** np.arange(n) * np.sin(np.pi * (np.arange(n) + 0.5) / n)
    apart = x[:, None] - points
    exact = np.abs(apart) < 1e-14 * (1 + np.abs(points))
    parts = weight / np.where(exact, 1.0, apart)
    values = parts / parts.sum(1, keepdims=True)
    hit = exact.any(1)
    values[hit] = exact[hit]
    out: Floats = values
    return out
