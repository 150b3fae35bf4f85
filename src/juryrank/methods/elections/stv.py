"""Single transferable vote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.errors import ParameterError
from juryrank.methods.cost import Cost
from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import Count, TieBreakingRule
from juryrank.methods.elections._outcomes import Winners, all_winners, contested
from juryrank.methods.elections._scottish import ScottishCount
from juryrank.methods.elections._transfers import Transfers
from juryrank.methods.elections.rounds import all_of, listed
from juryrank.params import param

C = TypeVar("C", Transfers, ScottishCount)


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
    ``tied`` (without ``tie_break``: who has a seat in some but not in all ways to break the ties within the count),
    ``complete`` (whether all ways were followed), ``quota`` and ``exhausted`` (votes at the end).

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
    facts = ("rounds", "elected", "tied", "complete", "quota", "exhausted")
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
            return self._with_ties(*self._scottish(ballots), self._scottish_ways)
        return self._with_ties(*self._together(ballots), self._ways)

    @staticmethod
    def _with_ties(count: C, first_tie: C | None, step: Callable[[C], tuple[list[C], Iterable[Winners]]]) -> Count:
        """The result of a count, and who else may have a seat if its ties fall otherwise."""
        outcomes, complete = set(count.outcomes()), True
        if first_tie is not None:
            more, complete = all_winners(first_tie, step, lambda state: state.state(), len(count.ballots.votes))
            outcomes |= more
        tied = tuple(sorted(count.ballots.names[c] for c in contested(outcomes)))
        return Count(count.all_places(), {**count.report(), "tied": tied, "complete": complete})

    def _together(self, ballots: Ballots) -> tuple[Transfers, Transfers | None]:
        """The count, and what it was at the first tie whose outcome may matter."""
        count, first_tie = Transfers(ballots, self.seats, self.decimals), None
        while (lowest := self._advance(count)) is not None:
            if first_tie is None and self.tie_break == "none" and self._matters(count, lowest):
                first_tie = count.copy()
            self._break_tie(count, lowest)
        return count, first_tie

    def _ways(self, count: Transfers) -> tuple[list[Transfers], Iterable[Winners]]:
        """How the count may go on, for each way to break its next tie; or who has a seat."""
        while (lowest := self._advance(count)) is not None:
            if self._matters(count, lowest):
                ways = [count.copy() for _ in lowest]
                for way, c in zip(ways, lowest, strict=True):
                    way.eliminate(np.array([c]), "")
                return ways, ()
            count.eliminate(lowest, "")
        return [], count.outcomes()

    def _advance(self, count: Transfers) -> Ints | None:
        """Go on until several have the fewest votes, who are returned, or to the end."""
        while count.seats and count.standing.any() and not len(count.tied):
            left = np.flatnonzero(count.standing)
            reached = left[[count.votes[c] >= count.quota for c in left]]
            if len(left) <= count.seats and len(reached) < len(left):
                count.elect_rest("as many candidates as seats are left")
            elif len(reached):
                count.elect(reached)
            else:
                fewest = min(count.votes[c] for c in left)
                lowest: Ints = left[[count.votes[c] == fewest for c in left]]
                if len(lowest) > 1:
                    return lowest
                count.eliminate(lowest, f"{count.named(lowest)[0]} has the fewest votes and is eliminated")
        return None

    def _matters(self, count: Transfers, lowest: Ints) -> bool:
        """Whether it may matter which of the lowest goes first: not if all of them go before anything else happens."""
        left = np.flatnonzero(count.standing)
        others = [count.votes[c] for c in np.setdiff1d(left, lowest)]
        if len(others) < count.seats:
            return True
        votes = sum(count.votes[c] for c in lowest)
        return bool(votes) and (votes >= min(others) or max(others) + votes >= count.quota)

    def _break_tie(self, count: Transfers, lowest: Ints) -> None:
        names = count.named(lowest)
        if self.tie_break != "none":
            gone = np.array(self.favoured(count.ballots, lowest)[-1:])
            why = f"{count.named(gone)[0]} is eliminated, {self.how()}"
            count.eliminate(gone, f"{listed(names)} tie for the fewest votes; {why}")
        elif np.count_nonzero(count.standing) - len(lowest) >= count.seats:
            count.eliminate(lowest, f"{listed(names)} tie for the fewest votes; {all_of(names)} are eliminated")
        else:
            count.end_in_tie(lowest)

    def _scottish(self, ballots: Ballots) -> tuple[ScottishCount, ScottishCount | None]:
        """The count, and what it was before the first lot."""
        count, first_lot = ScottishCount(ballots, self.seats), None
        undeclared = self.tie_break == "none"
        by = replace(self, tie_break="name") if undeclared else self
        while lot := count.advance():
            first_lot = first_lot or (count.copy() if undeclared else None)
            order = by.favoured(ballots, np.array(lot.tied))
            count.draw(lot, order[-1 if lot.exclusion else 0], by.how())
        return count, first_lot

    def _scottish_ways(self, count: ScottishCount) -> tuple[list[ScottishCount], Iterable[Winners]]:
        """How the count may go on after each lot; or who has a seat."""
        if (lot := count.advance()) is None:
            return [], count.outcomes()
        ways = [count.copy() for _ in lot.tied]
        for way, c in zip(ways, lot.tied, strict=True):
            way.take(c)
        return ways, ()
