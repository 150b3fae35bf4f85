"""Instant-runoff voting."""

from dataclasses import dataclass

import numpy as np

from juryrank.methods.elections._ballots import Ballots, Standing
from juryrank.methods.elections._base import EliminationRule, RoundCount
from juryrank.params import param


@dataclass(kw_only=True)
class IRV(EliminationRule):
    """Instant-runoff voting (Hare): the candidate with the fewest first places goes, until one has a majority.

    A majority is more than half of the ballots that still rank somebody. A ballot with several candidates in its first
    place is a whole vote for each (``approval``) or a part of a vote for each (``split``); with ``approval`` only
    ballots with one first place count for a majority, so that no later round can turn it. Scores are the order of
    elimination; those that are in when the count ends are placed by their last votes. ``tied`` in
    ``Consensus.details`` names those who win in some but not in all ways to break the ties within the count, unless
    ``tie_break`` says how.

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]], weights=[4, 3, 2])
    >>> found = IRV().fit_predict(ballots)
    >>> for votes in found.details["rounds"][0]:
    ...     print(votes.counts, votes.note)
    {'a': 4.0, 'b': 3.0, 'c': 2.0} c has the fewest first places and is eliminated
    {'b': 5.0, 'a': 4.0} b has a majority

    Ties on ballots: Delemazure, Peters, EC 2024.
    """

    name = "irv"
    worst_by = "the fewest first places"
    shared: str = param(
        "approval",
        "how a ballot votes that puts several candidates first; approval: a whole vote for each; split: equal parts",
        choices=("approval", "split"),
    )

    def _round(self, ballots: Ballots, standing: Standing) -> RoundCount:
        places = ballots.places(standing)
        top = places.above == 0
        cand, size, votes = places.cand[top], places.size[top], ballots.votes[places.ballot[top]]
        alone = size == 1
        if self.shared == "split" or alone.all():
            tally = sole = ballots.share(cand, size, votes)
        else:
            tally = ballots.share(cand, np.ones_like(size), votes)
            sole = ballots.share(cand[alone], size[alone], votes[alone])
        active = int(ballots.votes[places.ranked > 0].sum())
        ahead = ballots.over_half(sole, active)
        left = np.flatnonzero(standing)
        worst = left[tally.numbers[left] == tally.numbers[left].min()]
        return RoundCount(tally, tally.numbers, worst, int(ahead[0]) if len(ahead) else None)

    def _matters(self, found: RoundCount, standing: Standing) -> bool:
        """As for every rule; not where all votes of the worst together are fewer than those of anybody else."""
        votes = found.shown.numbers
        others = np.flatnonzero(standing)
        others = others[~np.isin(others, found.worst)]
        alone = len(others) and votes[found.worst].sum() < votes[others].min()
        return super()._matters(found, standing) and not alone
