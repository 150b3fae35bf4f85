"""What the multinomial preference models share: counts from lists, adherences by expert, the fit of each query."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus, Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints, read_only_view
from juryrank.errors import ParameterError, warn_not_converged
from juryrank.kernels.mpm import net_counts, scores
from juryrank.kernels.positional import add_points
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.methods.adherence import Adherent
from juryrank.methods.base import missing_param, weights_param
from juryrank.methods.lists import absent_rank
from juryrank.params import param


class Counts(NamedTuple):
    """The counts that the pairs of each list contribute; smaller values win."""

    value: Floats  # [n_entries]
    beyond: Floats  # [n_lists] the value of the items that a list leaves out
    entry_net: Floats  # [n_entries] counts won minus counts lost
    list_net: Floats  # [n_lists] the same for an item that the list leaves out
    total: Floats  # [n_lists]


class Adherences(NamedTuple):
    """The distinct adherences of each query, with the total counts of each."""

    ptr: Ints  # [n_queries + 1]
    theta: Floats
    total: Floats
    of_list: Ints  # [n_lists] the index of each list's adherence


@dataclass(kw_only=True)
class Multinomial(Adherent):
    """Pairs are drawn from one distribution over all pairs of a query's items; see ``MPM``."""

    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("ignore", "ignore", "last")
    counts: str = param(
        "rank",
        "count of a pair: its difference in rank, in score (in rank if lists have no scores), or 1",
        choices=("rank", "score", "once"),
    )
    variances: bool = param(False, "also fit a variance for every item")
    prior: float = param(1e-3, "strength of the normal prior on scores, in counts per item", above=0)
    hold: float = param(
        1.0, "strength of the prior that shrinks log variances towards log 1/2, in counts per item", above=0
    )
    tol: float = param(1e-12, "stop when the predicted gain of log-likelihood per count is below this", above=0)
    max_iter: int = param(1000, "maximum number of steps", at_least=1)

    def check(self) -> None:
        super().check()
        if self.counts == "score" and self.missing == "last":
            raise ParameterError(
                f"missing of {type(self).__name__} must be ignore if counts is score: the difference in score to an "
                "item without a score is unknown"
            )

    @property
    def missing_policy(self) -> str:
        """The treatment of items that an expert did not rank: ``ignore`` or ``last``."""
        return self.missing

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        return self._scores_and_variances(rankings, out)[0]

    def predict_with_variances(self, data: Dataset | Rankings) -> tuple[Consensus, Floats]:
        """The consensus, and the variance of every slot: 1/2 unless ``variances`` is set."""
        rankings = as_dataset(data).rankings
        out = np.zeros(rankings.n_slots)
        details, gamma = self._scores_and_variances(self._drop_zero_weights(rankings), out)
        return Consensus(rankings, out, details), gamma

    def _scores_and_variances(self, rankings: Rankings, out: Floats) -> tuple[Mapping[str, NDArray[Any]], Floats]:
        steps, gamma = self._fit(rankings, out)
        details: dict[str, NDArray[Any]] = {"steps": steps}
        if self.variances:
            together = np.bincount(parents(rankings.slot_ptr), gamma, minlength=len(rankings))
            details["variance"] = together / np.maximum(rankings.query_size, 1)
        if failed := int((steps > self.max_iter).sum()):
            what, advice = f"{failed} of {len(steps)} queries", "raise max_iter, tol or prior"
            warn_not_converged(self.name, what, self.max_iter, advice)
        return details, gamma

    def _fit(self, r: Rankings, out: Floats) -> tuple[Ints, Floats]:
        """Write the scores; return the steps of each query and the variance of each slot."""
        theta = self._theta_of(r)[r.list_expert]
        counts, weight = self._counts(r), self.list_weights(r)
        groups = adherences(r, theta, weight * counts.total)
        steps = self._fit_scores(r, counts, groups, weight * theta, out)
        gamma = np.full(r.n_slots, 0.5)
        if self.variances:
            from juryrank.kernels.mpm_variances import scores_and_variances

            scores_and_variances(
                r.slot_ptr, groups.ptr, r.list_ptr, r.entry_ptr, r.entry_slot, counts.value, counts.beyond,
                weight * theta, self.counts == "once", self.missing_policy == "last", groups.theta, groups.total,
                self.prior, self.hold, self.tol, self.max_iter, steps, out, gamma,
            )  # fmt: skip
        return steps, gamma

    def _theta_of(self, r: Rankings) -> Floats:
        """The adherence of each expert of ``r``: unknown experts get the mean, or 1 if nothing was learned."""
        default = self.theta_.mean() if len(self.theta_) else 1.0
        theta: Floats = np.append(self.theta_, default)[r.positions_in(self.experts_)]
        return theta

    def _counts(self, r: Rankings) -> Counts:
        beyond, n_beyond = np.zeros(r.n_lists), np.zeros(r.n_lists, np.int64)
        if self.missing_policy == "last":
            beyond, n_beyond = absent_rank(r, r.entry_rank, "last"), r.query_size[r.list_query] - r.list_size
        net, list_net, total = np.zeros(r.n_entries), np.zeros(r.n_lists), np.zeros(r.n_lists)
        value, order = r.entry_rank, None
        if self.counts == "score" and r.entry_score is not None:
            order = np.lexsort((-r.entry_score, parents(r.entry_ptr)))  # the ranks may disagree with the scores
            value = -r.entry_score
        rising = value if order is None else value[order]
        value, rising = read_only_view(value), read_only_view(rising)
        net_counts(r.list_ptr, r.entry_ptr, rising, beyond, n_beyond, self.counts == "once", net, list_net, total)
        if order is not None:
            net[order] = net.copy()
        return Counts(value, beyond, net, list_net, total)

    def _fit_scores(self, r: Rankings, counts: Counts, groups: Adherences, weight: Floats, out: Floats) -> Ints:
        """Write the scores under equal variances; ``weight`` includes the adherence."""
        pull = net_sums(r, counts, weight)
        steps = np.zeros(len(r), np.int64)
        scores(
            r.slot_ptr, groups.ptr, groups.theta, groups.total, pull, self.prior, self.tol, self.max_iter, steps, out
        )  # fmt: skip
        return steps


def net_sums(r: Rankings, counts: Counts, weight: Floats) -> Floats:
    """Counts won minus counts lost of every slot; under equal variances, scores have the same order."""
    out = np.zeros(r.n_slots)
    add_points(
        r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, counts.entry_net, counts.list_net, weight, out
    )  # fmt: skip
    return out


def adherences(r: Rankings, theta: Floats, total: Floats) -> Adherences:
    """Group the lists of each query by adherence, so that equal ones share a normaliser."""
    distinct, code = np.unique(theta, return_inverse=True)
    keys, of_list = np.unique(r.list_query * max(len(distinct), 1) + code, return_inverse=True)
    query = keys // max(len(distinct), 1)
    together = np.bincount(of_list, total, minlength=len(keys)).astype(np.float64)
    ptr = sizes_to_ptr(np.bincount(query, minlength=len(r)))
    return Adherences(ptr, distinct[keys % max(len(distinct), 1)], together, of_list)
