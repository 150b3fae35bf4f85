"""Methods whose weights are tuned: those with the best mean of a metric over the labelled queries."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.arrays import Floats
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.labelled import LabelledQueries, unjudged_param
from juryrank.learning.target import check_truth
from juryrank.methods.learned._base import WeightedExperts
from juryrank.methods.learned_fields import Array, Number, learned
from juryrank.metrics import Truth, parse_metric
from juryrank.params import param


@dataclass(kw_only=True)
class TunedWeights(WeightedExperts):
    """A weighted sum over experts, tuned on the labelled queries; an unknown expert has the mean weight."""

    validates = False

    target: str = param("nDCG@10", "the metric to maximise on the training queries")  # type: ignore[misc]
    unjudged: str = unjudged_param()

    n_queries_: int = learned(Number(whole=True, at_least=1))
    means_: Floats = learned(Array(2))  # of the target over the training queries: tuned, RRF

    @property
    def _unjudged_in_metrics(self) -> str:
        """What metrics make of unjudged items, which have no weights there."""
        return "ignore" if self.unjudged == "ignore" else "irrelevant"

    @abstractmethod
    def _tune(self, queries: LabelledQueries) -> float:
        """Set ``weights_`` and what else is tuned; returns the mean of the target."""

    @abstractmethod
    def _tuned(self) -> str:
        """What was tuned, for ``report``."""

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        if data.labels is None:
            check_truth(self.name, self.target, data)
        queries = LabelledQueries.of(data, self.unjudged).drop_zero_weight_lists().require(self.name, data)
        self.experts_, self.n_queries_ = queries.experts, len(queries)
        rrf = Truth(queries.truth, self._unjudged_in_metrics).judge(
            Consensus(queries.rankings, rrf_scores(queries.rankings))
        )
        self.means_ = np.array([self._tune(queries), np.nanmean(parse_metric(self.target).per_query(rrf))])

    def report(self) -> str:
        """What was tuned, and the means of the target over the queries that were used for it."""
        own, rrf = self.means_
        means = f"{self.target} {own:.4f}, RRF {rrf:.4f}"
        return (
            f"{self.name}: {self._tuned()}, tuned on {self.n_queries_} queries and {len(self.experts_)} experts. "
            f"On these queries: {means}; on other queries the gain is smaller."
        )

    def _weight_of(self, expert: str) -> float:
        """The weight of an expert, known or unknown."""
        known = expert in self.experts_
        return float(self.weights_[self.experts_.index(expert)] if known else self.weights_.mean())
