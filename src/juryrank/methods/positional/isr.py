"""Inverse square rank."""

from dataclasses import dataclass, replace

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.methods.formula import Formula
from juryrank.methods.lists import listed_weight
from juryrank.methods.positional._base import Number, Positional, ranks_param


@dataclass(kw_only=True)
class ISR(Positional):
    """Inverse square rank: the number of lists with the item times the sum of 1 / rank².

    A list of weight w counts as w lists, in the number and in the sum. An item that a list leaves out gets nothing
    from it; tied items get the same points.

    >>> from juryrank import from_orders
    >>> ISR().fit_predict(from_orders([["a", "b"], ["b", "c"]])).to_dict()
    {'all': {'b': 2.5, 'a': 1.0, 'c': 0.25}}

    Mourão, Martins, Magalhães, TREC 2013.
    """

    name = "isr"
    additive = False
    ranks: str = ranks_param("dense")

    def formula(self) -> Formula:
        """The sum of the points, times a factor."""
        return replace(self._sum_of_points(), factor=self._factor)

    def points(self, rank: Number) -> Number:
        """1 / rank²."""
        return 1.0 / rank**2

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        super()._scores(rankings, out)
        out *= self._factor(listed_weight(rankings, self.list_weights(rankings)))

    def _factor(self, listed: Floats) -> Floats:
        """What multiplies the sum, from the weight of the lists with the item."""
        return listed
