"""Rank Centrality."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.lists import Lists
from juryrank.kernels.spectral import rank_centrality
from juryrank.methods.cost import Cost
from juryrank.methods.strengths.strengths import Strength, logistic, max_pairs
from juryrank.params import param


@dataclass(kw_only=True)
class RankCentrality(Strength):
    r"""Rank Centrality: the log of the stationary probability in a random walk from losers to winners.

    From item i the walk moves to each item j that it is compared with at the rate
    :math:`(w_{ji} + g) / (w_{ij} + w_{ji} + 2g)`, the share of the comparisons that j won, with g = ``games``
    pseudo-wins for each item; a tie is half a win. If comparisons follow Bradley–Terry exactly, the stationary
    probability is proportional to exp(strength). The score is log(M × probability); in every group of items that are
    compared only with each other, the mean of M × probability is 1.

    >>> from juryrank import from_orders
    >>> RankCentrality().fit_predict(from_orders([["a", "b", "c"], ["b", "a"], ["a", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Negahban, Oh, Shah, Operations Research 2017.
    """

    name = "rank-centrality"
    cost = Cost("pairs in lists", 600.0)
    chance = staticmethod(logistic)
    games: float = param(0.5, "pseudo-wins for each item of each pair; keep undefeated items finite", above=0)
    tol: float = param(1e-11, "stop when a step changes no probability by more than this share", above=0)
    max_iter: int = param(100_000, "maximum number of steps", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        most = max_pairs(self.name, r, lists)
        rank_centrality(lists, most, float(self.games), float(self.tol), self.max_iter, steps, out)
        return {}
