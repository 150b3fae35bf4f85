"""STAR voting: score, then automatic runoff."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import lcm

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.methods.elections._ballots import Ballots
from juryrank.methods.elections._base import Count, TieBreakingRule
from juryrank.methods.elections._grades import GradedRule
from juryrank.methods.elections._votes import Tally, add_up
from juryrank.methods.elections.rounds import Round, listed
from juryrank.params import param


@dataclass(kw_only=True)
class STAR(GradedRule, TieBreakingRule):
    """STAR voting: of the two candidates with the highest sums of scores, the one that more ballots score higher wins.

    Candidates that tie for the runoff all take part in one: a candidate wins that wins one of the runoffs between
    finalists. With ``tie_break`` there is one runoff. The others follow by their sums. A candidate that a ballot leaves
    out has the score ``lowest``.

    >>> from juryrank import from_dicts
    >>> ballots = {"v": {"q": {"a": 5, "b": 4}}, "w": {"q": {"a": 5, "b": 4, "c": 3}}, "x": {"q": {"b": 5, "c": 1}}}
    >>> for votes in STAR().fit_predict(from_dicts(ballots)).details["rounds"][0]:
    ...     print(votes.counts, votes.note)
    {'b': 13.0, 'a': 10.0, 'c': 4.0} a and b have the highest sums of scores
    {'a': 2.0, 'b': 1.0} a wins the runoff

    Equal Vote Coalition, starvoting.org; Wolk, Quinn, Ogren, Constitutional Political Economy 2023.
    """

    name = "star"
    lowest: float = param(0.0, "lowest score of the scale")
    highest: float = param(5.0, "highest score of the scale")

    def _ends(self) -> tuple[float | None, float | None]:
        return self.lowest, self.highest

    def _count(self, ballots: Ballots) -> Count:
        if not len(ballots.votes) or ballots.n < 2:
            return Count([np.arange(ballots.n)] if ballots.n else [], {"rounds": ()})
        grades = self.grades(ballots)
        sums = _sums(grades, ballots)
        pairs, note = self._finalists(ballots, sums)
        rounds = [_report(ballots, np.arange(ballots.n), sums)._replace(note=note)]
        winners: set[int] = set()
        for pair in pairs:
            won, votes = self._runoff(ballots, grades, pair)
            winners |= won
            rounds.append(votes)
        if len(winners) == 1:
            rounds[-1] = rounds[-1]._replace(elected=(ballots.names[min(winners)],))
        rest = [c for c in range(ballots.n) if c not in winners]
        values = sorted({sums.numbers[c] for c in rest})
        groups = [np.array([c for c in rest if sums.numbers[c] == value]) for value in values]
        return Count([*groups, np.array(sorted(winners))], {"rounds": tuple(rounds)})

    def _finalists(self, ballots: Ballots, sums: Tally) -> tuple[list[tuple[int, int]], str]:
        """The pairs of candidates that meet in a runoff, and a sentence about them."""
        values = sums.numbers.tolist()
        second = sorted(values)[-2]
        first = [c for c, value in enumerate(values) if value > second]
        tied = [c for c, value in enumerate(values) if value == second]
        if len(first) + len(tied) == 2:
            return list(
                combinations(first + tied, 2)
            ), f"{_named(ballots, first + tied)} have the highest sums of scores"
        note = f"{_named(ballots, tied)} tie for the {'second' if first else 'highest'} sum of scores"
        if self.tie_break != "none":
            chosen = first + self.favoured(ballots, np.array(tied))[: 2 - len(first)]
            note += f"; {_named(ballots, chosen)} are in the runoff, {self.how()}"
            return list(combinations(chosen, 2)), note
        pairs = list(product(first, tied)) if first else list(combinations(tied, 2))
        return pairs, f"{note}; each of their pairs has a runoff" if not first else f"{note}; each has a runoff"

    def _runoff(self, ballots: Ballots, grades: Floats, pair: tuple[int, int]) -> tuple[set[int], Round]:
        """Who wins between two, both if they tie, and the round."""
        a, b = pair
        for_a = int(ballots.votes[grades[:, a] > grades[:, b]].sum())
        for_b = int(ballots.votes[grades[:, a] < grades[:, b]].sum())
        won = {a, b} if for_a == for_b else {a if for_a > for_b else b}
        note = f"{_named(ballots, pair)} tie in the runoff"
        if len(won) == 2 and self.tie_break != "none":
            won = set(self.favoured(ballots, np.array(pair))[:1])
            note += f"; {ballots.names[min(won)]} wins, {self.how()}"
        elif len(won) == 1:
            note = f"{ballots.names[min(won)]} wins the runoff"
        numbers = np.zeros(ballots.n, object)
        numbers[[a, b]] = for_a, for_b
        found = _report(ballots, np.array(pair), Tally(numbers, ballots.unit))
        return won, found._replace(exhausted=float((ballots.total - for_a - for_b) / ballots.unit), note=note)


def _sums(grades: Floats, ballots: Ballots) -> Tally:
    """The sums of scores, exact: a score is the decimal number it prints as."""
    levels, at = np.unique(grades, return_inverse=True)
    parts = [Fraction(repr(level)) for level in levels.tolist()]
    common = lcm(*(part.denominator for part in parts))
    numbers = np.array([int(part * common) for part in parts], object)
    place = (at.reshape(grades.shape) + np.arange(ballots.n) * len(levels)).ravel()
    votes = add_up(place, np.repeat(ballots.votes, ballots.n), ballots.n * len(levels)).astype(object)
    return Tally(votes.reshape(ballots.n, -1) @ numbers, common * ballots.unit)


def _named(ballots: Ballots, candidates: Sequence[int]) -> str:
    return listed(sorted(ballots.names[c] for c in candidates))


def _report(ballots: Ballots, candidates: Ints, tally: Tally) -> Round:
    votes = tally.as_floats()
    order = sorted(candidates.tolist(), key=lambda c: (-votes[c], ballots.names[c]))
    return Round({ballots.names[c]: float(votes[c]) for c in order})
