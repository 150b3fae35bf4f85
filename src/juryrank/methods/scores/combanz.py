"""CombANZ."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.base import missing_param
from juryrank.methods.lists import slot_weight
from juryrank.methods.scores.combsum import CombSUM


@dataclass(kw_only=True)
class CombANZ(CombSUM):
    """CombANZ: the weighted mean of the normalised scores.

    With ``ignore`` the mean over the lists that rank the item, with ``last`` over all lists.

    >>> from juryrank import from_dicts
    >>> lists = from_dicts({"x": {"q": {"a": 9, "b": 5, "c": 1}}, "y": {"q": {"b": 0.9, "c": 0.1}}})
    >>> CombANZ().fit_predict(lists).to_dict()
    {'q': {'b': 0.75, 'a': 0.5, 'c': 0.0}}

    Fox, Shaw, TREC 1993.
    """

    name = "combanz"
    rule = "mean"
    missing: str = missing_param("last", "ignore", "last")

    def _combine(self, rankings: Rankings, score: Floats, absent: Floats, out: Floats) -> None:
        super()._combine(rankings, score, absent, out)
        weight = slot_weight(rankings, self.list_weights(rankings), last=self.missing == "last")
        out /= np.where(weight > 0, weight, 1.0)
