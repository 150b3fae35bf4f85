"""The coset-permutation distance based stagewise model with expert weights from labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import warn_not_converged
from juryrank.kernels.cps import DISTANCES, stage_costs
from juryrank.learning.gains import slot_gains
from juryrank.learning.labelled import nothing_to_learn
from juryrank.learning.linear_algebra import cross_product, product
from juryrank.methods.pairwise.coset import Coset, absent_place
from juryrank.params import param

MOST_LEVELS = 10  # of the labels that are learned from; a full ranking has as many levels as items


@dataclass(kw_only=True)
class ThetaCPS(Coset):
    r"""Coset-permutation stagewise model with the expert weights of highest likelihood.

    In every labelled query the items of the highest label come first, then those of the next, and so on; tied items
    are all selected at the stage where their level begins (Breslow), and the lowest level, whose items come last
    whatever the weights, is not used. The likelihood is concave; ``prior`` regularises the weights towards 0. An
    unknown expert has the mean weight. The rest is as in ``cps``.

    >>> from juryrank import from_dicts
    >>> runs = {"good": {"q": ["a", "b", "c"]}, "poor": {"q": ["c", "b", "a"]}}
    >>> model = ThetaCPS().fit(from_dicts(runs, labels={"q": {"a": 2, "b": 1, "c": 0}}))
    >>> bool(model.theta_[0] > 0), float(model.theta_[1])
    (True, 0.0)

    Qin, Geng, Liu, NIPS 2010.
    """

    name = "theta-cps"
    supervised = True
    prior: float = param(1e-3, "regularisation of the weights towards 0, per training choice", above=0)
    tol: float = param(1e-8, "stop when no component of the gradient, per choice, is larger than this", above=0)
    max_iter: int = param(500, "maximum number of steps", at_least=1)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        from scipy.optimize import minimize

        self.experts_ = list(data.experts)
        choices = list(self._choices(data))
        if not choices:
            raise nothing_to_learn(self.name, data)
        unit = np.sqrt(np.mean([cost.var() for cost, _ in choices]))
        if not unit > 0:
            self.theta_ = np.ones(len(self.experts_))
            return
        likelihood = Likelihood([(cost / unit, n) for cost, n in choices], self.prior)
        start = np.full(len(self.experts_), 1.0 / len(self.experts_))
        result = minimize(
            likelihood, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start),
            options={"maxiter": self.max_iter, "gtol": self.tol, "ftol": 0.0},
        )  # fmt: skip
        if result.nit >= self.max_iter:
            warn_not_converged(self.name, "the weights", self.max_iter, "raise max_iter, tol or prior")
        self.theta_ = result.x / unit

    def _choices(self, data: Dataset) -> Iterator[tuple[Floats, int]]:
        """For each level of each labelled query, the cost of its items, then of those below, in each expert's lists."""
        r, gains = data.rankings, slot_gains(data)
        rank_absent, weight = absent_place(r, self.missing), self.list_weights(r)
        for q in range(len(r)):
            lo, hi = r.slot_ptr[q], r.slot_ptr[q + 1]
            lists = np.arange(r.list_ptr[q], r.list_ptr[q + 1])
            place = np.repeat(rank_absent[lists][:, None], hi - lo, axis=1)
            for row, m in enumerate(lists):
                at = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
                place[row, r.entry_slot[at] - lo] = r.entry_place[at]
            by_expert = np.zeros((len(lists), len(r.experts)))
            by_expert[np.arange(len(lists)), r.list_expert[lists]] = weight[lists]
            for left, k, n in levels(gains[lo:hi]):
                cost = np.empty((len(left), len(lists)))
                stage_costs(DISTANCES[self.distance], place, left, k, cost)
                yield product(cost, by_expert), n


def levels(gain: Floats) -> Iterator[tuple[Ints, int, int]]:
    """The items left when a level begins, its own first; the stage at which it does; how many items it has."""
    judged = np.flatnonzero(~np.isnan(gain))
    order = judged[np.argsort(-gain[judged], kind="stable")]
    starts = np.flatnonzero(np.diff(gain[order], prepend=np.inf))
    for begin, end in pairwise(starts[: MOST_LEVELS + 1]):
        yield order[begin:], int(begin) + 1, int(end - begin)


class Likelihood:
    """Minus the penalised log-likelihood of the choices, per choice, as a function of the weights; and its gradient."""

    def __init__(self, choices: list[tuple[Floats, int]], prior: float) -> None:
        self.costs = np.concatenate([cost for cost, _ in choices])
        self.starts = np.append(0, np.cumsum([len(cost) for cost, _ in choices]))[:-1]
        self.sizes = np.diff(np.append(self.starts, len(self.costs)))
        self.taken = np.array([n for _, n in choices], np.float64)
        self.chosen = np.sum([cost[:n].sum(0) for cost, n in choices], axis=0)
        self.prior = prior

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        energy = -product(self.costs, theta)
        high = np.maximum.reduceat(energy, self.starts)
        share = np.exp(energy - np.repeat(high, self.sizes))
        whole = np.add.reduceat(share, self.starts)
        log_z = high + np.log(whole)
        weight = share * np.repeat(self.taken / whole, self.sizes)
        n = self.taken.sum()
        value = (-(self.chosen @ theta) - (self.taken * log_z).sum()) / n - 0.5 * self.prior * theta @ theta
        grad = (cross_product(self.costs, weight) - self.chosen) / n - self.prior * theta
        return -value, -grad
