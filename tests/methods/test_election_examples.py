"""Elections worked by hand."""

import numpy as np
import polars as pl
import pytest

import juryrank
from juryrank.data.long_table import from_long
from juryrank.errors import DataError, ParameterError
from juryrank.methods import method

RULES = ["plurality", "approval", "anti-plurality", "bucklin", "irv", "coombs", "baldwin", "nanson", "stv"]
ELIMINATION = ["irv", "coombs", "baldwin", "nanson"]

# The textbook election of Tennessee's capital: voters live near one of four cities, and want the capital near them.
TENNESSEE = juryrank.from_orders(
    [
        ["Memphis", "Nashville", "Chattanooga", "Knoxville"],
        ["Nashville", "Chattanooga", "Knoxville", "Memphis"],
        ["Chattanooga", "Knoxville", "Nashville", "Memphis"],
        ["Knoxville", "Chattanooga", "Nashville", "Memphis"],
    ],
    weights=[42, 26, 15, 17],
)


def count(name: str, data=TENNESSEE, **params):
    """The rounds as plain values: votes, elected, eliminated."""
    [rounds] = method(name, **params).fit_predict(data).details["rounds"]
    return [(votes.counts, votes.elected, votes.eliminated) for votes in rounds]


def notes(name: str, data, **params) -> list[str]:
    [rounds] = method(name, **params).fit_predict(data).details["rounds"]
    return [votes.note for votes in rounds]


@pytest.mark.parametrize(
    ("name", "winner"),
    [
        ("plurality", "Memphis"),
        ("anti-plurality", "Chattanooga and Nashville"),  # nobody puts either last
        ("bucklin", "Nashville"),
        ("irv", "Knoxville"),
        ("coombs", "Nashville"),
        ("baldwin", "Nashville"),
        ("nanson", "Nashville"),
        ("stv", "Knoxville"),
    ],
)
def test_every_rule_chooses_its_capital_of_tennessee(name, winner):
    assert " and ".join(method(name).fit_predict(TENNESSEE).winners()["all"]) == winner


def test_the_rounds_of_irv_in_tennessee():
    # Chattanooga has the fewest first places; its 15 voters prefer Knoxville next. Nashville's 26 then have
    # Chattanooga, which is out, and Knoxville next: 32 + 26 = 58.
    assert count("irv") == [
        ({"Memphis": 42.0, "Nashville": 26.0, "Knoxville": 17.0, "Chattanooga": 15.0}, (), ("Chattanooga",)),
        ({"Memphis": 42.0, "Knoxville": 32.0, "Nashville": 26.0}, (), ("Nashville",)),
        ({"Knoxville": 58.0, "Memphis": 42.0}, ("Knoxville",), ()),
    ]
    scores = method("irv").fit_predict(TENNESSEE).to_dict()["all"]
    assert scores == {"Knoxville": 3.0, "Memphis": 2.0, "Nashville": 1.0, "Chattanooga": 0.0}


def test_the_rounds_of_coombs_in_tennessee():
    # 58 voters put Memphis last. Then 42 + 26 = 68 put Nashville first.
    assert count("coombs") == [
        ({"Memphis": 58.0, "Knoxville": 42.0, "Chattanooga": 0.0, "Nashville": 0.0}, (), ("Memphis",)),
        ({"Knoxville": 68.0, "Nashville": 32.0, "Chattanooga": 0.0}, ("Nashville",), ()),
    ]


def test_the_rounds_of_bucklin_in_tennessee():
    # First and second places: Nashville 42 + 26, Chattanooga 26 + 15 + 17, Memphis 42, Knoxville 15 + 17.
    second = {"Nashville": 68.0, "Chattanooga": 58.0, "Memphis": 42.0, "Knoxville": 32.0}
    assert count("bucklin")[1:] == [(second, ("Nashville",), ())]
    assert notes("bucklin", TENNESSEE)[1] == "Nashville has a majority with the first 2 places, the largest"


def test_the_rounds_of_baldwin_and_nanson_in_tennessee():
    # Borda points: Memphis 3 * 42; Nashville 2 * 42 + 3 * 26 + 15 + 17; Chattanooga 42 + 2 * 26 + 3 * 15 + 2 * 17;
    # Knoxville 26 + 2 * 15 + 3 * 17. The average is 150. Baldwin goes on without Knoxville: Memphis 2 * 42,
    # Nashville 42 + 2 * 26 + 15 + 17, Chattanooga 26 + 2 * 32; then without Memphis, where Nashville has 68.
    first = {"Nashville": 194.0, "Chattanooga": 173.0, "Memphis": 126.0, "Knoxville": 107.0}
    assert count("baldwin") == [
        (first, (), ("Knoxville",)),
        ({"Nashville": 126.0, "Chattanooga": 90.0, "Memphis": 84.0}, (), ("Memphis",)),
        ({"Nashville": 68.0, "Chattanooga": 32.0}, ("Nashville",), ("Chattanooga",)),
    ]
    assert count("nanson") == [
        (first, (), ("Knoxville", "Memphis")),
        ({"Nashville": 68.0, "Chattanooga": 32.0}, ("Nashville",), ("Chattanooga",)),
    ]


def test_irv_may_eliminate_the_candidate_who_beats_all_others_as_in_burlington():
    # An election with the names and the pattern of that in Burlington, Vermont, 2009, and small numbers: Montroll beats
    # both others in pairs and is third in first places. Of 25 voters 13 prefer Kiss next, 8 Wright, and 4 nobody.
    ballots = juryrank.from_orders(
        [
            ["Kiss", "Montroll", "Wright"],
            ["Wright", "Montroll", "Kiss"],
            ["Montroll", "Kiss"],
            ["Montroll", "Wright"],
            ["Montroll"],
            ["Wright"],
        ],
        weights=[34, 26, 13, 8, 4, 11],
    )
    [rounds] = method("irv").fit_predict(ballots).details["rounds"]
    assert [votes.counts for votes in rounds] == [
        {"Wright": 37.0, "Kiss": 34.0, "Montroll": 25.0},
        {"Kiss": 47.0, "Wright": 45.0},
    ]
    assert [votes.exhausted for votes in rounds] == [0.0, 4.0]
    assert rounds[1].elected == ("Kiss",)  # 47 of the 92 ballots that still rank somebody, 47 of 96 in all
    for name in ("baldwin", "nanson", "coombs"):
        assert method(name).fit_predict(ballots).winners() == {"all": ["Montroll"]}


def test_candidates_that_tie_for_the_fewest_votes_go_together_unless_a_rule_is_declared():
    ballots = juryrank.from_orders([["a"], ["b", "d"], ["c", "d"], ["d"]], weights=[4, 2, 2, 3])
    assert notes("irv", ballots) == [
        "b and c tie for the fewest first places; both are eliminated",
        "d has a majority",
    ]
    by_name = notes("irv", ballots, tie_break="name")
    assert by_name[0] == "b and c tie for the fewest first places; c is eliminated, by name"
    given = notes("irv", ballots, tie_break="given", order=["d", "c", "b", "a"])
    assert given[0] == "b and c tie for the fewest first places; b is eliminated, by the given order"
    drawn = {notes("irv", ballots, tie_break="random", seed=seed)[0].split("; ")[1] for seed in range(20)}
    assert {text.partition(" (")[0] for text in drawn} == {f"{x} is eliminated, at random" for x in "bc"}


@pytest.mark.parametrize("name", ELIMINATION)
def test_a_perfect_tie_has_all_candidates_as_winners_and_a_declared_rule_one(name):
    cycle = juryrank.from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]])
    found = method(name).fit_predict(cycle)
    assert found.winners() == {"all": ["a", "b", "c"]}
    assert notes(name, cycle) == ["a, b and c tie for the first place"]
    assert found.details["rounds"][0][0].elected == ()
    assert len(method(name, tie_break="name").fit_predict(cycle).winners()["all"]) == 1


def test_bucklin_divides_places_that_are_shared():
    # Two share the first two places: half a vote each for the first place, one each for the first two.
    ballots = juryrank.from_orders([[("a", "b"), "c"], ["c", "a", "b"], ["b"]])
    [rounds] = method("bucklin").fit_predict(ballots).details["rounds"]
    assert [votes.counts for votes in rounds] == [
        {"b": 1.5, "c": 1.0, "a": 0.5},
        {"a": 2.0, "b": 2.0, "c": 1.0},
    ]
    assert rounds[1].note == "a and b have the same majority with the first 2 places and tie for the first place"


def test_last_places_are_shared_with_those_who_are_left_out():
    # The second ballot leaves out b, c and d: a third of a last place each. The third has c and d in its last place.
    ballots = juryrank.from_orders([["a", "b", "c", "d"], ["a"], ["b", "a", ("c", "d")]])
    found = method("anti-plurality").fit_predict(ballots).to_dict()["all"]
    assert found == pytest.approx({"a": 0.0, "b": -1 / 3, "c": -1 / 3 - 1 / 2, "d": -1 - 1 / 3 - 1 / 2})


def test_approval_goes_by_places_scores_or_all_that_is_ranked():
    ranked = juryrank.from_orders([["a", ("b", "c"), "d"], ["b"]])
    assert method("approval").fit_predict(ranked).to_dict()["all"] == {"b": 2.0, "a": 1.0, "c": 1.0, "d": 1.0}
    two = {"b": 2.0, "a": 1.0, "c": 1.0, "d": 0.0}
    assert method("approval", places=2).fit_predict(ranked).to_dict()["all"] == two
    marked = juryrank.from_dicts({"v": {"q": {"a": 1, "b": 0}}, "w": {"q": {"a": 1, "b": 1}}})
    assert method("approval").fit_predict(marked).to_dict() == {"q": {"a": 2.0, "b": 1.0}}


def random_ballots(seed: int) -> pl.DataFrame:
    """Partial ballots with ties and weights, one row per entry."""
    rng = np.random.default_rng(seed)
    rows = []
    for voter in range(7):
        listed = rng.permutation(5)[: rng.integers(1, 6)]
        ranks = np.sort(rng.integers(1, 5, len(listed)))
        weight = float(rng.integers(1, 4))
        rows += [("q", f"c{c}", f"v{voter}", float(r), weight) for c, r in zip(listed, ranks, strict=True)]
    return pl.DataFrame(rows, schema=["query", "item", "expert", "rank", "weight"], orient="row")


@pytest.mark.parametrize("name", RULES)
def test_neither_the_order_of_ballots_nor_copies_for_weights_matter(name):
    for seed in range(20):
        ballots = random_ballots(seed)
        once = method(name).fit_predict(from_long(ballots))
        shuffled = method(name).fit_predict(from_long(ballots.sample(fraction=1.0, shuffle=True, seed=seed)))
        copies = [
            ballots.filter(pl.col("weight") > n).with_columns(expert=pl.col("expert") + f".{n}", weight=pl.lit(1.0))
            for n in range(3)
        ]
        split = method(name).fit_predict(from_long(pl.concat(copies)))
        for other in (shuffled, split):
            assert other.to_dict() == once.to_dict()
            if "rounds" in once.details:
                assert other.details["rounds"][0] == once.details["rounds"][0]


@pytest.mark.parametrize("name", RULES)
def test_weights_that_are_no_binary_fractions_tie_where_they_should(name):
    # 0.1 + 0.2 is not 0.3 in binary fractions; as votes they are the same.
    ballots = juryrank.from_orders([["a", "b"], ["a", "b"], ["b", "a"]], weights=[0.1, 0.2, 0.3])
    assert method(name).fit_predict(ballots).winners() == {"all": ["a", "b"]}


def test_large_and_odd_weights_are_counted_exactly():
    ballots = juryrank.from_orders([["a", "b"], ["b", "a"], ["b", "a"]], weights=[1e17 + 16, 1e17, 16.0])
    for name in ("plurality", "irv", "coombs", "baldwin", "stv"):
        assert method(name).fit_predict(ballots).winners() == {"all": ["a", "b"]}
    thirds = juryrank.from_orders([[("a", "b", "c")], [("a", "b", "d")], [("a", "b", "c")], ["c"], ["d"]])
    found = method("plurality").fit_predict(thirds).to_dict()["all"]
    assert found == pytest.approx({"c": 5 / 3, "d": 4 / 3, "a": 1.0, "b": 1.0})
    assert found["a"] == 1.0  # three thirds


def test_ballots_of_less_than_a_vote_are_exhausted_as_parts_of_votes():
    parts = juryrank.from_orders([["a"], ["b"], ["c"]], weights=[1.0, 0.75, 0.5])
    rounds = method("irv").fit_predict(parts).details["rounds"][0]
    assert [votes.exhausted for votes in rounds] == [0.0, 0.5]


def test_a_tie_break_must_be_declared_in_full():
    for params, message in (
        ({"tie_break": "coin"}, "tie_break of IRV must be one of none, name, random, given, got 'coin'"),
        ({"tie_break": "given"}, "tie_break='given' and order, the names of all candidates, of IRV go together"),
        ({"order": ["a"]}, "tie_break='given' and order, the names of all candidates, of IRV go together"),
        ({"tie_break": "given", "order": "ab"}, "order of IRV must be a list of names, got 'ab'"),
        ({"tie_break": "given", "order": ["a", "a"]}, "names each item once"),
    ):
        with pytest.raises(ParameterError, match=message):
            method("irv", **params).fit(TENNESSEE)
    with pytest.raises(ParameterError, match="must name every tied item"):
        method("irv", tie_break="given", order=["x"]).fit_predict(juryrank.from_orders([["a"], ["b"]]))


def test_a_single_candidate_wins_without_a_round_and_an_empty_election_has_no_winner_over_others():
    for name in RULES:
        assert method(name).fit_predict(juryrank.from_orders([["a"]])).winners() == {"all": ["a"]}
    assert count("irv", juryrank.from_orders([["a"]])) == []


def test_rules_for_grades_refuse_ballots_without():
    for name in ("majority-judgement", "star"):
        with pytest.raises(DataError, match=f"{name} needs ballots with grades or scores, and these only rank"):
            method(name).fit_predict(TENNESSEE)
