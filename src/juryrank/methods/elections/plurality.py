"""Plurality."""

from dataclasses import dataclass

from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import CountingRule
from juryrank.methods.elections._votes import Tally


@dataclass(kw_only=True)
class Plurality(CountingRule):
    """Plurality: the number of ballots that rank the candidate first; those that share a first place share the vote.

    >>> from juryrank import from_orders
    >>> Plurality().fit_predict(from_orders([["a", "b", "c"], ["b", "a"], [("b", "c")]])).to_dict()
    {'all': {'b': 1.5, 'a': 1.0, 'c': 0.5}}
    """

    name = "plurality"

    def _tally(self, ballots: Ballots) -> Tally:
        return ballots.first_places(ballots.everyone())
