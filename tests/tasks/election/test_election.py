"""Elections: worked by hand, pairwise facts against their definitions, and sentences that say why rules disagree."""

import json
from itertools import chain, combinations

import numpy as np
import pytest

import juryrank
from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.methods import METHODS
from juryrank.tasks.election import Election, election
from juryrank.tasks.election.pairs import Pairs, count_pairs

M, N, C, K = "Memphis", "Nashville", "Chattanooga", "Knoxville"
TENNESSEE = from_orders([[M, N, C, K], [N, C, K, M], [C, K, N, M], [K, C, N, M]], weights=[42, 26, 15, 17])
TIE = from_orders([["A", "B"], ["B", "A"]], weights=[5, 5])
CYCLE = from_orders([["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]])


def test_the_capital_of_tennessee_is_counted_as_in_textbooks() -> None:
    """Plurality elects Memphis, instant-runoff Knoxville, and Nashville beats everyone in pairs."""
    found = election(TENNESSEE, ["plurality", "irv", "borda", "copeland", "kemeny"])
    assert found.winners == {"plurality": [M], "irv": [K], "borda": [N], "copeland": [N], "kemeny": [N]}
    assert (found.condorcet_winner, found.smith_set) == (N, (N,))
    at = {name: i for i, name in enumerate(found.candidates)}
    assert found.counts[at[N], at[C]] == 68  # the ballots of Memphis and Nashville
    assert found.counts[at[C], at[N]] == 32
    assert found.margins[at[M], at[K]] == 42 - 58
    assert found["borda"].scores == {M: 126, N: 194, C: 173, K: 107}
    assert [votes.eliminated for votes in found["irv"].rounds] == [(C,), (N,), ()]
    assert found["irv"].rounds[1].counts == {M: 42, K: 32, N: 26}


def test_a_sentence_says_where_rules_disagree_and_why() -> None:
    told = election(TENNESSEE, ["plurality", "irv", "borda", "copeland"]).sentences()
    assert told == [
        "Nashville beats every other candidate in pairs (Condorcet winner).",
        "The rules disagree: Nashville, the Condorcet winner, wins by borda and copeland; plurality (most first "
        "places: 42 of 100) elects Memphis; irv (eliminates Nashville in round 2) elects Knoxville.",
    ]


def test_a_condorcet_winner_that_no_rule_elects_is_named() -> None:
    told = election(TENNESSEE, ["plurality", "irv"]).sentences()[1]
    assert told.startswith("The rules disagree: none of these rules elects Nashville, the Condorcet winner, alone; ")


def test_ten_voters_who_are_divided_have_no_winner() -> None:
    found = election(TIE, ["plurality", "borda", "copeland", "kemeny"])
    assert set(map(tuple, found.winners.values())) == {("A", "B")}
    assert found["kemeny"].sentence() == "A and B tie"
    assert found.sentences() == [
        "There is no Condorcet winner: nobody beats A and B in pairs (weak Condorcet winners); A and B tie 5 to 5.",
        "All 4 rules: A and B tie.",
    ]
    assert found.smith_set == ("A", "B")


def test_a_single_weak_winner_is_told_with_whom_it_ties() -> None:
    """A ties with B 2 to 2 and beats C 3 to 1; B and C tie nobody else: C beats B 3 to 1."""
    votes = from_orders([["A", "C", "B"], ["A", "C", "B"], ["C", "B", "A"], ["B", "A", "C"]])
    assert election(votes, "borda").sentences() == [
        "There is no Condorcet winner: nobody beats A in pairs (a weak Condorcet winner); A and B tie 2 to 2."
    ]
    assert "2 (0)" in election(votes, "borda").render("text")


def test_a_perfect_cycle_is_told_with_its_smith_set() -> None:
    found = election(CYCLE, ["plurality", "borda", "copeland", "kemeny"])
    assert set(map(tuple, found.winners.values())) == {("A", "B", "C")}
    assert found.sentences()[0] == (
        "There is no Condorcet winner but a cycle: A beats B 2 to 1, B beats C 2 to 1 and C beats A 2 to 1. "
        "Smith set: A, B and C."
    )


def test_a_borda_tie_is_no_tie_of_other_rules() -> None:
    """4, 3 and 2 ballots of a cycle: Borda points A 10, B 10, C 7; plurality and instant-runoff elect A."""
    found = election(from_orders([["A", "B", "C"], ["B", "C", "A"], ["C", "A", "B"]], weights=[4, 3, 2]),
                     ["plurality", "irv", "borda"])  # fmt: skip
    assert found["borda"].scores == {"A": 10, "B": 10, "C": 7}
    assert found["borda"].sentence() == "A and B tie"
    assert found.winners["irv"] == found.winners["plurality"] == ["A"]
    assert "A and B tie by borda" in found.sentences()[1]


def test_rules_that_agree_and_a_single_rule_have_nothing_to_explain() -> None:
    agreed = from_orders([["A", "B"]], weights=[3])
    assert election(agreed, ["borda", "copeland"]).sentences()[1] == "Both rules elect A."
    assert len(election(agreed, "borda").sentences()) == 1
    assert election(from_orders([["A"]]), "borda").sentences() == []


@pytest.mark.parametrize("rule", ["name", "random", ("B", "A")])
def test_a_tie_that_is_broken_says_how(rule: str | tuple[str, ...]) -> None:
    found = election(TIE, ["borda", "plurality"], tie_break=rule, seed=3)
    winner = found.winners["borda"][0]
    how = {"name": "by name", "random": "at random"}.get(rule if isinstance(rule, str) else "", "by the given order")
    assert found["borda"].sentence() == f"A and B tie; {winner} wins {how}"
    assert winner == {"name": "A", ("B", "A"): "B"}.get(rule, winner)
    assert found.winners["plurality"] == [winner]
    assert found["borda"].scores == {"A": 5, "B": 5}


def test_seats_are_filled_by_stv_only() -> None:
    """Quota 34: Memphis is elected with 42, its surplus of 8 goes to Nashville, 26 + 8 = 34."""
    found = election(TENNESSEE, seats=2)
    assert found.winners == {"stv": [M, N]}
    assert found["stv"].rounds[1].counts[N] == 34
    with pytest.raises(ParameterError, match="borda elects one candidate, and there are 2 seats; use stv"):
        election(TENNESSEE, ["borda"], seats=2)


def test_seats_that_tie_are_told() -> None:
    """Quota 5: nobody reaches it with 4 votes each, and nobody can be eliminated before the others."""
    divided = from_orders([["A"], ["B"], ["C"]], weights=[4, 4, 4])
    found = election(divided, seats=2)
    assert found["stv"].sentence() == "A, B and C tie"
    sure = election(from_orders([["A"], ["B"], ["C"]], weights=[8, 4, 4]), seats=2)
    assert sure["stv"].sentence() == "A; B and C tie for the rest"
    assert sure.to_frame().filter("winner")["candidate"].to_list() == ["A"]
    assert found.to_frame()["winner"].all()


def brute_smith(margins: np.ndarray) -> set[int]:
    """The smallest set whose members all beat everyone outside, by trying all sets."""
    everyone = range(len(margins))
    for chosen in chain.from_iterable(combinations(everyone, k) for k in range(1, len(margins) + 1)):
        if all(margins[i, j] > 0 for i in chosen for j in everyone if j not in chosen):
            return set(chosen)
    raise AssertionError


def test_pairs_are_those_of_the_definitions_on_random_ballots() -> None:
    rng = np.random.default_rng(5)
    cycles = 0
    for _ in range(300):
        names, ballots = list("abcde")[: rng.integers(2, 6)], int(rng.choice([1, 3, 3, 5, 8]))
        orders, weights = [], rng.integers(1, 4, ballots).tolist()
        for _ in range(ballots):
            ranked = rng.permutation(names)[: rng.integers(len(names) // 2, len(names) + 1)].tolist()
            orders.append([tuple(ranked[:2]), *ranked[2:]] if rng.random() < 0.3 and len(ranked) > 1 else ranked)
        data = from_orders(orders, weights=weights)
        r = data.rankings
        pairs = count_pairs(r, r.list_weight)
        place = [
            {x: n for n, group in enumerate(o) for x in ([group] if isinstance(group, str) else group)} for o in orders
        ]
        for i, one in enumerate(pairs.names):
            for j, other in enumerate(pairs.names):
                above = [p.get(one, 99) < p.get(other, 99) for p in place]
                assert pairs.counts[i, j] == sum(w for w, yes in zip(weights, above, strict=True) if yes)
        smith = brute_smith(pairs.margins)
        assert {pairs.names.index(name) for name in pairs.smith_set} == smith
        beaten = {i for i in range(len(pairs.names)) if (pairs.margins[i] < 0).any()}
        assert {pairs.names.index(name) for name in pairs.unbeaten} == set(range(len(pairs.names))) - beaten
        assert (pairs.condorcet_winner is not None) == (len(smith) == 1 and not smith & beaten)
        found = [pairs.names.index(name) for name in pairs.cycle()]
        if not pairs.unbeaten:
            cycles += 1
            assert len(found) >= 3
            assert set(found) <= smith
        assert all(pairs.margins[i, j] > 0 for i, j in zip(found, [*found[1:], *found[:1]], strict=True))
        assert isinstance(pairs.sentence(), str)
    assert cycles > 5


def test_rounding_of_weights_makes_no_majority() -> None:
    counts = np.array([[0.0, 0.1 + 0.2], [0.3, 0.0]])
    assert Pairs(("a", "b"), counts).unbeaten == ("a", "b")


def test_the_order_of_ballots_does_not_matter() -> None:
    turned = from_orders([[K, C, N, M], [C, K, N, M], [N, C, K, M], [M, N, C, K]], weights=[17, 15, 26, 42])
    rules = ["plurality", "irv", "borda", "copeland", "kemeny"]
    assert election(turned, rules).to_dict() == election(TENNESSEE, rules).to_dict()


def test_the_default_rules_are_of_the_catalogue_and_all_run() -> None:
    found = election(TENNESSEE)
    assert {"plurality", "irv", "borda", "copeland"} <= set(found.winners) <= set(METHODS)


def test_reports_have_everything_as_plain_values() -> None:
    found = juryrank.election(TENNESSEE, ["irv", "borda"])
    loaded = json.loads(found.render("json"))
    assert loaded["condorcet_winner"] == N
    assert loaded["results"][0]["rounds"][0]["counts"][C] == 15
    assert loaded["pairs"]["counts"] == found.counts.tolist()
    assert found.to_frame().filter(rule="borda", rank=1)["candidate"].to_list() == [N]
    assert found.to_frame()["winner"].sum() == 2
    for form in ("text", "markdown", "latex", "html", "csv"):
        assert N in found.render(form)
    assert repr(found) == "Election(4 candidates, 100 ballots, by irv, borda)"


def test_names_that_are_formulas_or_markup_stay_names() -> None:
    found = election(from_orders([["=1+1", "<b>x</b>"], ["<b>x</b>", "=1+1"]], weights=[2, 1]), "borda")
    assert "'=1+1," in found.matrix_csv()
    assert "<b>" not in found.render("html")


def test_one_rule_is_looked_up_by_name() -> None:
    found = election(TENNESSEE, ["borda"])
    assert isinstance(found, Election)
    with pytest.raises(UnknownNameError, match="no rule 'bordas'; did you mean 'borda'"):
        found["bordas"]


@pytest.mark.parametrize(
    ("data", "options", "error", "message"),
    [
        (from_dicts({"v": {"x": ["a"], "y": ["b"]}}), {}, DataError, "an election is one query, and the data has 2"),
        (TENNESSEE, {"rules": ["coomb"]}, UnknownNameError, "did you mean 'coombs'"),
        (TENNESSEE, {"rules": []}, ParameterError, "at least one method"),
        (TENNESSEE, {"rules": ["irv", "irv"]}, ParameterError, "got 'irv' twice"),
        (TENNESSEE, {"rules": ["jury"]}, ParameterError, "learns from labels and is no rule of elections"),
        (TENNESSEE, {"seats": 0}, ParameterError, "seats must be a whole number from 1"),
        (TENNESSEE, {"seats": 5}, ParameterError, "5 seats are more than the 4 candidates"),
        (TENNESSEE, {"tie_break": "coin"}, ParameterError, "a rule for ties is none, name, random"),
    ],
)
def test_mistakes_are_explained_in_one_line(data, options, error, message) -> None:
    with pytest.raises(error, match=message) as caught:
        election(data, **options)
    assert "\n" not in str(caught.value)


def test_a_picture_is_drawn(tmp_path) -> None:
    pytest.importorskip("matplotlib")
    election(TENNESSEE, "borda").plot(tmp_path / "pairs.svg")
    assert "<!-- 83 -->" in (tmp_path / "pairs.svg").read_text()  # matplotlib notes the text that it draws


def test_a_result_that_may_have_other_winners_says_so() -> None:
    cycle = from_orders([["a", "b", "c", "d"], ["b", "c", "a", "d"], ["c", "a", "b", "d"]])
    cut, whole = (election(cycle, f"ranked-pairs:limit={limit}") for limit in (2, 3))
    assert "a, b and c tie; perhaps others, too: not all ways to break ties were followed" in cut.summary()
    assert "perhaps" not in whole.summary()
    searched = election(cycle, "kemeny:solver=heuristic")
    assert "the order is not proven to be the best" in searched.summary()
