"""Plackett–Luce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.links import LISTWISE
from juryrank.kernels.strengths import list_strengths
from juryrank.methods.strengths._base import PRIOR, Lists, Strength, logistic, tol_param
from juryrank.params import param

QUERY_PRIOR = 10.0  # chosen by the quality of consensus rankings of search results; biases strengths


@dataclass(kw_only=True)
class PlackettLuce(Strength):
    r"""Plackett–Luce: from the top of a list, each item is chosen from those left with odds exp(s).

    The strengths are the maximum of the likelihood of the lists times a normal prior with precision ``prior``. By
    default the prior is strong, 10, where a few experts rank the items of a query: that gives the better consensus,
    but pulls strengths together. Leaderboards show strengths with intervals and take 0.1 by default. A list speaks of
    the items it ranks (with ``last``, every choice is also against the items it leaves out). A tied group of g items
    counts as g choices from the items left, or g - 1 at the bottom of the list, where the last is forced; on lists of
    two this is Bradley–Terry with half a win for a tie.

    >>> from juryrank import from_orders
    >>> PlackettLuce().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "b"]])).top()
    {'all': ['a', 'b', 'c']}

    Luce, 1959; Plackett, 1975; Hunter, 2004.
    """

    name = "plackett-luce"
    chance = staticmethod(logistic)
    prior: float | None = param(
        None,
        "precision of the normal prior on strengths around 0; keeps undefeated items finite; "
        f"by default {QUERY_PRIOR:g}, and {PRIOR:g} in a leaderboard",
        above=0,
    )
    tol: float = tol_param()
    max_iter: int = param(100, "Newton steps at most", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        list_strengths(*lists, LISTWISE, 0.0, 0.0, self.precision, float(self.tol), self.max_iter, steps, out)
        return {}

    @property
    def precision(self) -> float:
        """The precision of the prior, also where none is given."""
        return QUERY_PRIOR if self.prior is None else float(self.prior)

    def on_leaderboard(self) -> Self:
        """The same method with the prior of leaderboards, where none is given."""
        return replace(self, prior=PRIOR) if self.prior is None else self
