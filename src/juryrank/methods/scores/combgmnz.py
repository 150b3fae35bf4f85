"""CombGMNZ."""

from dataclasses import dataclass, replace

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.formula import Formula
from juryrank.methods.lists import listed_weight
from juryrank.methods.scores.combsum import CombSUM
from juryrank.params import param


@dataclass(kw_only=True)
class CombGMNZ(CombSUM):
    """CombGMNZ: CombSUM times a power of the number of lists that rank the item.

    A list of weight w counts as w lists, in the sum and in the number.

    >>> from juryrank import from_dicts
    >>> lists = from_dicts({"x": {"q": {"a": 9, "b": 5, "c": 1}}, "y": {"q": {"b": 0.9, "c": 0.1}}})
    >>> CombGMNZ().fit_predict(lists).to_dict()
    {'q': {'b': 6.0, 'a': 1.0, 'c': 0.0}}

    Lee, SIGIR 1997.
    """

    name = "combgmnz"
    gamma: float = param(2.0, "the power; 0 is CombSUM, 1 is CombMNZ", at_least=0)

    def formula(self) -> Formula:
        """That of CombSUM, times a power of the number of lists."""
        return replace(super().formula(), factor=self._factor)

    def _factor(self, listed: Floats) -> Floats:
        """What multiplies the sum, from the weight of the lists with the item."""
        factor: Floats = listed**self.gamma
        return factor

    def _combine(self, rankings: Rankings, score: Floats, absent: Floats, out: Floats) -> None:
        super()._combine(rankings, score, absent, out)
        out *= self._factor(listed_weight(rankings, self.list_weights(rankings)))
