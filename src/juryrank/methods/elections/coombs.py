"""Coombs' method."""

from dataclasses import dataclass

import numpy as np

from juryrank.methods.cost import Cost
from juryrank.methods.elections._ballots import Ballots, Standing
from juryrank.methods.elections._base import EliminationRule, RoundCount


@dataclass(kw_only=True)
class Coombs(EliminationRule):
    """Coombs: the candidate with the most last places goes, until one has a majority of the first places.

    Candidates that share a place share the vote. Those that a ballot leaves out share its last place. The counts of the
    rounds are last places. Those that are in when the count ends are placed by their last places, fewest first.

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]], weights=[4, 3, 2])
    >>> Coombs().fit_predict(ballots).details["rounds"][0]
    (Round(counts={'a': 5.0, 'c': 4.0, 'b': 0.0}, elected=(), eliminated=('a',), exhausted=0.0,
           note='a has the most last places and is eliminated'),
     Round(counts={'c': 7.0, 'b': 2.0}, elected=('b',), eliminated=(), exhausted=0.0, note='b has a majority'))

    Coombs, A Theory of Data, Wiley 1964.
    """

    name = "coombs"
    cost = Cost("pairs of items", 8000.0, per_query=1_000_000.0, threaded=False)
    worst_by = "the most last places"

    def _round(self, ballots: Ballots, standing: Standing) -> RoundCount:
        first, last = ballots.first_places(standing), ballots.last_places(standing)
        active = ballots.total - ballots.exhausted(standing)
        ahead = ballots.over_half(first, active)
        left = np.flatnonzero(standing)
        worst = left[last.numbers[left] == last.numbers[left].max()]
        return RoundCount(last, 0 - last.numbers, worst, int(ahead[0]) if len(ahead) else None)
