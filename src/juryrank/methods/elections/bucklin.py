"""Bucklin voting."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.methods.elections._ballots import Ballots, Places
from juryrank.methods.elections._base import Count, ElectionRule
from juryrank.methods.elections._votes import Tally
from juryrank.methods.elections.rounds import Round, listed


@dataclass(kw_only=True)
class Bucklin(ElectionRule):
    """Bucklin: votes for the first places, then also for the second, and so on, until a candidate has a majority.

    The candidates are in the order of their votes in that round, or after the last place if nobody ever has more than
    half of the ballots. A ballot gives nothing to candidates that it leaves out. Candidates that share places share the
    votes for them: two that share the first place have half a vote each in the first round, and one each in the second.

    >>> from juryrank import from_orders
    >>> found = Bucklin().fit_predict(from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "b"]]))
    >>> [votes.counts for votes in found.details["rounds"][0]]
    [{'a': 1.0, 'b': 1.0, 'c': 1.0}, {'b': 3.0, 'c': 2.0, 'a': 1.0}]

    Hoag, Hallett, Proportional Representation, 1926; Tideman, Collective Decisions and Voting, 2006.
    """

    name = "bucklin"

    def _count(self, ballots: Ballots) -> Count:
        places = ballots.places(ballots.everyone())
        cast = int(ballots.votes[places.ranked > 0].sum())
        rounds: list[Round] = []
        tally = Tally(np.zeros(ballots.n, np.int64), ballots.unit)
        for place in range(1, int(places.ranked.max(initial=0)) + 1):
            tally = self._votes(ballots, places, place)
            won = ballots.over_half(tally, cast)
            rounds.append(self._report(ballots, tally, place, won))
            if len(won):
                break
        values = tally.numbers.tolist()
        groups = [np.array([c for c, v in enumerate(values) if v == value]) for value in sorted(set(values))]
        return Count(groups, {"rounds": tuple(rounds)})

    def _votes(self, ballots: Ballots, places: Places, place: int) -> Tally:
        """The votes for the first ``place`` places; of ``size`` candidates that share places each has its part."""
        part = np.clip(place - places.above, 0, places.size)
        some = part > 0
        votes = ballots.votes[places.ballot[some]] * part[some]
        return ballots.share(places.cand[some], places.size[some], votes)

    def _report(self, ballots: Ballots, tally: Tally, place: int, won: Ints) -> Round:
        votes = tally.as_floats()
        order = sorted(range(ballots.n), key=lambda c: (-votes[c], ballots.names[c]))
        best = [ballots.names[c] for c in order if len(won) and tally.numbers[c] == tally.numbers.max()]
        which = "first places" if place == 1 else f"first {place} places"
        note = f"nobody has a majority with the {which}"
        if len(best) == 1:
            note = f"{best[0]} has a majority with the {which}" + (", the largest" if len(won) > 1 else "")
        elif best:
            note = f"{listed(best)} have the same majority with the {which} and tie for the first place"
        return Round(
            {ballots.names[c]: float(votes[c]) for c in order},
            elected=tuple(best) if len(best) == 1 else (),
            note=note,
        )
