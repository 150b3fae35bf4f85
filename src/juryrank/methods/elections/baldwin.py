"""Baldwin's method."""

from dataclasses import dataclass

import numpy as np

from juryrank.methods.cost import Cost
from juryrank.methods.elections._ballots import Ballots, Standing
from juryrank.methods.elections._base import EliminationRule, RoundCount


@dataclass(kw_only=True)
class Baldwin(EliminationRule):
    """Baldwin: the candidate with the lowest Borda score among those that are still in goes, until one is left.

    A Condorcet winner wins. A ballot gives a candidate one point for every candidate below and half a point for every
    other one in the same place; those that it leaves out are in the last place.

    >>> from juryrank import from_orders
    >>> found = Baldwin().fit_predict(from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "b"]]))
    >>> for points in found.details["rounds"][0]:
    ...     print(points.counts, points.note)
    {'b': 4.0, 'c': 3.0, 'a': 2.0} a has the lowest Borda score and is eliminated
    {'b': 2.0, 'c': 1.0} c has the lowest Borda score and is eliminated; b is left and wins

    Baldwin, Transactions and Proceedings of the Royal Society of Victoria 1926.
    """

    name = "baldwin"
    cost = Cost("pairs of items", 2000.0, per_query=1_000_000.0, threaded=False)
    worst_by = "the lowest Borda score"

    def _round(self, ballots: Ballots, standing: Standing) -> RoundCount:
        points = ballots.borda(standing)
        left = np.flatnonzero(standing)
        worst = left[points.numbers[left] == points.numbers[left].min()]
        return RoundCount(points, points.numbers, worst)
