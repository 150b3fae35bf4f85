"""Convex combination of normalised scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods.formula import Formula, ListNumbers, QueryList, ScoredEntries
from juryrank.methods.learned._tuned import TunedWeights
from juryrank.methods.learned.weighted_sums import WeightedSums, coordinate_search, is_better
from juryrank.methods.learned_fields import Choice, learned
from juryrank.methods.scores.combsum import CombSUM
from juryrank.methods.scores.scores import NORMS, normalise_entries, normalise_list, normalise_scores
from juryrank.params import param

TUNE = "tune"
TRIED = ("min-max", "max", "sum", "z-score", "rank")  # borda and dbsf differ little from rank and z-score
SHARES = np.linspace(0.0, 1.0, 21)  # of one expert in the total weight


@dataclass(kw_only=True)
class Convex(TunedWeights):
    r"""Convex combination: the weighted mean of normalised scores with the weights that are best on training queries.

    :math:`s_i = \sum_k \alpha_k \phi(s_{ki})` with :math:`\alpha_k \ge 0` and :math:`\sum_k \alpha_k = 1`. For two
    experts, all α in steps of 0.05 are tried, and the mean of the target metric over the training queries decides. For
    more, the share of one expert after the other is set to 0, 0.05, …, 1, with the others in proportion, starting with
    equal weights, until no such change improves the mean. Of equal means, the one with the share closest to that of
    equal weights is taken. ``norm=tune`` also tries min-max, max, sum, z-score and rank; of equal ones, the first is
    taken.

    An item that a list leaves out gets 0 from it: the lowest score of min-max, the mean of z-score. Where scores
    cannot be negative, ``norm=max`` is the theoretical min-max norm of Bruch et al. Lists without scores get the
    score (worst rank + 1 - rank), as in ``combsum``. An item that no list ranks comes last. An unknown expert has the
    mean weight. Nothing is regularised: with few labelled queries, use ``jury``. With ``unjudged=ignore`` the metric
    is computed after the removal of unjudged items.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": {"a": 9, "b": 5, "c": 1}}, "bad": {"q": {"c": 0.9, "b": 0.7, "a": 0.1}}}
    >>> model = Convex().fit(from_dicts(lists, labels={"q": {"a": 2, "b": 1}}))
    >>> dict(zip(model.experts_, model.weights_.round(2).tolist()))
    {'bad': 0.35, 'good': 0.65}

    Bruch, Gai, Ingber, TOIS 2023.
    """

    name = "convex"
    uses_scores = True
    norm: str = param(
        "min-max",
        "; ".join(f"{n}: {doc}" for n, doc in NORMS.items()) + f"; {TUNE}: the best on the training queries",
        choices=(*NORMS, TUNE),
    )

    norm_: str = learned(Choice(tuple(NORMS)))

    def formula(self) -> Formula | None:
        """The weighted sum of the normalised scores."""
        if not self.is_fitted:
            return None
        weights = dict(zip(self.experts_, self.weights_.tolist(), strict=True))
        mean = float(self.weights_.mean())
        return Formula(
            "sum", self._numbers, weights, others=mean, unranked_last=False, numbers_of_all=self._numbers_of_all
        )

    def _numbers(self, listed: QueryList) -> ListNumbers:
        return ListNumbers(normalise_list(listed, self.norm_), None, listed.weight)

    def _numbers_of_all(self, entries: ScoredEntries) -> tuple[Floats, None] | None:
        scores = normalise_entries(entries, self.norm_)
        return None if scores is None else (scores, None)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        CombSUM(norm=self.norm_, weights=self._with_unknown_experts(rankings, self.weights_))._scores(rankings, out)

    def _tuned(self) -> str:
        return f"weights of {self.norm_} scores" if self.norm != TUNE else f"norm = {self.norm_} and weights"

    def _tune(self, queries: LabelledQueries) -> float:
        best, equal = -np.inf, np.full(len(self.experts_), 1.0 / len(self.experts_))
        for norm in TRIED if self.norm == TUNE else (self.norm,):
            points = normalise_scores(queries.rankings, norm)
            sums = WeightedSums(queries, points, self.target, self.unjudged, unranked_last=True)
            weights, mean = coordinate_search(partial(sums.means, sums.by_expert(points)), equal, other_shares)
            if is_better(mean, best):
                best, self.norm_, self.weights_ = mean, norm, weights
        return best


def other_shares(weights: Floats, expert: int) -> Floats:
    """The weights with each share for one expert, closest to that of equal weights first, the others in proportion."""
    others = weights.copy()
    others[expert] = 0.0
    if not others.any():
        return np.empty((0, len(weights)))
    shares = SHARES[np.argsort(np.abs(SHARES - 1.0 / len(weights)), kind="stable")]
    rows: Floats = np.outer(1.0 - shares, others / others.sum())
    rows[:, expert] = shares
    return rows
