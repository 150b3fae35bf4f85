"""Approval voting."""

from dataclasses import dataclass

import numpy as np

from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import CountingRule
from juryrank.methods.elections._votes import Tally
from juryrank.params import param


@dataclass(kw_only=True)
class Approval(CountingRule):
    """Approval voting: the number of ballots that approve of the candidate.

    A ballot approves of the candidates to which it gives a score of at least ``threshold`` or, without scores, of all
    that it ranks. With ``places`` it approves of those with fewer than so many candidates above them, whatever their
    scores.

    >>> from juryrank import from_orders
    >>> Approval().fit_predict(from_orders([["a"], ["b", "a"], [("b", "c")]])).to_dict()
    {'all': {'a': 2.0, 'b': 2.0, 'c': 1.0}}

    Brams, Fishburn, American Political Science Review 1978.
    """

    name = "approval"
    uses_scores = True
    threshold: float = param(0.5, "lowest score that approves, on ballots with scores")
    places: int | None = param(None, "how many places each ballot approves of; None: by score, or all", at_least=1)

    def _tally(self, ballots: Ballots) -> Tally:
        places = ballots.places(ballots.everyone())
        if self.places is not None:
            approved = places.above < self.places
        elif ballots.score is not None:
            approved = ballots.score >= self.threshold
        else:
            approved = np.ones(len(places.cand), bool)
        cand = places.cand[approved]
        return ballots.share(cand, np.ones(len(cand), np.int64), ballots.votes[places.ballot[approved]])
