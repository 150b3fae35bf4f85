"""Weighted Borda fuse."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats
from juryrank.errors import DataError
from juryrank.methods.base import Aggregator
from juryrank.methods.learned_fields import Array, Names, learned
from juryrank.methods.points import PositionPoints
from juryrank.methods.positional.borda import Borda
from juryrank.params import param
from juryrank.training.expert_values import expert_values
from juryrank.training.target import check_truth


@dataclass(kw_only=True)
class BordaFuse(Aggregator):
    """Borda Fuse: the Borda count with each expert weighted by how well it does alone on the labelled queries.

    That is the mean of the target metric over the labelled queries for which the expert has a list. An expert that was
    not there in training weighs as the mean expert; unranked items get nothing from a list.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = BordaFuse().fit(from_dicts(lists, labels={"q": {"a": 1}}))
    >>> dict(zip(model.experts_, model.weights_.round(2).tolist()))
    {'bad': 0.33, 'good': 1.0}

    Aslam, Montague, SIGIR 2001.
    """

    name = "borda-fuse"
    supervised = True
    weight_of_list = (
        "A list of weight w counts as w copies of it where items are ranked; experts are weighed by one list per query."
    )
    target: str = param("AP", "the metric that weighs an expert")  # type: ignore[misc]
    experts_: list[str] = learned(Names("experts", at_least=1))
    weights_: Floats = learned(Array("experts", at_least=0))

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        if data.labels is None:
            check_truth(self.name, self.target, data)
        values = expert_values(data, self.target)
        self.experts_ = [name for name, value in values.items() if not np.isnan(value)]
        if not self.experts_:
            raise DataError(f"{self.name}: no labelled query has a list, so there is nothing to learn")
        self.weights_ = np.array([max(0.0, values[name]) for name in self.experts_])

    def as_points(self) -> PositionPoints:
        """Those of the Borda count, times the weights of the experts."""
        return PositionPoints(("place", "items"))

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        weighted_borda(rankings, self.experts_, self.weights_, out)


def weighted_borda(rankings: Rankings, experts: list[str], weights: Floats, out: Floats) -> None:
    """Borda counts with learned weights by expert name; strangers weigh as the mean expert."""
    mean = weights.mean() if len(weights) else 1.0
    by_expert = np.append(weights, mean)[rankings.places_in(experts)]
    by_name = {name: float(w) for name, w in zip(rankings.experts, by_expert, strict=True)}
    Borda(weights=by_name)._scores(rankings, out)
