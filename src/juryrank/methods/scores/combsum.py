"""CombSUM."""

from collections.abc import Mapping
from dataclasses import dataclass

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import add_points
from juryrank.methods.base import weights_param
from juryrank.methods.lists import add_weighted
from juryrank.methods.scores.scores import Comb


@dataclass(kw_only=True)
class CombSUM(Comb):
    """CombSUM: the weighted sum of the normalised scores.

    >>> from juryrank import from_dicts
    >>> lists = from_dicts({"x": {"q": {"a": 9, "b": 5, "c": 1}}, "y": {"q": {"b": 0.9, "c": 0.1}}})
    >>> CombSUM().fit_predict(lists).to_dict()
    {'q': {'b': 1.5, 'a': 1.0, 'c': 0.0}}

    Fox, Shaw, TREC 1993.
    """

    name = "combsum"
    rule = "sum"
    weights: Mapping[str, float] | None = weights_param()

    def _combine(self, rankings: Rankings, score: Floats, absent: Floats, out: Floats) -> None:
        r, weight = rankings, self.list_weights(rankings)
        if self.missing == "ignore":
            add_weighted(r, score, weight, out)
        else:
            add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, score, absent, weight, out)
