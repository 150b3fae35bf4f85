"""The multinomial preference model with adherences from labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import warn_about_data, warn_not_converged
from juryrank.kernels.chains import pair_loss
from juryrank.kernels.mpm import agreements
from juryrank.kernels.ragged import parents
from juryrank.learning.gains import slot_gains, truth_of
from juryrank.learning.labelled import LabelledQueries, unjudged_param
from juryrank.methods.learned_fields import Choice, learned
from juryrank.methods.lists import sums_at
from juryrank.methods.strengths.multinomial import Counts, Multinomial, net_sums
from juryrank.metrics import Truth, parse_metric
from juryrank.params import param

FITTING_STEPS = 500
CONTRARY = {  # why no adherence is above 0
    "fitted": "no expert agrees with the labels more than it contradicts them, by the places between items",
    "agreement": "no expert orders a pair of items as the labels do",
}


@dataclass(kw_only=True)
class ThetaMPM(Multinomial):
    r"""Multinomial preference model whose adherences come from labelled queries.

    With equal variances, items are ordered by :math:`\sum_n \theta_n \sum_j (C_n(i,j) - C_n(j,i))`. ``fitted``
    adherences make these sums agree with the labels: they minimise the squared hinge loss over pairs with
    different labels plus a ``penalty`` on their squares, are non-negative, and are divided by the largest. So an expert
    that repeats others gets less weight, and one that contradicts the labels gets none.

    ``agreement`` is the published recipe, :math:`\theta_n = (1 + \tau_n) / 2`: the share of the pairs of expert n's
    list that the labels order in the same way, among those that both order, as a mean over the queries that have such
    pairs. An expert without such pairs and an unknown expert get the mean of the others. Whether unranked items are
    last is also ``learned``, by nDCG@10 on the validation queries, or on the training queries if there are none. The
    rest is as in ``mpm``.

    >>> from juryrank import from_dicts
    >>> runs = {"good": {"q": ["a", "b", "c"]}, "poor": {"q": ["c", "b", "a"]}}
    >>> model = ThetaMPM().fit(from_dicts(runs, labels={"q": {"a": 2, "b": 1, "c": 0}}))
    >>> dict(zip(model.experts_, model.theta_.tolist()))
    {'good': 1.0, 'poor': 0.0}

    Volkovs, Zemel, WWW 2012.
    """

    name = "theta-mpm"
    supervised = True
    theta: str = param(
        "fitted", "adherence of experts: fitted to the labels, or agreement with them", choices=("fitted", "agreement")
    )
    penalty: float = param(0.1, "fitted: penalty on the squares of adherences", above=0)
    missing: str = param(
        "learned",
        "ignore: an expert has no effect on an item that it did not rank; last: it puts it in the last place; "
        "learned: the better of the two on labelled queries",
        choices=("learned", "ignore", "last"),
    )
    unjudged: str = unjudged_param()
    missing_: str = learned(Choice(("ignore", "last")))

    def _fault(self) -> str | None:
        if (fault := super()._fault()) or self.missing_ in self._policies():
            return fault
        return f"missing_ must be one of {', '.join(self._policies())} with these parameters, found {self.missing_!r}"

    @property
    def missing_policy(self) -> str:
        return self.missing_

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        data = replace(data, rankings=self._drop_zero_weights(data.rankings))
        queries = LabelledQueries.of(data, self.unjudged).drop_zero_weight_lists().require(self.name, data)
        self.experts_ = queries.experts
        tried: dict[str, tuple[float, Floats, bool]] = {}
        agree = False
        for policy in self._policies()[: len(queries) + 1]:
            self.missing_ = policy
            if self.theta == "fitted" or not tried:  # agreement does not depend on the policy
                self.theta_, agree = self._adherences(queries)
            tried[policy] = self._value(valid or data), self.theta_, agree
        self.missing_ = max(tried, key=lambda policy: tried[policy][0])
        _, self.theta_, agree = tried[self.missing_]
        if not agree:
            warn_about_data(f"{self.name}: {CONTRARY[self.theta]}; all adherences are 1")

    def _policies(self) -> tuple[str, ...]:
        if self.missing != "learned":
            return (self.missing,)
        return ("ignore",) if self.counts == "score" else ("ignore", "last")

    def _adherences(self, queries: LabelledQueries) -> tuple[Floats, bool]:
        """The adherence of each expert, and whether any is above 0; where none is, all are 1."""
        theta = self._fit_to_labels(queries) if self.theta == "fitted" else self._agreement(queries)
        if np.nansum(theta) > 0:
            return np.where(np.isnan(theta), np.nanmean(theta), theta), True
        return np.ones(len(theta)), False

    def _value(self, data: Dataset) -> float:
        """The sum of the target metric over the labelled queries, under equal variances."""
        r = data.rankings
        weight = self.list_weights(r) * self._theta_of(r)[r.list_expert]
        truth = data if data.reference is not None else truth_of(data, slot_gains(data))
        judged = Truth(truth).judge(Consensus(r, net_sums(r, self._counts(r), weight)))
        values = parse_metric(self.target).per_query(judged)
        return float(values[~np.isnan(values)].sum())

    def _agreement(self, queries: LabelledQueries) -> Floats:
        """The share of each expert; NaN where no pair is ordered by both."""
        r, n_experts = queries.rankings, len(self.experts_)
        concordant, comparable = np.zeros(r.n_lists), np.zeros(r.n_lists)
        agreements(r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, queries.known_gains, concordant, comparable)
        known, place = comparable > 0, queries.list_place(self.experts_)
        weight = r.list_weight[known]
        n = sums_at(place[known], weight, n_experts)
        total = sums_at(place[known], weight * concordant[known] / comparable[known], n_experts)
        share: Floats = np.divide(total, n, out=np.full(n_experts, np.nan), where=n > 0)
        return share

    def _fit_to_labels(self, queries: LabelledQueries) -> Floats:
        from scipy.optimize import minimize

        r, n = queries.rankings, len(self.experts_)
        if not n:
            return np.empty(0)
        objective = Objective(queries, self.experts_, self._counts(r), self.list_weights(r), self.penalty)
        result = minimize(
            objective, np.full(n, 1.0 / n), jac=True, method="L-BFGS-B", bounds=[(0, None)] * n,
            options={"maxiter": FITTING_STEPS},
        )  # fmt: skip
        if result.nit >= FITTING_STEPS:
            warn_not_converged(self.name, "the adherences", FITTING_STEPS, "raise penalty")
        theta: Floats = result.x / (result.x.max() or 1.0)
        return theta


class Objective:
    """Mean squared hinge over the labelled pairs of each query, and the penalty, as a function of adherences."""

    def __init__(
        self, queries: LabelledQueries, experts: list[str], counts: Counts, weight: Floats, penalty: float
    ) -> None:
        r = self.rankings = queries.rankings
        self.gains, self.place = queries.known_gains, queries.list_place(experts)
        self.weight, self.penalty = weight, penalty
        left_out = r.query_size[r.list_query] - r.list_size
        by_entry = np.repeat(weight, r.list_size)
        square = (by_entry * counts.entry_net**2).sum() + (weight * left_out * counts.list_net**2).sum()
        unit = np.sqrt(square / max(r.n_slots * len(experts), 1)) or 1.0
        self.counts = counts._replace(entry_net=counts.entry_net / unit, list_net=counts.list_net / unit)

    def __call__(self, theta: Floats) -> tuple[float, Floats]:
        """The value and its derivative."""
        r = self.rankings
        scores = net_sums(r, self.counts, self.weight * theta[self.place])
        loss, slope = np.empty(len(r)), np.empty(r.n_slots)
        pair_loss(r.slot_ptr, self.gains, scores, 1.0, loss, slope)
        owner = parents(r.entry_ptr)
        # Slopes of a query add up to 0, so unranked items need no sum.
        beyond = self.counts.entry_net - self.counts.list_net[owner]
        pull = self.weight * sums_at(owner, beyond * slope[r.entry_slot], r.n_lists)
        by_expert = sums_at(self.place, pull, len(theta)) / len(r)
        return float(loss.mean() + self.penalty * theta @ theta), by_expert + 2 * self.penalty * theta
