"""CombMED."""

from dataclasses import dataclass

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import medians
from juryrank.methods.base import missing_param
from juryrank.methods.scores.scores import Comb


@dataclass(kw_only=True)
class CombMED(Comb):
    """CombMED: the weighted median of the normalised scores; half-way between two middle scores.

    >>> from juryrank import from_dicts
    >>> lists = from_dicts({"x": {"q": {"a": 9, "b": 5, "c": 1}}, "y": {"q": {"b": 0.9, "c": 0.1}}})
    >>> CombMED().fit_predict(lists).to_dict()
    {'q': {'b': 0.75, 'a': 0.5, 'c': 0.0}}

    Fox, Shaw, TREC 1993.
    """

    name = "combmed"
    rule = "median"
    missing: str = missing_param("last", "ignore", "last")

    def _combine(self, rankings: Rankings, score: Floats, absent: Floats, out: Floats) -> None:
        r = rankings
        medians(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, score, absent, self.list_weights(r), out)
