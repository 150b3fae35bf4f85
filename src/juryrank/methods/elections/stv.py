"""Single transferable vote."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.errors import ParameterError
from juryrank.methods.cost import Cost
from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import Count, TieBreakingRule
from juryrank.methods.elections._rounds import all_of, listed
from juryrank.methods.elections._scottish import ScottishCount
from juryrank.methods.elections._transfers import Transfers
from juryrank.params import param


@dataclass(kw_only=True)
class STV(TieBreakingRule):
    """Single transferable vote: who reaches the quota is elected, and the surplus goes to the next choices.

    The quota is Droop's: the whole number above votes / (``seats`` + 1). Surpluses are transferred by the weighted
    inclusive Gregory method: all ballots of the elected candidate go on to the next candidate that is still in, each at
    its value times surplus / votes. All surpluses of a round are transferred at once. If nobody reaches the quota, the
    candidate with the fewest votes goes, and its ballots go on at their value. When as many candidates are in as there
    are seats, they are elected. A ballot with several next candidates is divided equally. Values are exact fractions,
    or cut off after ``decimals`` digits.

    With ``rules="scottish"``, the count is that of Scottish council elections: surpluses are transferred one at a time,
    the largest first, before anybody is eliminated; values are cut off after 5 digits; candidates with equal votes are
    told apart by the last round in which they differed, and by lot if there is none: ``tie_break`` is how the lot falls
    (by name without it). A ballot counts up to the first shared place.

    Scores are the order of election, then that of elimination. The details are the rounds, ``elected`` (in order),
    ``tied`` (candidates that tie for the seats that are left), ``quota`` and ``exhausted`` (votes at the end).

    >>> from juryrank import from_orders
    >>> ballots = from_orders([["a", "b"], ["b", "a"], ["c"], ["d", "c"]], weights=[6, 1, 3, 2])
    >>> found = STV(seats=2).fit_predict(ballots)
    >>> found.details["elected"][0], float(found.details["quota"][0])
    (('a', 'c'), 5.0)
    >>> for votes in found.details["rounds"][0]:
    ...     print(votes.counts, votes.note)
    {'a': 6.0, 'c': 3.0, 'd': 2.0, 'b': 1.0} a reaches the quota of 5; the surplus of 1 is transferred
    {'c': 3.0, 'b': 2.0, 'd': 2.0} b and d tie for the fewest votes; both are eliminated
    {'c': 5.0} c reaches the quota of 5

    Tideman, Journal of Economic Perspectives 1995; Miragliotta, Determining the Result, Perth 2002; Scottish Local
    Government Elections Order 2007, Schedule 1, rules 45 to 52.
    """

    name = "stv"
    cost = Cost("entries", 300.0, per_query=1_000_000.0, threaded=False)
    facts = ("rounds", "elected", "tied", "quota", "exhausted")
    seats: int = param(1, "how many candidates are elected", at_least=1)
    decimals: int | None = param(
        None, "digits after the point of the value of a ballot; None: exact (5 with rules=scottish)", at_least=0
    )
    rules: str = param(
        "together",
        "how surpluses and ties are dealt with; together: all surpluses of a round at once, ties as tie_break says; "
        "scottish: as in Scottish council elections",
        choices=("together", "scottish"),
    )

    def check(self) -> None:
        """As for every method; and the digits, which the Scottish rules prescribe."""
        super().check()
        if self.rules == "scottish" and self.decimals not in (None, 5):
            raise ParameterError(f"rules=scottish of STV cuts values off after 5 digits, got decimals={self.decimals}")

    def _count(self, ballots: Ballots) -> Count:
        if self.rules == "scottish":
            return self._scottish(ballots)
        count = Transfers(ballots, self.seats, self.decimals)
        while count.seats and count.standing.any() and not len(count.tied):
            self._take_round(count)
        return Count(count.all_places(), count.report())

    def _scottish(self, ballots: Ballots) -> Count:
        count = ScottishCount(ballots, self.seats)
        by = replace(self, tie_break="name") if self.tie_break == "none" else self
        while lot := count.advance():
            order = by.favoured(ballots, np.array(lot.tied))
            count.draw(lot, order[-1 if lot.exclusion else 0], by.how())
        return Count(count.all_places(), count.report())

    def _take_round(self, count: Transfers) -> None:
        left = np.flatnonzero(count.standing)
        reached = left[[count.votes[c] >= count.quota for c in left]]
        if len(left) <= count.seats and len(reached) < len(left):
            count.elect_rest("as many candidates as seats are left")
        elif len(reached):
            count.elect(reached)
        else:
            fewest = min(count.votes[c] for c in left)
            self._eliminate(count, left[[count.votes[c] == fewest for c in left]])

    def _eliminate(self, count: Transfers, lowest: Ints) -> None:
        names = count.named(lowest)
        if len(lowest) == 1:
            count.eliminate(lowest, f"{names[0]} has the fewest votes and is eliminated")
        elif self.tie_break != "none":
            gone = np.array(self.favoured(count.ballots, lowest)[-1:])
            why = f"{count.named(gone)[0]} is eliminated, {self.how()}"
            count.eliminate(gone, f"{listed(names)} tie for the fewest votes; {why}")
        elif np.count_nonzero(count.standing) - len(lowest) >= count.seats:
            count.eliminate(lowest, f"{listed(names)} tie for the fewest votes; {all_of(names)} are eliminated")
        else:
            count.end_in_tie(lowest)
