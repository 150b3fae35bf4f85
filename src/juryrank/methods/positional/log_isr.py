"""Logarithmic inverse square rank."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.methods.positional._base import Number, Positional, listed_weight, ranks_param
from juryrank.params import param


@dataclass(kw_only=True)
class LogISR(Positional):
    """Logarithmic inverse square rank: log(number of lists with the item + sigma) times the sum of 1 / rank².

    With ``sigma`` 0 an item of a single list scores 0. An item that a list leaves out gets nothing from it. A list of
    weight w is w lists, in the number and in the sum; a number below 1 counts as 1.

    >>> from juryrank import from_orders
    >>> LogISR().fit_predict(from_orders([["a", "b"], ["b", "c"]])).top()
    {'all': ['b', 'a', 'c']}

    Mourão, Martins, Magalhães, Computerized Medical Imaging and Graphics 2015.
    """

    name = "log-isr"
    additive = False
    ranks: str = ranks_param("dense")
    sigma: float = param(0.01, "keeps items of a single list apart", at_least=0)

    def points(self, rank: Number) -> Number:
        """1 / rank²."""
        return 1.0 / rank**2

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        super()._scores(rankings, out)
        listed = listed_weight(rankings, self.list_weights(rankings))
        out *= np.log(np.maximum(listed, 1.0) + self.sigma)
