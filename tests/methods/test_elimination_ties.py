"""Ties for elimination that decide who wins, against slow counts that try every way to break each tie."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import pytest

import juryrank
from juryrank.methods import method

Order = tuple[str, ...]
Election = dict[Order, int]


def elections(n: int, seed: int) -> list[Election]:
    """Tiny elections, most of them with ties."""
    draw = random.Random(seed)
    out = []
    for _ in range(n):
        names = "ABCDE"[: draw.randint(3, 5)]
        orders = [tuple(draw.sample(names, draw.randint(1, len(names)))) for _ in range(draw.randint(3, 7))]
        out.append({order: draw.randint(1, 4) for order in [*orders, tuple(names)]})
    return out


def irv_outcomes(ballots: Election, left: frozenset[str]) -> set[str]:
    """Who may win; where all that are left have the same votes, each of them may."""
    votes = dict.fromkeys(left, 0)
    for order, count in ballots.items():
        for name in [name for name in order if name in left][:1]:
            votes[name] += count
    if max(votes.values()) * 2 > sum(votes.values()):
        return {max(votes, key=lambda name: votes[name])}
    fewest = {name for name in left if votes[name] == min(votes.values())}
    if fewest == left:
        return set(left)
    return set().union(*(irv_outcomes(ballots, left - {name}) for name in fewest))


def stv_outcomes(ballots: Election, seats: int) -> set[frozenset[str]]:
    """Who may be elected; surpluses of a round go together, and one of those with the fewest votes at a time."""
    names = frozenset(name for order in ballots for name in order)
    quota = sum(ballots.values()) // (seats + 1) + 1
    papers = tuple((order, Fraction(count)) for order, count in ballots.items())

    def holder(order: Order, left: frozenset[str]) -> str | None:
        return next((name for name in order if name in left), None)

    def count(papers: tuple[tuple[Order, Fraction], ...], left: frozenset[str], won: frozenset[str]):
        votes = {name: sum((v for order, v in papers if holder(order, left) == name), Fraction(0)) for name in left}
        reached = frozenset(name for name in left if votes[name] >= quota)
        if len(won) == seats or not left:
            return {won}
        if len(left) <= seats - len(won) and reached != left:
            return {won | left}
        if reached:
            part = {name: (votes[name] - quota) / votes[name] for name in reached}
            after = tuple((order, v * part.get(holder(order, left), 1)) for order, v in papers)
            return count(after, left - reached, won | reached)
        fewest = [name for name in left if votes[name] == min(votes.values())]
        return set().union(*(count(papers, left - {name}, won) for name in fewest))

    return count(papers, names, frozenset())


def data_of(ballots: Election) -> juryrank.Dataset:
    return juryrank.from_orders([list(order) for order in ballots], weights=list(ballots.values()))


def test_irv_names_all_whom_a_tie_for_elimination_decides_between() -> None:
    hidden = 0
    for ballots in elections(400, seed=1):
        found = method("irv").fit_predict(data_of(ballots))
        names = frozenset(name for order in ballots for name in order)
        possible = irv_outcomes(ballots, names) | set(found.winners()["all"])
        assert set(found.details["tied"][0]) == (possible if len(possible) > 1 else set()), ballots
        assert found.details["complete"][0]
        hidden += len(possible) > 1 == len(found.winners()["all"])
    assert hidden > 10  # one winner, who might have lost


@pytest.mark.parametrize("seats", [1, 2])
def test_stv_names_all_whom_a_tie_for_elimination_decides_between(seats: int) -> None:
    hidden = 0
    for ballots in elections(400, seed=2):
        found = method("stv", seats=seats).fit_predict(data_of(ballots))
        elected, tied = frozenset(found.details["elected"][0]), set(found.details["tied"][0])
        outcomes = stv_outcomes(ballots, seats)
        if len(elected) == seats:
            outcomes |= {elected}
            assert tied == set(frozenset().union(*outcomes) - frozenset.intersection(*outcomes)), ballots
            hidden += bool(tied)
        else:
            assert tied, ballots
    assert hidden > 4


def test_a_tie_for_elimination_is_in_the_summary_the_table_and_json() -> None:
    ballots = {("A",): 6, ("B", "C"): 4, ("C", "B"): 4, ("D", "A"): 1}
    result = juryrank.election(data_of(ballots), ["irv"])
    assert result["irv"].winners == ("A",)
    assert result["irv"].tied == ("A", "B", "C")
    sentence = "A; how a tie within the count falls decides between A, B and C"
    assert f"irv: {sentence}" in result.summary()
    assert sentence in result.render("markdown")
    assert result.to_dict()["results"][0]["tied"] == ["A", "B", "C"]


@pytest.mark.parametrize("rule", ["irv", "stv", "coombs", "baldwin", "smith-irv"])
def test_a_declared_rule_for_ties_leaves_none(rule: str) -> None:
    for ballots in elections(20, seed=3):
        result = juryrank.election(data_of(ballots), [rule], tie_break=list("EDCBA"))
        assert result[rule].tied == ()


def test_a_lot_of_the_scottish_count_that_decides_is_told() -> None:
    """Quota 7; C and B have had the same votes at all stages, and who is excluded by lot makes the other overtake A."""
    ballots = {("A",): 5, ("B", "C"): 4, ("C", "B"): 4}
    scottish = method("stv", rules="scottish").fit_predict(data_of(ballots))
    assert scottish.details["tied"][0] == ("B", "C")
    declared = method("stv", rules="scottish", tie_break="given", order=["A", "B", "C"]).fit_predict(data_of(ballots))
    assert (declared.details["elected"][0], declared.details["tied"][0]) == (("B",), ())


def test_many_write_ins_are_counted_at_once_and_too_many_ways_are_told() -> None:
    names = [f"w{n:02}" for n in range(60)]
    ballots = {("A", "B"): 500, ("B", "A"): 400, **{(name, "A"): 1 for name in names}}
    for rule in ("irv", "stv"):
        details = method(rule).fit_predict(data_of(ballots)).details
        assert (details["tied"][0], details["complete"][0]) == ((), True)
    close = dict.fromkeys(pairwise(names), 1)
    result = juryrank.election(data_of({**close, ("w00", "w05"): 1}), ["irv"])
    assert "not all ways to break ties were followed" in result["irv"].sentence()
