"""Ranked pairs."""

from dataclasses import dataclass

import numpy as np

from juryrank.methods.cost import Cost
from juryrank.methods.elections._locked_pairs import locked_pairs
from juryrank.methods.elections._majority_rule import MajorityRule, PairVotes, Result, defeat_scores, undefeated
from juryrank.params import param


@dataclass(kw_only=True)
class RankedPairs(MajorityRule):
    """Ranked pairs (Tideman): majorities are locked in, the largest margin first, unless they contradict earlier ones.

    Where margins are equal, every order of these pairs counts: the winners are all candidates that win in one of them.
    The score is the number of candidates below in all of them, and the winners share the highest. To find all winners
    is hard (Brill, Fischer, AAAI 2012); if there are more than ``limit`` ways (or 10,000 divided by the candidates, if
    that is less), pairs of the same margin that contradict each other are left out, and ``complete`` in
    ``Consensus.details`` is false: there may be other winners. The details also have ``condorcet`` and ``smith_set``
    as in ``copeland``.

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[4, 3, 2])
    >>> RankedPairs().fit_predict(ballots).to_dict()
    {'all': {'a': 2.0, 'b': 1.0, 'c': 0.0}}

    Tideman, Social Choice and Welfare 1987; Zavist, Tideman, Social Choice and Welfare 1989.
    """

    name = "ranked-pairs"
    cost = Cost("triples of items", 20.0, per_query=500_000.0, threaded=False)
    limit: int = param(1000, "largest number of ways to break ties between pairs that are followed", at_least=1)

    def _decide(self, votes: PairVotes) -> Result:
        majorities = votes.majorities
        defeats, winners, complete = majorities.beats.copy(), np.zeros(majorities.n, bool), True
        for k, items in enumerate(majorities.smith_sets):  # all that is contested is within such a set
            within = (items[:, None], items)
            ways, all_ways = locked_pairs(majorities.margin[within], self.limit)
            defeats[within] = np.logical_and.reduce(ways)
            complete &= all_ways
            if k == 0:
                winners[items] = np.logical_or.reduce([undefeated(way) for way in ways])
        return Result(defeat_scores(defeats, winners), {"complete": complete})
