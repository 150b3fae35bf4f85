"""A count by the rules of Scottish council elections: stage by stage, one surplus or one exclusion at a time.

Votes are whole numbers of 1/100,000 of a vote: the Order has the value of every paper calculated to five places, "any
remainder being ignored". Numbers of rules are those of the Scottish Local Government Elections Order 2007, Schedule 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.errors import DataError
from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._outcomes import Winners
from juryrank.methods.elections.rounds import Round, listed, number

VOTE = 10**5  # units of a vote

Parcels = dict[int, list[int]]  # value -> papers that a candidate got at this value


class Draw(NamedTuple):
    """Candidates who have been equal at all stages, of whom one is drawn by lot."""

    tied: list[int]
    exclusion: bool  # or else, whose surplus is transferred first


class Papers(NamedTuple):
    """The valid ballot papers: different orders of candidates, and how many papers have each."""

    orders: list[tuple[int, ...]]
    copies: list[int]
    void: int = 0  # papers without a first preference
    short: int = 0  # papers that count up to a shared place

    @classmethod
    def of(cls, ballots: Ballots) -> Papers:
        """The papers up to the first place that is shared: no candidate is the next preference there."""
        counts: Counter[tuple[int, ...]] = Counter()
        void = short = 0
        for n, papers in enumerate(_whole(ballots)):
            entries = slice(int(ballots.ptr[n]), int(ballots.ptr[n + 1]))
            order, ranks = ballots.cand[entries].tolist(), ballots.rank[entries].tolist()
            shared = next((k for k in range(len(ranks) - 1) if ranks[k] == ranks[k + 1]), None)
            void += papers * (shared == 0)
            short += papers * bool(shared)
            if order[:shared] and papers:
                counts[tuple(order[:shared])] += papers
        return cls(list(counts), list(counts.values()), void, short)

    def note(self) -> list[str]:
        """What was not counted as it stands."""
        parts = [
            (self.void, "void, with a shared first place"),
            (self.short, "counted up to a shared place"),
        ]
        return [f"{n} ballot{' is' if n == 1 else 's are'} {what}" for n, what in parts if n]


class ScottishCount:
    """The state of a count at the end of a stage."""

    def __init__(self, ballots: Ballots, seats: int) -> None:
        self.ballots, self.names, self.seats, self.papers = ballots, ballots.names, seats, Papers.of(ballots)
        self.valid = sum(self.papers.copies) * VOTE
        self.quota = (sum(self.papers.copies) // (seats + 1) + 1) * VOTE
        self.continuing = set(range(ballots.n))
        self.pending: list[int] = []  # elected, with a surplus to transfer
        self.elected: list[list[int]] = []  # those with equal votes together, in the order of election
        self.excluded: list[int] = []
        self.votes = [0] * ballots.n
        self.parcels: list[Parcels] = [{} for _ in ballots.names]
        self.history: list[tuple[int, ...]] = []  # the votes at the end of each stage
        self.rounds: list[Round] = []
        self._new: list[int] = []  # elected at this stage
        self._hand_on(VOTE, range(len(self.papers.orders)))

    def copy(self) -> ScottishCount:
        """A count that goes its own way from here."""
        out = copy(self)
        for name in ("continuing", "pending", "elected", "excluded", "votes", "history", "rounds"):
            setattr(out, name, copy(getattr(self, name)))
        out.parcels = [{value: list(papers) for value, papers in parcels.items()} for parcels in self.parcels]
        return out

    def state(self) -> Hashable:
        """What decides how the count goes on."""
        held = tuple(
            tuple(sorted((value, tuple(sorted(papers))) for value, papers in parcels.items()))
            for parcels in self.parcels
        )
        return frozenset(self.continuing), tuple(self.pending), tuple(self.history), held

    def advance(self) -> Draw | None:
        """Go on until a lot must be drawn, or to the end."""
        while True:
            if len(self.history) == len(self.rounds):
                self.history.append(tuple(self.votes))
            news = self._elect([c for c in self.continuing if self.votes[c] >= self.quota])  # rule 47
            vacancies = self.seats - sum(map(len, self.elected))
            if not vacancies or len(self.continuing) <= vacancies:  # rule 52
                self._end(news)
                return None
            exclusion = not self.pending
            tied, stage = self._next(exclusion)
            if len(tied) > 1 and not (exclusion and self._have_nothing(tied, vacancies)):
                return Draw(tied, exclusion)
            self.take(min(tied, key=self.names.__getitem__), self._how(tied, stage, exclusion))

    def take(self, chosen: int, how: str = "") -> None:
        """Transfer the surplus of a candidate (rules 48, 49), or exclude it (rules 50, 51): the next stage."""
        name, news = self.names[chosen], self._news()
        parcels, self.parcels[chosen] = self.parcels[chosen], {}
        if chosen in self.pending:
            surplus, votes = self.votes[chosen] - self.quota, self.votes[chosen]
            self._record([*news, f"{how}the surplus of {name} ({_number(surplus)}) is transferred"])
            self.pending.remove(chosen)
            self.votes[chosen] = self.quota
            for value, papers in parcels.items():
                self._hand_on(value * surplus // votes, papers)
        else:
            why = how or f"{name} has the fewest votes and "
            self._record([*news, f"{why}is eliminated"], eliminated=[name])
            self.continuing.remove(chosen)
            self.excluded.append(chosen)
            self.votes[chosen] = 0
            for value, papers in parcels.items():
                self._hand_on(value, papers)

    def draw(self, lot: Draw, chosen: int, drawn: str) -> None:
        """Go on as the lot says; ``drawn`` is how it was drawn, for a sentence."""
        names, name = listed(sorted(self.names[c] for c in lot.tied)), self.names[chosen]
        if lot.exclusion:
            self.take(chosen, f"{names} tie for the fewest votes, and at all stages before; by lot ({drawn}) {name} ")
        else:
            self.take(chosen, f"{names} have had the same votes at all stages; by lot ({drawn}) ")

    def outcomes(self) -> frozenset[Winners]:
        """Who has a seat."""
        return frozenset([Winners(c for group in self.elected for c in group)])

    def all_places(self) -> list[Ints]:
        """Groups from the last place to the first."""
        left = {c: self.votes[c] for c in self.continuing}
        rest = [[c for c in sorted(left) if left[c] == votes] for votes in sorted(set(left.values()))]
        groups = [*([c] for c in self.excluded), *rest, *reversed(self.elected)]
        return [np.array(group, np.int64) for group in groups]

    def report(self) -> dict[str, Any]:
        """What is reported about the election."""
        elected = tuple(name for group in self.elected for name in sorted(self.names[c] for c in group))
        lost = self.valid - sum(self.votes)
        return {
            "rounds": tuple(self.rounds), "elected": elected, "quota": self.quota / VOTE,
            "exhausted": lost / VOTE,
        }  # fmt: skip

    def _hand_on(self, value: int, papers: Iterable[int]) -> None:
        """Give papers at a value to the continuing candidates of their next preference."""
        if not value:
            return
        for paper in papers:
            to = next((c for c in self.papers.orders[paper] if c in self.continuing), None)
            if to is not None:
                self.parcels[to].setdefault(value, []).append(paper)
                self.votes[to] += value * self.papers.copies[paper]

    def _elect(self, chosen: Sequence[int]) -> list[str]:
        """Give seats, most votes first; the names in that order."""
        for votes in sorted({self.votes[c] for c in chosen}, reverse=True):
            self.elected.append([c for c in chosen if self.votes[c] == votes])
        self.continuing.difference_update(chosen)
        self.pending += [c for c in chosen if self.votes[c] > self.quota]
        self._new = self._ordered(chosen)
        return [self.names[c] for c in self._new]

    def _news(self) -> list[str]:
        names = [self.names[c] for c in self._new]
        return [f"{listed(names)} reach{'es' * (len(names) == 1)} the quota of {_number(self.quota)}"] if names else []

    def _end(self, news: Sequence[str]) -> None:
        notes = self._news()
        if self.continuing and sum(map(len, self.elected)) < self.seats:
            reached, left = self._new, self._ordered(self.continuing)
            self._elect(left)
            self._new = [*reached, *left]
            names, word = [self.names[c] for c in left], "is" if len(left) == 1 else "are"
            notes.append(f"{listed(names)} {word} elected: as many candidates as seats are left")
        if self._new:
            self._record(notes)

    def _next(self, exclusion: bool) -> tuple[list[int], int | None]:
        """Whose papers are transferred next; several: by lot. With the stage that decided, counted from 1."""
        extreme: Callable[[Iterable[int]], int] = min if exclusion else max
        tied, decided = sorted(self.continuing if exclusion else self.pending), None
        for stage in range(len(self.history), 0, -1):  # first the votes now, then those at the stages before
            votes = self.history[stage - 1]
            if len({votes[c] for c in tied}) > 1:
                best = extreme(votes[c] for c in tied)
                tied = [c for c in tied if votes[c] == best]
                decided = stage
        return tied, decided

    def _have_nothing(self, tied: Sequence[int], vacancies: int) -> bool:
        """Whether these have no papers and all of them go, so that it does not matter in which order."""
        return not any(self.votes[c] for c in tied) and len(self.continuing) - len(tied) >= vacancies

    def _how(self, tied: Sequence[int], stage: int | None, exclusion: bool) -> str:
        """That an earlier stage decided between candidates with equal votes now."""
        if len(tied) > 1 or stage in (None, len(self.history)):
            return ""
        name, votes = self.names[tied[0]], self.votes[tied[0]]
        group = self.continuing if exclusion else self.pending
        names = listed(sorted(self.names[c] for c in group if self.votes[c] == votes))
        if exclusion:
            return f"{names} tie for the fewest votes; {name} had fewer in round {stage} and "
        return f"{names} have the same surplus; {name} had more votes in round {stage}: "

    def _ordered(self, candidates: Iterable[int]) -> list[int]:
        return sorted(candidates, key=lambda c: (-self.votes[c], self.names[c]))

    def _record(self, notes: Sequence[str], eliminated: Sequence[str] = ()) -> None:
        notes = notes if self.rounds else [*self.papers.note(), *notes]
        here = self.continuing.union(self.pending, self._new)
        counts = {self.names[c]: self.votes[c] / VOTE for c in self._ordered(here)}
        lost = (self.valid - sum(self.votes)) / VOTE
        elected = tuple(self.names[c] for c in self._new)
        self.rounds.append(Round(counts, elected, tuple(eliminated), lost, "; ".join(notes)))


def _number(units: int) -> str:
    return number(units / VOTE)


def _whole(ballots: Ballots) -> list[int]:
    """The number of papers of each ballot; an error for parts of papers."""
    papers = [int(votes) / ballots.unit for votes in ballots.votes.tolist()]
    for n, each in enumerate(papers):
        if each.denominator != 1:
            raise DataError(
                f"stv:rules=scottish counts whole ballot papers, and ballot {ballots.voters[n]!r} of query "
                f"{ballots.query!r} has the weight {float(each):g}; give whole counts, or use stv without rules"
            )
    return [int(each) for each in papers]
