"""Rank Centrality."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.spectral import walk_of_losers
from juryrank.methods.cost import Cost
from juryrank.methods.strengths._base import Lists, Strength, logistic, pairs_at_most
from juryrank.params import param


@dataclass(kw_only=True)
class RankCentrality(Strength):
    r"""Rank Centrality: the log of the stationary mass of a walk from losers to winners.

    From item i the walk goes to each item j it is compared with at the rate
    :math:`(w_{ji} + g) / (w_{ij} + w_{ji} + 2g)`, the share of the comparisons that j won, with g = ``games`` imaginary
    wins either way; a tie is half a win. Where comparisons follow Bradley–Terry exactly, the mass is proportional to
    exp(strength). The score is log(M × mass): a group of items that is compared only within itself keeps the mass it
    starts with, a mean of 1 before the log.

    >>> from juryrank import from_orders
    >>> RankCentrality().fit_predict(from_orders([["a", "b", "c"], ["b", "a"], ["a", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Negahban, Oh, Shah, Operations Research 2017.
    """

    name = "rank-centrality"
    cost = Cost("pairs in lists", 600.0)
    chance = staticmethod(logistic)
    games: float = param(0.5, "imaginary wins either way of each pair; keeps undefeated items finite", above=0)
    tol: float = param(1e-11, "stop when a step changes no mass by more than this share", above=0)
    max_iter: int = param(100_000, "steps at most", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        most = pairs_at_most(self.name, r, lists)
        walk_of_losers(*lists, most, float(self.games), float(self.tol), self.max_iter, steps, out)
        return {}
