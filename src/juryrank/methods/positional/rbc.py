"""Rank-biased centroids."""

from dataclasses import dataclass

from juryrank.methods.positional._base import Number, Positional, ranks_param
from juryrank.params import param


@dataclass(kw_only=True)
class RBC(Positional):
    """Rank-biased centroids: the sum of (1 - phi) phi^(rank - 1) over the lists.

    An item that a list leaves out gets nothing from it; tied items get the same points.

    >>> from juryrank import from_orders
    >>> RBC(phi=0.5).fit_predict(from_orders([["a", "b"], ["b", "c"]])).to_dict()
    {'all': {'b': 0.75, 'a': 0.5, 'c': 0.25}}

    Bailey, Moffat, Scholer, Thomas, SIGIR 2017.
    """

    name = "rbc"
    ranks: str = ranks_param("dense")
    phi: float = param(0.9, "persistence: the probability that a reader continues to the next rank", above=0, at_most=1)

    def points(self, rank: Number) -> Number:
        """(1 - phi) phi^(rank - 1)."""
        points: Number = (1.0 - self.phi) * self.phi ** (rank - 1.0)
        return points
