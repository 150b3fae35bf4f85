"""Nanson's method."""

from dataclasses import dataclass

import numpy as np

from juryrank.methods.elections._ballots import Ballots, Standing
from juryrank.methods.elections._base import EliminationRule, RoundCount
from juryrank.methods.elections.rounds import listed


@dataclass(kw_only=True)
class Nanson(EliminationRule):
    """Nanson: all candidates with a Borda score below the average of those that are still in go, until one is left.

    A Condorcet winner wins. Points are those of ``baldwin``. Those that go in the same round share a place;
    ``tie_break`` applies only if all that are left have the same score.

    >>> from juryrank import from_orders
    >>> found = Nanson().fit_predict(from_orders([["a", "b", "c", "d"], ["b", "a", "d"], ["a", "c", "b", "d"]]))
    >>> for points in found.details["rounds"][0]:
    ...     print(points.counts, points.note)
    {'a': 8.0, 'b': 6.0, 'c': 3.0, 'd': 1.0} c and d have Borda scores below the average and are eliminated
    {'a': 2.0, 'b': 1.0} b has a Borda score below the average and is eliminated; a is left and wins

    Nanson, Transactions and Proceedings of the Royal Society of Victoria 1882; Niou, Public Choice 1987.
    """

    name = "nanson"
    worst_by = "a Borda score below the average"
    one_by_one = False

    def _round(self, ballots: Ballots, standing: Standing) -> RoundCount:
        points = ballots.borda(standing)
        left = np.flatnonzero(standing)
        values = points.numbers[left].tolist()
        total = sum(values)
        worst = left[np.array([value * len(left) < total for value in values])]
        return RoundCount(points, points.numbers, worst)

    def _sentence(self, tied: list[str], gone: list[str]) -> str:
        if len(tied) == len(gone) > 1:
            return f"{listed(gone)} have Borda scores below the average and are eliminated"
        if len(tied) > len(gone):
            return f"{listed(tied)} have the same Borda score; {gone[0]} is eliminated, {self.how()}"
        return super()._sentence(tied, gone)
