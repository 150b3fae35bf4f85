"""Reciprocal rank fusion with tuned weights and rank constant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods.formula import Formula
from juryrank.methods.learned._tuned import TunedWeights
from juryrank.methods.learned.weighted_sums import WeightedSums, best_row, coordinate_search, is_better
from juryrank.methods.learned_fields import Number, learned
from juryrank.methods.positional.rrf import RRF

CONSTANTS = (60.0, 40.0, 100.0, 20.0, 200.0, 10.0, 5.0, 1.0)  # rank constants, preferred ones first
WEIGHTS = (1.0, 0.5, 2.0, 0.25, 4.0, 0.0)  # of experts, preferred ones first
MOST_EXPERTS = 3  # for which all combinations of weights are tried


@dataclass(kw_only=True)
class TunedRRF(TunedWeights):
    """Tuned RRF: reciprocal rank fusion with the rank constant and the weights that are best on the training queries.

    The rank constant k is one of 1, 5, 10, 20, 40, 60, 100 and 200, and the weight of an expert one of 0, 1/4, 1/2, 1,
    2 and 4; the mean of the target metric over the training queries decides. With up to three experts all combinations
    are tried. With more, the weights are changed one expert at a time, for each k, starting with equal weights, until
    no change of one weight improves the mean. Of equal means, the one closest to RRF with k = 60 and equal weights is
    taken: the k closest to 60, then the weights closest to 1.

    This is what is often done by hand. Nothing is regularised: with few labelled queries, use ``jury``. With
    ``unjudged=ignore`` the metric is computed after the removal of unjudged items. An unknown expert has the mean
    weight.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = TunedRRF().fit(from_dicts(lists, labels={"q": {"a": 2, "b": 1}}))
    >>> model.k_, dict(zip(model.experts_, model.weights_.tolist()))
    (60.0, {'bad': 1.0, 'good': 2.0})
    """

    name = "tuned-rrf"

    k_: float = learned(Number(above=0))

    def formula(self) -> Formula:
        """Weight / (k + rank)."""
        return Formula(depends_on=("rank",), points=self._points)

    def _points(self, expert: str, ranks: Floats) -> Floats:
        points: Floats = self._weight_of(expert) * RRF(k=self.k_).points(ranks)
        return points

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        RRF(k=self.k_, weights=self._with_unknown_experts(rankings, self.weights_))._scores(rankings, out)

    def _tuned(self) -> str:
        return f"k = {self.k_:g} and weights"

    def _tune(self, queries: LabelledQueries) -> float:
        rank, equal = queries.rankings.entry_rank, np.ones(len(self.experts_))
        sums = WeightedSums(queries, 1.0 / (CONSTANTS[0] + rank), self.target, self.unjudged)
        best = -np.inf
        for k in CONSTANTS:
            values = partial(sums.means, sums.by_expert(1.0 / (k + rank)))
            if len(equal) > MOST_EXPERTS:
                weights, mean = coordinate_search(values, equal, other_weights)
            else:
                weights, mean = best_row(values, all_weights(len(equal)))
            if is_better(mean, best):
                best, self.k_, self.weights_ = mean, k, weights
        return best


def other_weights(weights: Floats, expert: int) -> Floats:
    """The weights with each value in the place of one expert's, without those that are all 0."""
    rows = np.tile(weights, (len(WEIGHTS), 1))
    rows[:, expert] = WEIGHTS
    return rows[rows.any(axis=1)]


def all_weights(n: int) -> Floats:
    """All combinations of weights of ``n`` experts, closest to equal weights first; one of those with equal ratios."""
    rows = np.array(list(product(WEIGHTS, repeat=n)))
    rows = rows[rows.any(axis=1)]
    steps = np.abs(np.log2(np.where(rows > 0, rows, min(w for w in WEIGHTS if w > 0) / 2))).sum(axis=1)
    rows = rows[np.argsort(steps, kind="stable")]
    first = np.unique(rows / rows.max(axis=1, keepdims=True), axis=0, return_index=True)[1]
    chosen: Floats = rows[np.sort(first)]
    return chosen
