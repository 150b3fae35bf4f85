"""Weights and rank constant of the RRF whose scores are closest to a model's, by R² within queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize

from juryrank.data import Consensus
from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.kernels.gains import mean_places
from juryrank.kernels.ragged import parents

DEEPEST = 1000  # items further down the model's order do not count
HALF_WEIGHT_AT = 50.0  # the place in the model's order where an item counts half as much as the first
START = 60.0  # the rank constant of plain RRF, where the search begins
CONSTANTS = (1.0, 10000.0)  # the range that engines accept
NEGLIGIBLE = 1e-4  # share of the largest weight below which a weight is set to 0
Points = Callable[[Floats, Floats, float], tuple[Floats, Floats, Floats]]


def multiply_points(weight: Floats, rank: Floats, constant: float) -> tuple[Floats, Floats, Floats]:
    """w / (c + rank), its derivative by the weight, and by the logarithm of the constant."""
    unit = 1.0 / (constant + rank)
    return weight * unit, unit, -constant * weight * unit**2


def divide_ranks(weight: Floats, rank: Floats, constant: float) -> tuple[Floats, Floats, Floats]:
    """1 / (rank / w + k - 1), as in Qdrant, and the same derivatives; the constant is fixed."""
    reach = rank + weight * (constant - 1.0)
    return weight / reach, rank / reach**2, np.zeros_like(reach)


class RSquared:
    """R² within queries: the share of the variation of a model's scores that another sum of points explains."""

    def __init__(self, target: Consensus) -> None:
        r = target.rankings
        place = np.empty(r.n_slots)
        mean_places(r.slot_ptr, target.scores, place)
        self.rankings, self.query = r, parents(r.slot_ptr)
        self.weight = np.where(place <= DEEPEST, HALF_WEIGHT_AT / (HALF_WEIGHT_AT + place), 0.0)
        self.aim = self._centred(target.scores)
        spread = np.bincount(self.query, self.weight * self.aim**2, minlength=len(r))
        if not spread.any():
            raise DataError("the model gives all items of a query the same score, so no weights can be fitted to it")
        # A query counts by the root of its variation, as in the fit of jury.
        self.weight = self.weight * np.divide(1.0, np.sqrt(spread), out=np.zeros(len(r)), where=spread > 0)[self.query]
        self.entry = np.flatnonzero(self.weight[r.entry_slot] > 0)
        self.slot, self.rank = r.entry_slot[self.entry], r.entry_rank[self.entry]
        self.expert = np.repeat(r.list_expert, r.list_size)[self.entry]
        self.times = np.repeat(r.list_weight, r.list_size)[self.entry]

    def _centred(self, scores: Floats) -> Floats:
        r = self.rankings
        total = np.bincount(self.query, self.weight, minlength=len(r))
        mean = np.bincount(self.query, self.weight * scores, minlength=len(r)) / np.where(total > 0, total, 1.0)
        centred: Floats = scores - mean[self.query]
        return centred

    def __call__(self, points: Floats) -> tuple[float, Floats]:
        """R² of a sum of points with the best scale, and its derivative by the points of each entry."""
        total: Floats = np.bincount(self.slot, self.times * points, minlength=self.rankings.n_slots).astype(np.float64)
        given = self._centred(total)
        own, both = (self.weight * given) @ given, (self.weight * given) @ self.aim
        whole = (self.weight * self.aim) @ self.aim
        if not own > 0:
            return 0.0, np.zeros(len(points))
        slope = self.weight * (2 * both / (own * whole) * self.aim - 2 * both**2 / (own**2 * whole) * given)
        return float(both**2 / (own * whole)), self.times * slope[self.slot]


def fit_weights(target: Consensus, *, division: bool, among: Floats | None = None) -> tuple[Floats, int]:
    """Weights by expert and the rank constant; with ``division`` weights divide ranks, as in Qdrant.

    Experts that are 0 in ``among`` have weight 0.
    """
    r_squared = RSquared(target)
    n = len(target.rankings.experts)
    start = np.append(np.ones(n) if among is None else among, np.log(START))
    found = _maximise(r_squared, multiply_points, start, fixed=False)
    constant = round(np.exp(found[-1]))
    weights = _maximise(r_squared, multiply_points, np.append(found[:-1], np.log(constant)), fixed=True)[:-1]
    weights = np.where(np.bincount(target.rankings.list_expert, minlength=n) > 0, weights, 0.0)
    if not weights.max(initial=0.0) > 0:
        raise DataError("no expert has a positive weight in this model, so weighted RRF cannot approximate it")
    weights = np.where(weights < NEGLIGIBLE * weights.max(), 0.0, weights / weights.max())
    if division:
        start = np.append(weights, np.log(constant + 1.0))
        return _maximise(r_squared, divide_ranks, start, fixed=True)[:-1], constant + 1
    return weights, constant


def best_experts(target: Consensus, weights: Floats, constant: int, most: int) -> tuple[list[int], float, float]:
    """The experts that explain most of the scores where only ``most`` may have a weight; their R², and that of all.

    Experts are left out one after the other: always that without which R² stays largest while the weights of the others
    stay as they are. After each, the weights of the others are fitted again.
    """
    r_squared = RSquared(target)

    def explained(at: Floats) -> float:
        return r_squared(multiply_points(at[r_squared.expert], r_squared.rank, constant)[0])[0]

    whole = explained(weights)
    while (weights > 0).sum() > most:
        fewer = [np.where(np.arange(len(weights)) == n, 0.0, weights) for n in np.flatnonzero(weights)]
        start = np.append(max(fewer, key=explained), np.log(constant))
        weights = _maximise(r_squared, multiply_points, start, fixed=True)[:-1]
    return np.flatnonzero(weights).tolist(), explained(weights), whole


def _maximise(r_squared: RSquared, points: Points, start: Floats, *, fixed: bool) -> Floats:
    """The weights and the logarithm of the constant with the largest R² near the start; a weight of 0 stays 0."""
    n = len(start) - 1
    free = start[:-1] > 0

    def negative(at: Floats) -> tuple[float, Floats]:
        given, by_weight, by_constant = points(at[:-1][r_squared.expert], r_squared.rank, float(np.exp(at[-1])))
        value, slope = r_squared(given)
        steps = np.bincount(r_squared.expert, slope * by_weight, minlength=n)
        return -value, -np.append(steps, 0.0 if fixed else slope @ by_constant)

    ends = (start[-1], start[-1]) if fixed else tuple(np.log(CONSTANTS))
    bounds = [*((0.0, 100.0 * has) for has in free), ends]
    best = minimize(negative, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200})
    return np.asarray(best.x, np.float64)
