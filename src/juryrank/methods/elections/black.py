"""Black's rule."""

from dataclasses import dataclass

from juryrank.data.arrays import Floats
from juryrank.methods.cost import Cost
from juryrank.methods.elections._majority_rule import MajorityRule, PairVotes, Result


@dataclass(kw_only=True)
class Black(MajorityRule):
    """Black: the Condorcet winner wins; where there is none, the candidate with the most Borda points does.

    A ballot gives a candidate one point for each candidate below it and takes one for each above it (the symmetric
    Borda score, which is the sum of the margins; on complete ballots its order is that of ``borda``). A Condorcet
    winner without the most points gets one point more than all others. ``Consensus.details`` has ``condorcet`` and
    ``smith_set`` as in ``copeland``.

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b", "c"], ["b", "c", "a"]], weights=[3, 2])
    >>> Black().fit_predict(ballots).to_dict()
    {'all': {'a': 5.0, 'b': 4.0, 'c': -6.0}}

    Black, The Theory of Committees and Elections, 1958.
    """

    name = "black"
    cost = Cost("pairs of items", 60.0, per_query=200_000.0, threaded=False)

    def _decide(self, votes: PairVotes) -> Result:
        points: Floats = votes.majorities.margin.sum(axis=1) / votes.unit
        winner = votes.majorities.winner
        if winner is not None and (points >= points[winner]).sum() > 1:
            points[winner] = points.max() + 1.0
        return Result(points)
