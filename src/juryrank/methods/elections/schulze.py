"""Schulze's rule."""

from dataclasses import dataclass

import numpy as np

from juryrank.methods.elections._majority_rule import MajorityRule, PairVotes, Result, defeat_scores, undefeated
from juryrank.methods.pairwise.majorities import Flags


@dataclass(kw_only=True)
class Schulze(MajorityRule):
    """Schulze (beat path): a candidate defeats another if its strongest path to it is stronger than the way back.

    A path leads from a candidate to one that it beats by majority, and so on; it is as strong as its smallest margin.
    The winners are those whom nobody defeats. The score is the number of candidates that it defeats, and the winners
    share the highest. ``Consensus.details`` has ``condorcet`` and ``smith_set`` as in ``copeland``.

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]], weights=[4, 3, 2])
    >>> Schulze().fit_predict(ballots).to_dict()
    {'all': {'a': 2.0, 'b': 1.0, 'c': 0.0}}

    Schulze, Social Choice and Welfare 2011, with margins.
    """

    name = "schulze"

    def _decide(self, votes: PairVotes) -> Result:
        strength = np.maximum(votes.majorities.margin, 0.0)
        for between in range(len(strength)):
            np.maximum(strength, np.minimum(strength[:, between, None], strength[between]), out=strength)
        np.fill_diagonal(strength, 0.0)
        defeats: Flags = strength > strength.T
        return Result(defeat_scores(defeats, undefeated(defeats)))
