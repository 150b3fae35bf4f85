"""CombMAX."""

from dataclasses import dataclass

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import extremes
from juryrank.methods.scores.scores import Comb


@dataclass(kw_only=True)
class CombMAX(Comb):
    """CombMAX: the highest of the normalised scores.

    >>> from juryrank import from_dicts
    >>> lists = from_dicts({"x": {"q": {"a": 9, "b": 5, "c": 1}}, "y": {"q": {"b": 0.9, "c": 0.1}}})
    >>> CombMAX().fit_predict(lists).to_dict()
    {'q': {'a': 1.0, 'b': 1.0, 'c': 0.0}}

    Fox, Shaw, TREC 1993.
    """

    name = "combmax"
    rule = "max"

    def _combine(self, rankings: Rankings, score: Floats, absent: Floats, out: Floats) -> None:
        r = rankings
        extremes(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, score, absent, 1.0, out)
