"""What the rules of elections share: the loop over queries, declared ties, and rounds of elimination."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.data.ties import RULES, split_rule, tie_order
from juryrank.errors import ParameterError
from juryrank.methods.base import Aggregator, weights_param
from juryrank.methods.cost import Cost
from juryrank.methods.elections._ballots import Ballots, Standing, ballots_of
from juryrank.methods.elections._outcomes import Winners, all_winners, contested
from juryrank.methods.elections._votes import Tally, Votes
from juryrank.methods.elections.rounds import Round, all_of, listed
from juryrank.params import param
from juryrank.progress import track


class Count(NamedTuple):
    """The result of one election."""

    places: list[Ints]  # candidates that share a place, from the last place to the first
    facts: dict[str, Any]  # what is reported about the query, by name


@dataclass(kw_only=True)
class ElectionRule(Aggregator):
    """A rule that counts the ballots of one query at a time."""

    coarse = True  # candidates with no first place, say, may tie even if all voters agree
    cost = Cost("entries", 400.0, per_query=300_000.0, threaded=False)
    facts: ClassVar[tuple[str, ...]] = ("rounds",)
    weights: Mapping[str, float] | None = weights_param()

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        details = {name: np.empty(len(rankings), object) for name in self.facts}
        weights = self.list_weights(rankings)
        for q in track(range(len(rankings)), self.name):
            count = self._count(ballots_of(rankings, q, weights))
            below = 0
            for group in count.places:
                out[rankings.slot_ptr[q] + group] = below
                below += len(group)
            for name in self.facts:
                details[name][q] = count.facts[name]
        return details

    @abstractmethod
    def _count(self, ballots: Ballots) -> Count:
        """The places of all candidates; a candidate's score is the number of candidates in lower places."""


@dataclass(kw_only=True)
class CountingRule(Aggregator):
    """A rule whose scores are numbers of votes, counted once."""

    coarse = True  # candidates may tie even if all voters agree
    cost = Cost("entries", 60.0, per_query=80_000.0, threaded=False)
    weights: Mapping[str, float] | None = weights_param()

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        weights = self.list_weights(rankings)
        for q in track(range(len(rankings)), self.name):
            ballots = ballots_of(rankings, q, weights)
            out[rankings.slot_ptr[q] : rankings.slot_ptr[q + 1]] = self._tally(ballots).as_floats()

    @abstractmethod
    def _tally(self, ballots: Ballots) -> Tally:
        """The votes of all candidates."""


@dataclass(kw_only=True)
class TieBreakingRule(ElectionRule):
    """A rule that may have to choose between candidates with the same number of votes within a count."""

    tie_break: str = param(
        "none",
        "what happens to candidates that tie within a round; none: the same to all of them; name: the first in the "
        "alphabet stays; random: drawn with seed; given: the first in order stays",
    )
    seed: int = param(0, "seed of tie_break=random", at_least=0)
    order: Sequence[str] | None = param(None, "names of all candidates, for tie_break=given")

    def check(self) -> None:
        """As for every method; and the rule that breaks ties."""
        cls = type(self).__name__
        if self.order is not None and (isinstance(self.order, str) or not isinstance(self.order, Sequence)):
            raise ParameterError(f"order of {cls} must be a list of names, got {self.order!r}")
        super().check()
        if self.tie_break not in RULES:
            raise ParameterError(f"tie_break of {cls} must be one of {', '.join(RULES)}, got {self.tie_break!r}")
        if (self.tie_break == "given") != (self.order is not None):
            raise ParameterError(f"tie_break='given' and order, the names of all candidates, of {cls} go together")
        if self.order is not None:
            split_rule(self.order)

    def favoured(self, ballots: Ballots, tied: Ints) -> list[int]:
        """Tied candidates in the order in which the tie goes to them."""
        by_name = {ballots.names[c]: int(c) for c in tied}
        order = tie_order(list(by_name), self.tie_break, self.seed, self.order or (), query=ballots.query)
        return [by_name[name] for name in order]

    def how(self) -> str:
        """How ties are broken, for a sentence."""
        return {"name": "by name", "random": f"at random (seed {self.seed})", "given": "by the given order"}[
            self.tie_break
        ]


class RoundCount(NamedTuple):
    """What a rule of elimination reads off the ballots in one round."""

    shown: Tally  # votes, points or last places, of all candidates
    merit: Votes  # by which those that are in at the end are placed: higher is better
    worst: Ints  # the candidates that the rule eliminates
    majority: int | None = None  # the candidate that wins at once


@dataclass(kw_only=True)
class EliminationRule(TieBreakingRule):
    """A rule that eliminates candidates in rounds until one wins or all that are left tie.

    Beside the rounds it reports ``tied``, those who win in some but not in all ways to break the ties within the count
    if ``tie_break`` does not say how, and whether all ways were followed (``complete``).
    """

    facts: ClassVar[tuple[str, ...]] = ("rounds", "tied", "complete")
    worst_by: ClassVar[str]  # what the eliminated have, for a sentence
    one_by_one: ClassVar[bool] = True  # whether a tie for the worst place is broken, where ties are

    @abstractmethod
    def _round(self, ballots: Ballots, standing: Standing) -> RoundCount:
        """Count the votes for those that are still in, at least two."""

    def _count(self, ballots: Ballots) -> Count:
        return self.eliminate(ballots, ballots.everyone())

    def eliminate(self, ballots: Ballots, standing: Standing) -> Count:
        """Count among the candidates in ``standing``; the places are those of these candidates."""
        course = Course(ballots, standing.copy())
        while np.count_nonzero(course.standing) > 1 and not course.finished:
            self._take_round(course, self._round(ballots, course.standing))
        rest = np.flatnonzero(course.standing)
        if len(rest) and not course.finished:
            course.places.append(rest)
        tied, complete = self._tied(course)
        return Count(course.places, {"rounds": tuple(course.rounds), "tied": tied, "complete": complete})

    def _tied(self, course: Course) -> tuple[tuple[str, ...], bool]:
        """Who wins in some but not in all ways to break the ties, and whether all ways were followed."""
        if not course.places:
            return (), True
        outcomes, complete = {frozenset([c]) for c in course.places[-1].tolist()}, True
        if course.first_tie is not None:
            more, complete = all_winners(
                course.first_tie,
                lambda standing: self._ways_on(course.ballots, standing),
                lambda standing: standing.tobytes(),
                len(course.ballots.votes),
            )
            outcomes |= more
        return tuple(course.named(np.array(sorted(contested(outcomes)), np.int64))), complete

    def _ways_on(self, ballots: Ballots, standing: Standing) -> tuple[list[Standing], list[Winners]]:
        """Who may be in after the next round, for each way to break its tie; or who wins."""
        left = np.flatnonzero(standing)
        if len(left) == 1:
            return [], [frozenset(left.tolist())]
        found = self._round(ballots, standing)
        if found.majority is not None:
            return [], [frozenset([found.majority])]
        if len(found.worst) in (0, len(left)):
            return [], [frozenset([c]) for c in left.tolist()]
        groups = np.split(found.worst, len(found.worst)) if self._matters(found, standing) else [found.worst]
        return [_without(standing, gone) for gone in groups], []

    def _matters(self, found: RoundCount, standing: Standing) -> bool:
        """Whether it may matter which of the worst goes first."""
        return self.one_by_one and len(found.worst) > 1

    def _take_round(self, course: Course, found: RoundCount) -> None:
        """Elect, or eliminate, or find that all that are left tie."""
        n_left, worst = np.count_nonzero(course.standing), found.worst
        if found.majority is not None:
            winner = course.ballots.names[found.majority]
            course.record(found.shown, note=f"{winner} has a majority", elected=[found.majority])
            course.finish(found.merit, found.majority)
            return
        all_tied = len(worst) in (0, n_left)
        if all_tied and self.tie_break == "none":
            left = np.flatnonzero(course.standing)
            course.record(found.shown, note=f"{listed(course.named(left))} tie for the first place")
            course.finish(found.merit)
            return
        if course.first_tie is None and self.tie_break == "none" and self._matters(found, course.standing):
            course.first_tie = course.standing
        tied = np.flatnonzero(course.standing) if all_tied else worst
        gone = tied
        if len(tied) > 1 and self.tie_break != "none" and (self.one_by_one or all_tied):
            gone = np.array(self.favoured(course.ballots, tied)[-1:])
        course.remove(found.shown, gone, self._sentence(course.named(tied), course.named(gone)))

    def _sentence(self, tied: list[str], gone: list[str]) -> str:
        """Who goes, and why."""
        if len(tied) == 1:
            return f"{tied[0]} has {self.worst_by} and is eliminated"
        if len(gone) == len(tied):
            return f"{listed(tied)} tie for {self.worst_by}; {all_of(tied)} are eliminated"
        return f"{listed(tied)} tie for {self.worst_by}; {gone[0]} is eliminated, {self.how()}"


@dataclass
class Course:
    """An elimination under way."""

    ballots: Ballots
    standing: Standing
    places: list[Ints] = field(default_factory=list)  # from the last place up
    rounds: list[Round] = field(default_factory=list)
    finished: bool = False
    first_tie: Standing | None = None  # who was in at the first tie whose outcome may matter

    def named(self, candidates: Ints) -> list[str]:
        """Names, sorted."""
        return sorted(self.ballots.names[c] for c in candidates)

    def record(self, shown: Tally, note: str, elected: Sequence[int] = (), eliminated: Sequence[str] = ()) -> None:
        """Keep a round."""
        names, votes = self.ballots.names, shown.as_floats()
        left = np.flatnonzero(self.standing)
        order = sorted(left.tolist(), key=lambda c: (-votes[c], names[c]))
        self.rounds.append(
            Round(
                {names[c]: float(votes[c]) for c in order},
                tuple(names[c] for c in elected),
                tuple(eliminated),
                float(self.ballots.exhausted(self.standing) / self.ballots.unit),
                note,
            )
        )

    def remove(self, shown: Tally, gone: Ints, note: str) -> None:
        """Eliminate candidates; one that is left alone wins."""
        after = _without(self.standing, gone)
        last = np.flatnonzero(after) if np.count_nonzero(after) == 1 else np.array([], np.int64)
        note += "".join(f"; {self.ballots.names[c]} is left and wins" for c in last)
        self.record(shown, note, last.tolist(), self.named(gone))
        self.places.append(np.asarray(gone))
        self.standing = after

    def finish(self, merit: Votes, winner: int | None = None) -> None:
        """Place those that are still in by merit, the winner first."""
        left = np.flatnonzero(self.standing)
        rest = left[left != winner] if winner is not None else left
        for value in sorted(set(merit[rest].tolist())):
            self.places.append(rest[merit[rest] == value])
        if winner is not None:
            self.places.append(np.array([winner]))
        self.finished = True


def _without(standing: Standing, gone: Ints) -> Standing:
    after = standing.copy()
    after[gone] = False
    return after
