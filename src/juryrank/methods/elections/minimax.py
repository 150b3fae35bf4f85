"""The minimax rule."""

from dataclasses import dataclass

from juryrank.data.arrays import Floats
from juryrank.methods.cost import Cost
from juryrank.methods.elections._majority_rule import MajorityRule, PairVotes, Result


@dataclass(kw_only=True)
class Minimax(MajorityRule):
    """Minimax (Simpson–Kramer): the candidate whose worst defeat is the smallest wins.

    The score is the negative margin of the worst defeat, 0 for a candidate that nobody beats; defeats are measured by
    margins (votes for less votes against). With the default ``missing`` a ballot prefers the candidates that it ranks
    to those that it leaves out. ``Consensus.details`` has ``condorcet`` and ``smith_set`` as in ``copeland``.

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[4, 3, 2])
    >>> Minimax().fit_predict(ballots).to_dict()
    {'all': {'a': -1.0, 'b': -3.0, 'c': -5.0}}

    Simpson, Quarterly Journal of Economics 1969; Kramer, Journal of Economic Theory 1977.
    """

    name = "minimax"
    coarse = True  # who loses to somebody by all votes ties with all others who do
    cost = Cost("pairs of items", 60.0, per_query=200_000.0, threaded=False)

    def _decide(self, votes: PairVotes) -> Result:
        worst: Floats = votes.majorities.margin.max(axis=0, initial=0.0)
        return Result(0.0 - worst / votes.unit)
