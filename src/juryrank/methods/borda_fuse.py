"""Weighted Borda fuse."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats
from juryrank.learners.gains import slot_gains, truth_of
from juryrank.methods.base import Aggregator, learned
from juryrank.methods.borda import Borda
from juryrank.metrics import Truth, parse_metric
from juryrank.metrics.given import experts_alone
from juryrank.params import param


@dataclass(kw_only=True)
class BordaFuse(Aggregator):
    """Borda Fuse: the Borda count with each expert weighted by how well it does alone on the labelled queries.

    An expert that was not there in training weighs as the mean expert; unranked items get nothing from a list.

    >>> from juryrank.data.build import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = BordaFuse().fit(from_dicts(lists, labels={"q": {"a": 1}}))
    >>> dict(zip(model.experts_, model.weights_.round(2).tolist()))
    {'bad': 0.33, 'good': 1.0}

    Aslam, Montague, SIGIR 2001.
    """

    name = "borda-fuse"
    supervised = True
    weigh_by: str = param("AP", "the metric that weighs an expert")
    experts_: list[str] = learned()
    weights_: Floats = learned()

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        metric = parse_metric(self.weigh_by)
        truth = Truth(truth_of(data, slot_gains(data)))
        self.experts_ = list(data.experts)
        self.weights_ = np.zeros(len(self.experts_))
        for n, alone in enumerate(experts_alone(data.rankings).values()):
            values = metric.per_query(truth.judge(alone))
            self.weights_[n] = max(0.0, float(np.nanmean(values)))

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        weighted_borda(rankings, self.experts_, self.weights_, out)


def weighted_borda(rankings: Rankings, experts: list[str], weights: Floats, out: Floats) -> None:
    """Borda counts with learned weights by expert name; strangers weigh as the mean expert."""
    mean = weights.mean() if len(weights) else 1.0
    by_expert = np.append(weights, mean)[rankings.places_in(experts)]
    by_name = {name: float(w) for name, w in zip(rankings.experts, by_expert, strict=True)}
    Borda(weights=by_name)._scores(rankings, out)
