"""Dowdall count."""

from dataclasses import dataclass

from juryrank.methods.positional._base import Number, Positional, ranks_param


@dataclass(kw_only=True)
class Dowdall(Positional):
    """Dowdall count: the sum of 1 / rank over the lists.

    An item that a list leaves out gets nothing from it; tied items get the same points.

    >>> from juryrank import from_orders
    >>> Dowdall().fit_predict(from_orders([["a", "b"], ["b", "c"]])).to_dict()
    {'all': {'b': 1.5, 'a': 1.0, 'c': 0.5}}

    Reilly, International Political Science Review 2002.
    """

    name = "dowdall"
    ranks: str = ranks_param("dense")

    def points(self, rank: Number) -> Number:
        """1 / rank."""
        return 1.0 / rank
