"""Supervised Borda fuse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import warn_not_converged
from juryrank.kernels.chains import pair_loss
from juryrank.learning.labelled import LabelledQueries, unjudged_param
from juryrank.methods.learned._base import WeightedBorda
from juryrank.methods.lists import sums_at
from juryrank.params import param

LARGE = 1e6  # a point with a larger coordinate is shifted before it is projected
ROUNDING = 1e-15  # of the loss


@dataclass(kw_only=True)
class SupervisedBorda(WeightedBorda):
    """Supervised Borda: the Borda count with the expert weights that fit the labelled pairs best.

    The weights are non-negative, sum to 1 and minimise the squared hinge loss over pairs of items with different
    labels, over all training queries; places are shares of the query's items. The problem is convex and is solved to
    its optimum. An unknown expert has the mean weight.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = SupervisedBorda().fit(from_dicts(lists, labels={"q": {"a": 1, "c": 0}}))
    >>> dict(zip(model.experts_, model.weights_.round(2).tolist()))
    {'bad': 0.0, 'good': 1.0}

    Liu, Liu, Qin, Ma, Li, WWW 2007.
    """

    name = "supervised-borda"
    margin: float = param(1.0, "margin of the hinge loss, as a share of places", at_least=0)
    unjudged: str = unjudged_param()
    tol: float = param(1e-8, "stop when a step changes the weights by less than this", above=0)
    max_iter: int = param(5000, "maximum number of steps", at_least=1)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        queries = LabelledQueries.of(data, self.unjudged).drop_zero_weight_lists().require(self.name, data)
        self.experts_ = queries.experts
        objective = Objective(queries, self.experts_, self.margin)
        self.weights_, steps = minimise(objective, self.tol, self.max_iter)
        if steps > self.max_iter:
            warn_not_converged(self.name, "the weights", self.max_iter)


class Objective:
    """Mean squared hinge over the labelled pairs of each query, as a function of expert weights."""

    def __init__(self, queries: LabelledQueries, experts: list[str], margin: float) -> None:
        r = self.rankings = queries.rankings
        self.gains, self.margin, self.n_experts = queries.known_gains, margin, len(experts)
        items = np.repeat(r.query_size[r.list_query], r.list_size)
        self.points = (items - r.entry_place) / items * np.repeat(r.list_weight, r.list_size)
        self.place = np.repeat(queries.list_place(experts), r.list_size)

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The loss and its derivative."""
        r = self.rankings
        scores = sums_at(r.entry_slot, self.points * weights[self.place], r.n_slots)
        loss, slope = np.empty(len(r)), np.empty(r.n_slots)
        pair_loss(r.slot_ptr, self.gains, scores, self.margin, loss, slope)
        by_weight = sums_at(self.place, self.points * slope[r.entry_slot], self.n_experts)
        return float(loss.mean()), by_weight / len(r)


def minimise(objective: Objective, tol: float, max_iter: int) -> tuple[Floats, int]:
    """Weights on the simplex by accelerated projected gradient, with restarts, and the steps it took."""
    at = ahead = np.full(objective.n_experts, 1.0 / objective.n_experts)
    value, slope = objective(ahead)
    momentum, size = 1.0, 1.0 / (np.ptp(slope) or 1.0)  # a first step across the simplex, halved where that is too far
    for step in range(1, max_iter + 1):
        new = project_to_simplex(ahead - size * slope)
        move = new - ahead
        while objective(new)[0] > value + slope @ move + (move @ move) / (2 * size) + ROUNDING * value:
            size /= 2
            new = project_to_simplex(ahead - size * slope)
            move = new - ahead
        if np.abs(new - at).max() < tol and np.abs(move).max() < tol:
            return new, step
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        if (ahead - new) @ (new - at) > 0:  # going back: forget the momentum
            grown, ahead = 1.0, new
        else:
            ahead = new + (momentum - 1) / grown * (new - at)
        at, momentum = new, grown
        value, slope = objective(ahead)
    return at, max_iter + 1


def project_to_simplex(point: Floats) -> Floats:
    """The nearest weights that are not negative and sum to 1 (Duchi et al., ICML 2008)."""
    if np.abs(point).max() > LARGE:  # a shift changes nothing but the rounding, in which the sum of 1 would be lost
        point = point - point.max()
    down = np.sort(point)[::-1]
    above = (np.cumsum(down) - 1) / np.arange(1, len(down) + 1)
    last = np.flatnonzero(down > above)[-1]
    near: Floats = np.maximum(point - above[last], 0.0)
    return near
