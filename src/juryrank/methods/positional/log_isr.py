"""Logarithmic inverse square rank."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.methods.positional.isr import ISR
from juryrank.params import param


@dataclass(kw_only=True)
class LogISR(ISR):
    """Logarithmic inverse square rank: log(number of lists with the item + sigma) times the sum of 1 / rank².

    With ``sigma`` 0 an item of a single list scores 0. An item that a list leaves out gets nothing from it. A list of
    weight w counts as w lists, in the number and in the sum; a number below 1 counts as 1.

    >>> from juryrank import from_orders
    >>> LogISR().fit_predict(from_orders([["a", "b"], ["b", "c"]])).top()
    {'all': ['b', 'a', 'c']}

    Mourão, Martins, Magalhães, Computerized Medical Imaging and Graphics 2015.
    """

    name = "log-isr"
    sigma: float = param(0.01, "added to the number of lists; with 0, items of a single list score 0", at_least=0)

    def _factor(self, listed: Floats) -> Floats:
        factor: Floats = np.log(np.maximum(listed, 1.0) + self.sigma)
        return factor
