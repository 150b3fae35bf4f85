"""Winners of the rules of elections, ties included, beside those of pref_voting."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property

import numpy as np
import pytest

import juryrank
from conftest import SHARED_DATA
from juryrank.data import Dataset
from juryrank.methods import method
from peers import peer

SEEDS = range(200)
SUSHI = SHARED_DATA / "preflib" / "00014-00000001.soc"


@dataclass
class Election:
    """Ballots as tuples of tuples, from best to worst, each with a number of voters."""

    candidates: list[int]
    ballots: list[list[tuple[int, ...]]]
    counts: list[int]

    @cached_property
    def data(self) -> Dataset:
        """As juryrank takes it; a ballot of nobody's names the candidates, which need not be on the others."""
        named = [[tuple(f"c{c}" for c in place) for place in ballot] for ballot in self.ballots]
        everybody = [tuple(f"c{c}" for c in self.candidates)]
        return juryrank.from_orders([*named, everybody], weights=[*map(float, self.counts), 0.0])

    def with_ties(self):
        """As pref_voting takes ballots with ties and without some of the candidates."""
        # Ranks from 0, as its Bucklin for partial ballots expects: from 1, it would leave out the last place.
        ranks = [{c: n for n, place in enumerate(ballot) for c in place} for ballot in self.ballots]
        profiles = peer("pref_voting.profiles_with_ties")
        profile = profiles.ProfileWithTies(ranks, rcounts=self.counts, candidates=self.candidates)
        profile.use_extended_strict_preference()
        return profile

    def linear(self):
        """As pref_voting takes ballots that rank all candidates without ties."""
        orders = [[c for place in ballot for c in place] for ballot in self.ballots]
        return peer("pref_voting.profiles").Profile(orders, rcounts=self.counts)


@cache  # many rules are asked about the same
def election(seed: int, *, partial: bool = False, ties: bool = False) -> Election:
    """A small election at random, in which ties between candidates are frequent."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 7))
    ballots, counts = [], []
    for _ in range(rng.integers(2, 11)):
        order = rng.permutation(n).tolist()
        order = order[: rng.integers(1, n + 1)] if partial else order
        cuts = np.flatnonzero(rng.random(len(order) - 1) < (0.6 if ties else 1.0)) + 1
        ballots.append([tuple(place.tolist()) for place in np.split(order, cuts)])
        counts.append(int(rng.integers(1, 5)))
    return Election(list(range(n)), ballots, counts)


def winners(name: str, data: Dataset, **params) -> list[int]:
    [found] = method(name, **params).fit_predict(data).winners().values()
    return sorted(int(item[1:]) for item in found)


LINEAR = {
    "plurality": "scoring_methods.plurality",
    "anti-plurality": "scoring_methods.anti_plurality",
    "bucklin": "other_methods.bucklin",
    "irv": "iterative_methods.instant_runoff",
    "coombs": "iterative_methods.coombs",
    "baldwin": "iterative_methods.baldwin",
    "nanson": "iterative_methods.strict_nanson",
}
PARTIAL = {
    "plurality": "scoring_methods.plurality",
    "bucklin": "other_methods.bucklin_for_truncated_linear_orders",
    "irv": "iterative_methods.instant_runoff_for_truncated_linear_orders",
}


def theirs(place: str):
    module, _, name = place.partition(".")
    return getattr(peer(f"pref_voting.{module}"), name)


@pytest.mark.parametrize("name", LINEAR)
def test_winners_are_those_of_pref_voting_on_complete_ballots(name):
    rule, several = theirs(LINEAR[name]), 0
    for seed in SEEDS:
        votes = election(seed)
        expected = sorted(rule(votes.linear()))
        assert winners(name, votes.data) == expected, seed
        several += len(expected) > 1
    assert several > 5  # elections with ties


@pytest.mark.parametrize("name", PARTIAL)
def test_winners_are_those_of_pref_voting_on_partial_ballots(name):
    rule, several = theirs(PARTIAL[name]), 0
    for seed in SEEDS:
        votes = election(seed, partial=True)
        expected = sorted(rule(votes.with_ties()))
        assert winners(name, votes.data) == expected, seed
        several += len(expected) > 1
    assert several > 5


@pytest.mark.parametrize("shared", ["approval", "split"])
def test_irv_has_the_winners_of_pref_voting_on_partial_ballots_with_ties(shared):
    rule = theirs("iterative_methods.instant_runoff")
    for seed in SEEDS:
        votes = election(seed, partial=True, ties=True)
        expected = sorted(rule(votes.with_ties(), score_method=shared))
        assert winners("irv", votes.data, shared=shared) == expected, seed
    default = rule(election(3, ties=True).with_ties())
    assert winners("irv", election(3, ties=True).data) == sorted(default)


@pytest.mark.parametrize("name", ["irv", "coombs", "baldwin"])
def test_a_declared_order_breaks_ties_within_rounds_as_in_pref_voting(name):
    rule = theirs(LINEAR[name] + "_tb")
    for seed in SEEDS:
        votes = election(seed)
        order = np.random.default_rng(seed).permutation(votes.candidates).tolist()
        given = {"tie_break": "given", "order": [f"c{c}" for c in order]}
        # Theirs is the order in which candidates go, and Coombs' lists those that stay first.
        expected = rule(votes.linear(), tie_breaker=order[::-1])
        assert winners(name, votes.data, **given) == sorted(expected), seed


def test_first_places_that_are_shared_are_those_of_pref_voting():
    for seed in SEEDS:
        votes = election(seed, partial=True, ties=True)
        expected = votes.with_ties().tops_scores(score_type="split")
        found = method("plurality").fit_predict(votes.data).to_dict()["all"]
        assert {int(item[1:]): score for item, score in found.items()} == pytest.approx(expected), seed


def test_approvals_are_those_of_pref_voting():
    profiles, rule = peer("pref_voting.grade_profiles"), theirs("grade_methods.approval")
    for seed in SEEDS:
        votes = election(seed, partial=True, ties=True)
        approved = [{c: 1 for place in ballot for c in place} for ballot in votes.ballots]
        profile = profiles.GradeProfile(approved, [0, 1], gcounts=votes.counts, candidates=votes.candidates)
        assert winners("approval", votes.data) == sorted(rule(profile)), seed


@pytest.mark.parametrize("name", ["baldwin", "nanson"])
def test_rounds_of_borda_scores_on_partial_ballots_with_ties_are_those_of_pref_voting_one_by_one(name):
    for seed in SEEDS:
        votes = election(seed, partial=True, ties=True)
        profile, left = votes.with_ties(), set(votes.candidates)
        while len(left) > 1:
            # The candidates below minus those above, so that the average is 0.
            scores = profile.borda_scores(curr_cands=sorted(left))
            worst = {c for c in left if scores[c] < 0} if name == "nanson" else _lowest(scores, left)
            if not worst or worst == left:
                break
            left -= worst
        assert winners(name, votes.data) == sorted(left), seed


def _lowest(scores, left):
    return {c for c in left if scores[c] == min(scores[d] for d in left)}


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_stv_elects_whom_pref_voting_elects_on_partial_ballots(seats):
    rule = theirs("proportional_methods.stv_wig")
    for seed in SEEDS:
        votes = election(seed, partial=True)
        expected = rule(votes.with_ties(), num_seats=seats, quota_rule="droop")
        found = method("stv", seats=seats, tie_break="name").fit_predict(votes.data)
        assert sorted(int(name[1:]) for name in found.details["elected"][0]) == sorted(expected), seed


@pytest.mark.parametrize("seats", [1, 2, 3])
def test_stv_on_ballots_with_ties_is_a_count_paper_by_paper(seats):
    several = 0
    for seed in SEEDS:
        votes = election(seed, partial=True, ties=True)
        expected = paper_by_paper(votes, seats)
        found = method("stv", seats=seats, tie_break="name").fit_predict(votes.data)
        assert sorted(int(name[1:]) for name in found.details["elected"][0]) == expected, seed
        several += len(found.details["rounds"][0]) > 2
    assert several > 20


def paper_by_paper(votes: Election, seats: int) -> list[int]:
    """STV in the plainest way: one paper for every voter and for every candidate among whom it is divided."""
    left, elected = set(votes.candidates), set()
    quota = sum(votes.counts) // (seats + 1) + 1
    papers = []  # ballot, value, holder

    def give(ballot, value):
        for place in ballot:
            holders = [c for c in place if c in left]
            if holders:
                papers.extend((ballot, value / len(holders), c) for c in holders)
                return

    for ballot, count in zip(votes.ballots, votes.counts, strict=True):
        for _ in range(count):
            give(ballot, Fraction(1))
    while len(elected) < seats and left:
        held = {c: sum(value for _, value, holder in papers if holder == c) for c in left}
        reached = [c for c in left if held[c] >= quota]
        if len(left) <= seats - len(elected):
            return sorted(elected | left)
        gone = reached or [max(c for c in left if held[c] == min(held.values()))]
        left -= set(gone)
        elected |= set(reached)
        moved = [paper for paper in papers if paper[2] in gone]
        papers = [paper for paper in papers if paper[2] not in gone]
        for ballot, value, holder in moved:
            give(ballot, value * (held[holder] - quota) / held[holder] if reached else value)
    return sorted(elected)


@pytest.fixture(scope="module")
def sushi():
    """The names of ten kinds of sushi, and a profile of pref_voting with the ballots of 5,000 people."""
    if not SUSHI.exists():
        pytest.skip("the PrefLib file is not here")
    lines = SUSHI.read_text().splitlines()
    names = [line.partition(": ")[2] for line in lines if line.startswith("# ALTERNATIVE NAME")]
    ballots = [line.split(": ") for line in lines if not line.startswith("#")]
    orders = [[int(number) - 1 for number in order.split(",")] for _, order in ballots]
    return names, peer("pref_voting.profiles").Profile(orders, rcounts=[int(count) for count, _ in ballots])


@pytest.mark.parametrize("name", LINEAR)
def test_winners_on_a_preflib_file_are_those_of_pref_voting(name, sushi):
    names, profile = sushi
    [found] = method(name).fit_predict(juryrank.read(SUSHI)).winners().values()
    assert set(found) == {names[c] for c in theirs(LINEAR[name])(profile)}


@pytest.mark.parametrize("seats", [2, 3, 5])
def test_seats_on_a_preflib_file_are_those_of_pref_voting(seats, sushi):
    names, profile = sushi
    expected = theirs("proportional_methods.stv_wig")(profile, num_seats=seats, quota_rule="droop")
    found = method("stv", seats=seats).fit_predict(juryrank.read(SUSHI))
    assert set(found.details["elected"][0]) == {names[c] for c in expected}
