"""Weighted Borda fuse."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.errors import DataError
from juryrank.learning.expert_lists import expert_values
from juryrank.learning.target import check_truth
from juryrank.methods.learned._base import WeightedBorda
from juryrank.params import param


@dataclass(kw_only=True)
class BordaFuse(WeightedBorda):
    """Borda Fuse: the Borda count with each expert weighted by its own quality on the labelled queries.

    The quality is the mean of the target metric over the labelled queries for which the expert has a list. An
    unknown expert has the mean weight; unranked items get no points from a list.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = BordaFuse().fit(from_dicts(lists, labels={"q": {"a": 1}}))
    >>> dict(zip(model.experts_, model.weights_.round(2).tolist()))
    {'bad': 0.33, 'good': 1.0}

    Aslam, Montague, SIGIR 2001.
    """

    name = "borda-fuse"
    weight_of_list = (
        "A list of weight w counts as w copies of it in ranking; expert weights come from one list per query."
    )
    target: str = param("AP", "the metric whose mean is the weight of an expert")  # type: ignore[misc]

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        if data.labels is None:
            check_truth(self.name, self.target, data)
        values = expert_values(data, self.target)
        self.experts_ = [name for name, value in values.items() if not np.isnan(value)]
        if not self.experts_:
            raise DataError(f"{self.name}: no labelled query has a list, so there is nothing to learn")
        self.weights_ = np.array([max(0.0, values[name]) for name in self.experts_])
