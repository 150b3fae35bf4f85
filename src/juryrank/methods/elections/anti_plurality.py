"""Anti-plurality, also called veto."""

from dataclasses import dataclass

from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import CountingRule
from juryrank.methods.elections._votes import Tally


@dataclass(kw_only=True)
class AntiPlurality(CountingRule):
    """Anti-plurality (veto): minus the number of ballots that rank the candidate last.

    Candidates that share the last place share the vote against them, and so do those that a ballot leaves out, which
    are in the last place.

    >>> from juryrank import from_orders
    >>> AntiPlurality().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 0.0, 'a': -0.5, 'c': -2.5}}
    """

    name = "anti-plurality"

    def _tally(self, ballots: Ballots) -> Tally:
        last = ballots.last_places(ballots.everyone())
        return Tally(0 - last.numbers, last.unit)
