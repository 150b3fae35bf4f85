"""STV by the Scottish rules, against a slow count that is written from the text of the Order, paper by paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal, localcontext

import numpy as np
import pytest

import juryrank
from juryrank.errors import DataError, ParameterError
from juryrank.methods import method


@dataclass
class Paper:
    """A ballot paper, who has it, and the value at which they received it."""

    preferences: Sequence[str]
    holder: str | None
    value: Decimal


class Officer:
    """The returning officer; ``lot`` draws one of several names."""

    def __init__(self, papers: Sequence[Sequence[str]], names: Sequence[str], seats: int, lot: Callable) -> None:
        self.papers = [Paper(p, p[0], Decimal(1)) for p in papers]  # rule 45
        self.names, self.seats, self.lot = sorted(names), seats, lot
        self.quota = len(papers) // (seats + 1) + 1  # rule 46
        self.elected: list[str] = []
        self.excluded: list[str] = []
        self.stages = [{c: Decimal(sum(p.holder == c for p in self.papers)) for c in self.names}]

    def continuing(self) -> list[str]:
        return [c for c in self.names if c not in self.elected and c not in self.excluded]

    def count(self) -> list[str]:
        transferred: set[str] = set()
        while True:
            votes = self.stages[-1]
            self.elected += sorted((c for c in self.continuing() if votes[c] >= self.quota), key=lambda c: -votes[c])
            if len(self.elected) + len(self.continuing()) <= self.seats:  # rule 52
                return self.elected + sorted(self.continuing(), key=lambda c: -votes[c])
            if len(self.elected) == self.seats:
                return self.elected
            over = [c for c in self.elected if votes[c] > self.quota and c not in transferred]
            if over:  # rules 48 and 49
                chosen = self.choose(over, max)
                transferred.add(chosen)
                self.hand_on(chosen, part(votes[chosen] - self.quota, votes[chosen]), left=Decimal(self.quota))
            else:  # rules 50 and 51
                chosen = self.choose(self.continuing(), min)
                self.excluded.append(chosen)
                self.hand_on(chosen, lambda value: value, left=Decimal(0))

    def choose(self, group: list[str], extreme: Callable) -> str:
        """By votes at this stage, or the most recent one before at which they differed, or by lot."""
        for stage in reversed(self.stages):
            best = extreme(stage[c] for c in group)
            group = [c for c in group if stage[c] == best]
        return group[0] if len(group) == 1 else self.lot(group, extreme is min)

    def hand_on(self, chosen: str, new_value: Callable, left: Decimal) -> None:
        votes = dict(self.stages[-1])
        votes[chosen] = left
        for paper in self.papers:
            if paper.holder == chosen:
                paper.value = new_value(paper.value)
                paper.holder = next((c for c in paper.preferences if c in self.continuing()), None)
                if paper.holder is not None:
                    votes[paper.holder] += paper.value
        self.stages.append(votes)


def part(surplus: Decimal, total: Decimal) -> Callable[[Decimal], Decimal]:
    """The value of a paper that had another one: to five decimal places, any remainder being ignored."""

    def new_value(value: Decimal) -> Decimal:
        with localcontext() as context:
            context.prec = 60
            return (surplus * value / total).quantize(Decimal("0.00001"), rounding=ROUND_DOWN)

    return new_value


def by_name(group: list[str], exclusion: bool) -> str:
    """The first in the alphabet stays, or goes first."""
    return max(group) if exclusion else min(group)


def random_papers(rng: np.random.Generator, names: str, n: int) -> list[list[str]]:
    return [rng.permutation(list(names))[: rng.integers(1, len(names) + 1)].tolist() for _ in range(n)]


def count(papers: Sequence[Sequence[str]], seats: int, **more: object) -> juryrank.Consensus:
    return method("stv", seats=seats, rules="scottish", **more).fit_predict(juryrank.from_orders(papers))


@pytest.mark.parametrize("n_papers", [7, 15, 60, 400])
def test_it_elects_whom_a_returning_officer_elects(n_papers: int) -> None:
    for seed in range(60):
        rng = np.random.default_rng([n_papers, seed])
        names, seats = "ABCDEFGH"[: rng.integers(3, 9)], int(rng.integers(1, 5))
        papers = random_papers(rng, names, n_papers)
        ranked = sorted({name for paper in papers for name in paper})
        officer = Officer(papers, ranked, min(seats, len(ranked)), by_name)
        expected = officer.count()
        found = count(papers, min(seats, len(ranked)))
        assert sorted(found.details["elected"][0]) == sorted(expected), seed
        for n, (votes, stage) in enumerate(zip(found.details["rounds"][0], officer.stages, strict=False)):
            assert votes.counts == {c: float(stage[c]) for c in votes.counts}, (seed, n)


def test_the_largest_surplus_goes_first_and_alone() -> None:
    """A (23) and B (20) reach 12 of 46; C gets A's surplus in full before B's, and E is last when all is counted."""
    papers = [["A", "C"]] * 23 + [["B", "A", "D"]] * 20 + [["C"]] * 2 + [["D"]]
    rounds = count(papers, 3).details["rounds"][0]
    assert rounds[0].elected == ("A", "B")
    assert rounds[0].note == "A and B reach the quota of 12; the surplus of A (11) is transferred"
    assert rounds[1].counts == {"B": 20, "C": 2 + 23 * 0.47826, "D": 1}  # 11/23 = 0.47826|08
    assert rounds[1].elected == ("C",)


def test_a_tie_for_the_fewest_votes_is_decided_by_the_last_round_in_which_they_differed() -> None:
    papers = [["A", "B"]] + [["B"]] * 2 + [["C"]] * 3 + [["D"]] * 4 + [["E"]] * 5
    rounds = count(papers, 2).details["rounds"][0]
    assert rounds[1].note == "B and C tie for the fewest votes; B had fewer in round 1 and is eliminated"


def test_equal_surpluses_are_decided_by_the_last_round_in_which_they_differed() -> None:
    """Half votes of X (14, quota 7) lift A from 4 and B from 5 to 7.5 each: B's half a vote goes first."""
    papers = [["X", "A", "D"]] * 7 + [["X", "B", "E"]] * 5 + [["X"]] * 2
    papers += [["A"]] * 4 + [["B"]] * 5 + [["D"]] * 5 + [["E"]] * 4
    rounds = count(papers, 4).details["rounds"][0]
    assert rounds[1].counts == {"A": 7.5, "B": 7.5, "D": 5, "E": 4}
    assert rounds[1].note == (
        "A and B reach the quota of 7; A and B have the same surplus; "
        "B had more votes in round 1: the surplus of B (0.5) is transferred"
    )
    assert rounds[2].counts == {"A": 7.5, "D": 5, "E": 4 + 5 * 0.03333}  # 0.5 * 0.5 / 7.5 = 0.03333|3


def test_a_lot_falls_as_declared() -> None:
    papers = [["A"]] * 5 + [["B"]] * 2 + [["C"]] * 2
    assert count(papers, 2).details["elected"][0] == ("A", "B")
    assert count(papers, 2, tie_break="given", order=["C", "B", "A"]).details["elected"][0] == ("A", "C")
    last = count(papers, 2).details["rounds"][0][1]
    assert last.note == "B and C tie for the fewest votes, and at all stages before; by lot (by name) C is eliminated"


def test_a_ballot_counts_up_to_a_shared_place() -> None:
    data = juryrank.from_orders([[("A", "B"), "C"], ["C", ("A", "B")], ["A", "B"], ["A", "B"]], weights=[9, 1, 1, 1])
    found = method("stv", rules="scottish").fit_predict(data)
    first = found.details["rounds"][0][0].note
    assert first.startswith(
        "9 ballots are void, with a shared first place; 1 ballot is counted up to a shared place; A"
    )
    assert (found.details["quota"][0], found.details["elected"][0]) == (2.0, ("A",))


def test_parts_of_papers_and_other_digits_are_refused() -> None:
    with pytest.raises(DataError, match=r"counts whole ballot papers, and ballot '2' .* has the weight 0\.5"):
        method("stv", rules="scottish").fit_predict(juryrank.from_orders([["A"], ["B"]], weights=[1, 0.5]))
    with pytest.raises(ParameterError, match="after 5 digits"):
        method("stv", rules="scottish", decimals=4).fit(juryrank.from_orders([["A"]]))


def test_votes_are_shown_with_all_five_digits() -> None:
    """Seven papers of 2 / 7 each, cut off after five digits, are less than 2: what looks like a quota may be none."""
    ballots = juryrank.from_orders(map(list, ["ABC", "BCD", "CB", "DC"]), weights=[7, 1, 3, 2])
    shown = str(juryrank.election(ballots, ["stv:rules=scottish"], seats=2))
    assert "2.99997" in shown
