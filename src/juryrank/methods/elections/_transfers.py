"""A count of the single transferable vote under way: who holds which ballots, at which value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from copy import copy
from fractions import Fraction
from typing import Any

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.errors import DataError
from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._outcomes import Winners
from juryrank.methods.elections.rounds import Round, listed, number

MAX_BITS = 50_000  # of an exact value; the digits double with every transfer of a surplus

Pile = dict[Fraction, list[Ints]]  # value -> the ballots that a candidate holds at this value


class Transfers:
    """The state of a count; votes, values and quota are exact."""

    def __init__(self, ballots: Ballots, seats: int, decimals: int | None) -> None:
        self.ballots, self.seats, self.decimals = ballots, seats, decimals
        self.standing = ballots.everyone()
        self.piles: list[Pile] = [defaultdict(list) for _ in ballots.names]
        self.votes = [Fraction(0)] * ballots.n
        self.exhausted = Fraction(0)
        self.rounds: list[Round] = []
        self.elected: list[Ints] = []  # groups, in the order of election
        self.eliminated: list[Ints] = []  # groups, in the order of elimination
        self.tied: Ints = np.array([], np.int64)
        filled = np.flatnonzero(np.diff(ballots.ptr))
        self.quota = Fraction(self._papers(filled) // (seats + 1) + 1)
        self._hand_on(Fraction(1), filled)

    def copy(self) -> Transfers:
        """A count that goes its own way from here."""
        out = copy(self)
        for name in ("standing", "votes", "rounds", "elected", "eliminated"):
            setattr(out, name, copy(getattr(self, name)))
        out.piles = [defaultdict(list, {value: list(lists) for value, lists in pile.items()}) for pile in self.piles]
        return out

    def state(self) -> Hashable:
        """What decides how the count goes on."""
        held = tuple(
            tuple(sorted((value, np.sort(np.concatenate(lists)).tobytes()) for value, lists in pile.items() if lists))
            for pile in self.piles
        )
        return self.standing.tobytes(), self.outcomes(), held

    def outcomes(self) -> frozenset[Winners]:
        """Who has a seat; with each of those that tie for the seats that are left."""
        seated = Winners(c for group in self.elected for c in group.tolist())
        return frozenset([seated | {c} for c in self.tied.tolist()] or [seated])

    def named(self, candidates: Ints) -> list[str]:
        """Names, sorted."""
        return sorted(self.ballots.names[c] for c in candidates)

    def elect(self, reached: Ints) -> None:
        """Elect those that reach the quota, and transfer their surpluses if seats are left."""
        names, over = self.named(reached), sum(self.votes[c] - self.quota for c in reached)
        note = f"{listed(names)} reach{'es' * (len(names) == 1)} the quota of {number(float(self.quota))}"
        open_seats = self.seats > len(reached)
        if open_seats and over:
            note += f"; the surplus of {number(float(over))} is transferred"
        self._record(note, elected=self._seat(reached))
        self.standing[reached] = False
        if not open_seats:
            return
        for c in reached:
            pile, votes = self.piles[c], self.votes[c]
            self.piles[c], self.votes[c] = defaultdict(list), self.quota
            if votes > self.quota:
                for value, lists in pile.items():
                    self._transfer(value, (votes - self.quota) / votes, np.concatenate(lists))

    def elect_rest(self, why: str) -> None:
        """Elect all that are left, who may be below the quota."""
        left = np.flatnonzero(self.standing)
        names = self.named(left)
        word = "is" if len(names) == 1 else "are"
        self._record(f"{listed(names)} {word} elected: {why}", elected=self._seat(left))
        self.standing[left] = False

    def eliminate(self, gone: Ints, note: str) -> None:
        """Eliminate candidates; their ballots go on at their value."""
        self._record(note, eliminated=self.named(gone))
        self.standing[gone] = False
        self.eliminated.append(gone)
        for c in gone:
            pile, self.piles[c] = self.piles[c], defaultdict(list)
            for value, lists in pile.items():
                self._hand_on(value, np.concatenate(lists))

    def end_in_tie(self, tied: Ints) -> None:
        """Elect those with more votes; the others tie for the seats that are left."""
        self.tied = tied
        left = np.flatnonzero(self.standing)
        more = np.setdiff1d(left, tied)
        seats = self.seats - len(more)
        names = self.named(tied)
        note = f"{listed(names)} tie for {'the last seat' if seats == 1 else f'{seats} seats'}"
        if len(more):
            note = f"{listed(self.named(more))} {'is' if len(more) == 1 else 'are'} elected; {note}"
        self._record(note, elected=self._seat(more))
        self.standing[more] = False

    def all_places(self) -> list[Ints]:
        """Groups from the last place to the first."""
        left = np.flatnonzero(self.standing)
        rest = [left[[self.votes[c] == v for c in left]] for v in sorted({self.votes[c] for c in left})]
        return [*self.eliminated, *rest, *reversed(self.elected)]

    def report(self) -> dict[str, Any]:
        """What is reported about the election."""
        return {
            "rounds": tuple(self.rounds),
            "elected": tuple(name for group in self.elected for name in self.named(group)),
            "quota": float(self.quota),
            "exhausted": float(self.exhausted),
        }

    def _seat(self, chosen: Ints) -> list[str]:
        """Give seats to candidates, most votes first; the names in that order."""
        for value in sorted({self.votes[c] for c in chosen}, reverse=True):
            self.elected.append(chosen[[self.votes[c] == value for c in chosen]])
        self.seats -= len(chosen)
        return [self.ballots.names[c] for c in self._by_votes(chosen)]

    def _by_votes(self, candidates: Ints) -> list[int]:
        return sorted(candidates.tolist(), key=lambda c: (-self.votes[c], self.ballots.names[c]))

    def _record(self, note: str, elected: Sequence[str] = (), eliminated: Sequence[str] = ()) -> None:
        left = self._by_votes(np.flatnonzero(self.standing))
        counts = {self.ballots.names[c]: float(self.votes[c]) for c in left}
        self.rounds.append(Round(counts, tuple(elected), tuple(eliminated), float(self.exhausted), note))

    def _transfer(self, value: Fraction, part: Fraction, lists: Ints) -> None:
        """Hand on ballots at a part of their value; what is cut off counts as exhausted."""
        new = value * part
        if self.decimals is not None:
            cut = Fraction(new * 10**self.decimals // 1, 10**self.decimals)
            self.exhausted += (new - cut) * self._papers(lists)
            new = cut
        elif new.denominator.bit_length() > MAX_BITS:
            raise DataError(
                f"stv: after so many transfers of surpluses the exact values of the ballots of query "
                f"{self.ballots.query!r} have more than {MAX_BITS} binary digits; set decimals, to 5 for example"
            )
        if new:
            self._hand_on(new, lists)

    def _papers(self, lists: Ints) -> Fraction:
        """The votes of ballots at their full value."""
        return int(self.ballots.votes[lists].sum()) / self.ballots.unit

    def _hand_on(self, value: Fraction, lists: Ints) -> None:
        """Give ballots, or parts of them, to their best candidates that are still in."""
        # A candidate may have got several parts of a ballot, from different candidates in the same place.
        distinct, parts = np.unique(lists, return_counts=True)
        for times in np.unique(parts).tolist():
            self._give(value * times, distinct[parts == times])

    def _give(self, value: Fraction, lists: Ints) -> None:
        """Give different ballots to their best candidates that are still in; several in one place share the value."""
        places = self.ballots.places(self.standing, lists)
        top = places.above == 0
        ballot, cand, size = places.ballot[top], places.cand[top], places.size[top]
        self.exhausted += value * self._papers(lists[places.ranked[lists] == 0])
        order = np.lexsort((ballot, size, cand))
        ballot, cand, size = ballot[order], cand[order], size[order]
        starts = np.flatnonzero((np.diff(cand, prepend=-1) != 0) | (np.diff(size, prepend=-1) != 0))
        for group in np.split(np.arange(len(cand)), starts[1:]) if len(cand) else ():
            to, share = int(cand[group[0]]), value / int(size[group[0]])
            self.piles[to][share].append(ballot[group])
            self.votes[to] += share * self._papers(ballot[group])
