"""The single transferable vote: counts worked by hand, transfer by transfer."""

import numpy as np
import pytest

import juryrank
from juryrank.errors import DataError, ParameterError
from juryrank.methods import method

# 99 ballots for 3 seats: the quota is 99 // 4 + 1 = 25.
BALLOTS = {
    ("A", "B", "C"): 30,
    ("A", "D"): 10,
    ("B", "C"): 15,
    ("C",): 12,
    ("D", "E"): 13,
    ("E", "D"): 7,
    ("E",): 2,
    ("F", "E", "C"): 6,
    ("F", "E"): 4,
}
DATA = juryrank.from_orders(list(BALLOTS), weights=list(BALLOTS.values()))


def test_three_seats_by_hand():
    found = method("stv", seats=3).fit_predict(DATA)
    rounds = found.details["rounds"][0]
    # 1. A has 30 + 10 = 40, a surplus of 15: every ballot goes on at 15 / 40 = 3/8.
    assert rounds[0].counts == {"A": 40, "B": 15, "D": 13, "C": 12, "F": 10, "E": 9}
    assert (rounds[0].elected, rounds[0].note) == (
        ("A",),
        "A reaches the quota of 25; the surplus of 15 is transferred",
    )
    # 2. B has 15 + 30 * 3/8 = 26.25 and D 13 + 10 * 3/8 = 16.75. B has a surplus of 1.25, which is 1/21 of its votes.
    assert rounds[1].counts == {"B": 26.25, "D": 16.75, "C": 12, "F": 10, "E": 9}
    assert (rounds[1].elected, rounds[1].note[-36:]) == (("B",), "; the surplus of 1.25 is transferred")
    # 3. C gets 30 ballots at 3/8 * 1/21 = 1/56 and 15 at 1/21: 15/28 + 5/7 = 1.25. E is the last, with 9.
    assert rounds[2].counts == {"D": 16.75, "C": pytest.approx(13.25, abs=1e-14), "F": 10, "E": 9}
    assert (rounds[2].eliminated, rounds[2].exhausted) == (("E",), 0)
    # 4. Of E's ballots 7 go to D, and 2 rank nobody else. F is the last, with 10.
    assert rounds[3].counts == {"D": 23.75, "C": 13.25, "F": 10}
    assert (rounds[3].eliminated, rounds[3].exhausted) == (("F",), 2)
    # 5. Of F's ballots 6 go to C, over E, who is out; 4 rank nobody else. C is the last.
    assert rounds[4].counts == {"D": 23.75, "C": 19.25}
    assert (rounds[4].eliminated, rounds[4].exhausted) == (("C",), 6)
    # 6. D is below the quota, and alone with one seat. 25 + 25 + 23.75 + 25.25 = 99.
    assert rounds[5] == ({"D": 23.75}, ("D",), (), 25.25, "D is elected: as many candidates as seats are left")
    assert len(rounds) == 6
    assert found.details["elected"][0] == ("A", "B", "D")
    assert found.details["tied"][0] == ()
    assert (found.details["quota"][0], found.details["exhausted"][0]) == (25.0, 25.25)
    assert found.to_dict()["all"] == {"A": 5.0, "B": 4.0, "D": 3.0, "C": 2.0, "F": 1.0, "E": 0.0}


def test_values_are_cut_off_after_so_many_digits():
    # 1/21 = 0.04761|9 and 1/56 = 0.01785|7: C gets 15 * 0.04761 + 30 * 0.01785 = 1.24965 of the surplus of 1.25.
    rounds = method("stv", seats=3, decimals=5).fit_predict(DATA).details["rounds"][0]
    assert rounds[2].counts["C"] == pytest.approx(13.24965, abs=1e-12)
    assert rounds[2].exhausted == pytest.approx(0.00035, abs=1e-12)


def test_the_textbook_party_with_three_kinds_of_food():
    # 20 guests and a quota of 20 // 4 + 1 = 6. Chocolate has 12, so that 12 ballots go on at 6/12: strawberries get
    # 8 / 2, hamburgers 4 / 2. Pears (2) are out, and oranges reach 6. Hamburgers (3) are out, strawberries are left.
    ballots = {
        ("oranges",): 4,
        ("pears", "oranges"): 2,
        ("chocolate", "strawberries"): 8,
        ("chocolate", "hamburgers"): 4,
        ("strawberries",): 1,
        ("hamburgers",): 1,
    }
    found = method("stv", seats=3).fit_predict(juryrank.from_orders(list(ballots), weights=list(ballots.values())))
    assert found.details["elected"][0] == ("chocolate", "oranges", "strawberries")
    assert [dict(votes.counts) for votes in found.details["rounds"][0]] == [
        {"chocolate": 12, "oranges": 4, "pears": 2, "hamburgers": 1, "strawberries": 1},
        {"strawberries": 5, "oranges": 4, "hamburgers": 3, "pears": 2},
        {"oranges": 6, "strawberries": 5, "hamburgers": 3},
        {"strawberries": 5, "hamburgers": 3},
        {"strawberries": 5},
    ]
    assert found.details["exhausted"][0] == 3.0  # 4 halves and 1


def test_a_tie_for_the_last_seat_is_told():
    ballots = juryrank.from_orders([["a"], ["b"], ["c"]], weights=[5, 2, 2])
    found = method("stv", seats=2).fit_predict(ballots)
    assert (found.details["elected"][0], found.details["tied"][0]) == (("a",), ("b", "c"))
    assert found.details["rounds"][0][-1].note == "b and c tie for the last seat"
    assert found.ties() == {"all": [["b", "c"]]}
    broken = method("stv", seats=2, tie_break="name").fit_predict(ballots)
    assert (broken.details["elected"][0], broken.details["tied"][0]) == (("a", "b"), ())


def test_candidates_with_more_votes_than_a_tie_for_the_other_seats_are_elected():
    ballots = juryrank.from_orders([["a"], ["b"], ["c"], ["d"]], weights=[3, 2, 2, 2])
    found = method("stv", seats=3).fit_predict(ballots)
    assert (found.details["elected"][0], found.details["tied"][0]) == (("a",), ("b", "c", "d"))
    ends = juryrank.from_orders([["a"], ["b"], ["c"], ["d"]], weights=[4, 3, 2, 2])
    last = method("stv", seats=3).fit_predict(ends).details["rounds"][0][-1]
    assert last.note == "c and d tie for the last seat"


def test_as_many_seats_as_candidates_elect_all():
    found = method("stv", seats=9).fit_predict(DATA)
    assert sorted(found.details["elected"][0]) == list("ABCDEF")


def test_votes_are_neither_lost_nor_made():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        lists = [rng.permutation(list("abcdefg"))[: rng.integers(1, 8)].tolist() for _ in range(30)]
        lists = [[tuple(best), *rest] if rest else best for best, rest in ((names[:2], names[2:]) for names in lists)]
        weights = rng.integers(1, 20, 30).tolist()
        found = method("stv", seats=3).fit_predict(juryrank.from_orders(lists, weights=weights))
        seated = 0
        for votes in found.details["rounds"][0]:
            held = sum(votes.counts.values()) + seated * found.details["quota"][0] + votes.exhausted
            assert held == pytest.approx(sum(weights), abs=1e-9), seed
            seated += len(votes.elected)


def test_many_seats_need_a_number_of_digits():
    rng = np.random.default_rng(0)
    lists = [rng.permutation(60).astype(str).tolist() for _ in range(400)]
    weights = rng.integers(1, 1000, 400).tolist()
    data = juryrank.from_orders(lists, weights=weights)
    with pytest.raises(DataError, match=r"exact values of the ballots of query 'all' have more than .* set decimals"):
        method("stv", seats=40).fit_predict(data)
    assert len(method("stv", seats=40, decimals=5).fit_predict(data).details["elected"][0]) == 40


def test_a_seat_is_needed():
    with pytest.raises(ParameterError, match="seats of STV must be >= 1, got 0"):
        method("stv", seats=0).fit(DATA)
