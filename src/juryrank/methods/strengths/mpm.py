"""The multinomial preference model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import warn_not_converged
from juryrank.kernels.mpm import log_normalisers
from juryrank.kernels.ragged import parents
from juryrank.methods.lists import sums_at
from juryrank.methods.strengths.multinomial import Counts, Multinomial, adherences
from juryrank.params import param

LEARNING_STEPS = 200
LEARNING_TOL = 1e-7  # of the gradient, per count


@dataclass(kw_only=True)
class MPM(Multinomial):
    r"""Multinomial preference model: each count is a draw from one distribution over all pairs of the query's items.

    :math:`P_n(i \succ j) \propto \exp(\theta_n (s_i - s_j) / (\gamma_i + \gamma_j))`, where the list of expert n gives
    the pair (i, j) a count as set by ``counts``; the score is :math:`s_i`. All pairs share one unit of probability, so
    an item needs much evidence to reach the top, not a single win. Ties and, with ``ignore``, unranked items have count
    0: an item that no list ranks gets a score in the middle. The prior keeps scores finite. With equal variances
    (:math:`\gamma = 1/2`) the order is that of :math:`\sum_n \theta_n \sum_j (C_n(i,j) - C_n(j,i))`; with ``variances``
    the order can differ. ``Consensus.details`` has the ``steps`` of each query and the mean ``variance`` of its items.
    Adherences :math:`\theta_n` in [0, 1] are 1, or learned by ``fit`` without labels (``theta="learned"``), under equal
    variances and shared by all queries; an expert that was not in the training data gets their mean.

    >>> from juryrank import from_orders
    >>> MPM().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Volkovs, Zemel, WWW 2012.
    """

    name = "mpm"
    theta: str = param(
        "one", "adherence of experts: 1 for all, or learned without labels from all queries", choices=("one", "learned")
    )

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.experts_, self.theta_ = [], np.empty(0)
        if self.theta == "learned":
            r = self._drop_zero_weights(data.rankings)
            self.experts_, self.theta_ = list(r.experts), self._fit_theta(r)

    def _fit_theta(self, r: Rankings) -> Floats:
        """Adherences that maximise the likelihood of all queries together, each with its best scores."""
        from scipy.optimize import minimize
        from scipy.special import expit

        profile = Profile(self, r)
        result = minimize(
            profile, np.zeros(len(r.experts)), jac=True, method="L-BFGS-B",
            options={"maxiter": LEARNING_STEPS, "gtol": LEARNING_TOL, "ftol": 0.0},
        )  # fmt: skip
        if result.nit >= LEARNING_STEPS:
            warn_not_converged(self.name, "the adherences", LEARNING_STEPS, "raise prior")
        theta: Floats = expit(result.x)
        return theta


class Profile:
    """Minus the penalised log-likelihood per count as a function of the logits of the adherences, and its gradient.

    The scores are refitted for each value, starting from the last ones, so they add nothing to the gradient.
    """

    def __init__(self, model: MPM, rankings: Rankings) -> None:
        self.model, self.rankings = model, rankings
        self.counts: Counts = model._counts(rankings)
        self.weight = model.list_weights(rankings)
        self.scores = np.zeros(rankings.n_slots)
        by_list = self.weight * self.counts.total
        by_query = np.bincount(rankings.list_query, by_list, minlength=len(rankings))
        self.penalty = model.prior * np.repeat(by_query / np.maximum(rankings.query_size, 1), rankings.query_size)
        self.all_counts = max(float(by_list.sum()), 1.0)

    def __call__(self, logit: Floats) -> tuple[float, Floats]:
        from scipy.special import expit

        r, counts, s = self.rankings, self.counts, self.scores
        by_expert = expit(logit)
        theta = by_expert[r.list_expert]
        groups = adherences(r, theta, self.weight * counts.total)
        self.model._fit_scores(r, counts, groups, self.weight * theta, s)
        log_z, slope = np.zeros(len(groups.theta)), np.zeros(len(groups.theta))
        log_normalisers(r.slot_ptr, groups.ptr, groups.theta, s, log_z, slope)
        won = self.weight * self._won()
        pull = self.model.prior * self.all_counts / max(len(logit), 1)
        value = theta @ won - groups.total @ log_z - 0.5 * (self.penalty @ s**2 + pull * logit @ logit)
        by_list = won - self.weight * counts.total * slope[groups.of_list]
        by_theta = np.bincount(r.list_expert, by_list, minlength=len(logit))
        grad = by_theta * by_expert * (1 - by_expert) - pull * logit
        return -value / self.all_counts, -grad / self.all_counts

    def _won(self) -> Floats:
        """Σ C(i, j)(s_i - s_j) of each list."""
        r, s = self.rankings, self.scores
        of_entry = parents(r.entry_ptr)
        listed = sums_at(of_entry, s[r.entry_slot], r.n_lists)
        own = sums_at(of_entry, s[r.entry_slot] * self.counts.entry_net, r.n_lists)
        sums = sums_at(parents(r.slot_ptr), s, len(r))
        won: Floats = own + self.counts.list_net * (sums[r.list_query] - listed)
        return won
