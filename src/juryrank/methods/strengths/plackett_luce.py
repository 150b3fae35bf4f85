"""Plackett–Luce."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.lists import Lists
from juryrank.kernels.strengths import list_strengths
from juryrank.methods.strengths.strengths import PRIOR, Strength, logistic, tol_param
from juryrank.params import param

QUERY_PRIOR = 10.0  # chosen for the quality of consensus rankings of search results; shrinks strengths


@dataclass(kw_only=True)
class PlackettLuce(Strength):
    r"""Plackett–Luce: from the top of a list, each item is chosen from those left with odds exp(s).

    The strengths maximise the likelihood of the lists times a normal prior with precision ``prior``. The default is
    10, a strong prior: with a few lists per query it gives the better consensus, but it shrinks the strengths towards
    0. Leaderboards report strengths with intervals and use 0.1 by default. A list is a ranking of its own items; with
    ``last``, every choice is also against the items that the list leaves out. A tied group of g items counts as g
    choices from the items left, or g - 1 at the end of the list, where the last choice is forced; for lists of two
    items this is Bradley–Terry with half a win for a tie.

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
        f"default {QUERY_PRIOR:g}, in a leaderboard {PRIOR:g}",
        above=0,
    )
    tol: float = tol_param()
    max_iter: int = param(100, "maximum number of Newton steps", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        list_strengths(lists, 0.0, 0.0, self.precision, float(self.tol), self.max_iter, steps, out)
        return {}

    @property
    def precision(self) -> float:
        """The precision of the prior: ``prior``, or its default."""
        return QUERY_PRIOR if self.prior is None else float(self.prior)

    def on_leaderboard(self) -> Self:
        """The same method with the default prior of leaderboards, if ``prior`` is not set."""
        return replace(self, prior=PRIOR) if self.prior is None else self
