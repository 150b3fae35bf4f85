"""Reciprocal rank fusion."""

from dataclasses import dataclass

from juryrank.methods.positional import Number, Positional
from juryrank.params import param


@dataclass(kw_only=True)
class RRF(Positional):
    r"""Reciprocal rank fusion: the sum of 1 / (k + rank) over the lists.

    :math:`s_i = \sum_m w_m / (k + r_{mi})`. An item that a list leaves out gets nothing from it; tied items get the
    same points.

    >>> from juryrank.data.build import from_orders
    >>> RRF().fit_predict(from_orders([["a", "b"], ["b", "c"]])).top()
    {'all': ['b', 'a', 'c']}

    Cormack, Clarke, Büttcher, SIGIR 2009.
    """

    name = "rrf"
    k: float = param(60.0, "damps the top of each list", above=-1)

    def points(self, rank: Number) -> Number:
        """1 / (k + rank)."""
        return 1.0 / (self.k + rank)
