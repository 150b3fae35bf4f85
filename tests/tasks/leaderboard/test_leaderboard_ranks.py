"""Leaderboards: equal scores share a rank, and items that never met are not ranked against each other."""

import csv
import io
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

import juryrank
from juryrank import from_orders, leaderboard
from juryrank.errors import DataError, DataWarning

# a, b and c are level; x beats y, which beats z; v has only met w, and u nobody.
LEVEL = [["a", "b"], ["b", "c"], ["c", "a"], ["a", "c"], ["b", "a"], ["c", "b"]]
FALLING = [["x", "y"], ["x", "y"], ["y", "x"], ["y", "z"], ["y", "z"], ["z", "y"], ["y", "z"]]
APART = [*LEVEL, *FALLING, ["v", "w"], ["u"]]


@pytest.fixture
def apart():
    with pytest.warns(DataWarning):
        return leaderboard(from_orders(APART), bootstrap=50)


def test_equal_scores_share_the_best_of_their_ranks():
    board = leaderboard(from_orders([["a", "b", "c"], ["b", "a", "c"]]), interval="none")
    assert board.items.tolist() == ["a", "b", "c"]
    assert board.rank.tolist() == board.best_rank.tolist() == [1, 1, 3]
    assert [row["rank"] for row in board.rows()] == board.to_frame()["rank"].to_list() == [1, 1, 3]
    assert [row[0] for row in board.tables()[0].rows] == ["1", "1", "3"]


@pytest.mark.parametrize("name", ["bradley-terry", "plackett-luce", "thurstone", "rank-centrality", "hodge-rank"])
def test_scores_that_are_equal_but_for_rounding_share_a_rank(name):
    """Seven items on a circle, each with the same record against its neighbours, before seven others on another."""
    rng = np.random.default_rng(3)
    ahead, inside = rng.integers(5, 20, 7), rng.integers(1, 20, 7)
    rows = [(f"{c}{i}", f"{c}{(i + k) % 7}", inside[k]) for c in "AB" for i in range(7) for k in range(1, 7)]
    rows += [(f"A{i}", f"B{(i + k) % 7}", ahead[k]) for i in range(7) for k in range(7)]
    rows += [(f"B{i}", f"A{i}", 1) for i in range(7)]
    rng.shuffle(rows)
    board = leaderboard(from_orders([row[:2] for row in rows], weights=[row[2] for row in rows]), name, interval="none")
    assert board.items.tolist() == [f"{c}{i}" for c in "AB" for i in range(7)]
    assert board.rank.tolist() == [1] * 7 + [8] * 7
    assert len(set(board.score.tolist())) == 2


def test_groups_that_never_met_have_ranks_of_their_own_and_items_without_a_game_none(apart):
    assert apart.items.tolist() == ["a", "b", "c", "x", "y", "z", "v", "w"]
    assert apart.rank.tolist() == [1, 1, 1, 1, 2, 3, 1, 2]
    assert apart.group.tolist() == [1, 1, 1, 2, 2, 2, 3, 3]
    assert apart.n_groups == 3
    assert apart.without_games.tolist() == ["u"]
    assert (apart.worst_rank <= [3, 3, 3, 3, 3, 3, 2, 2]).all()
    chances = apart.win_probability()
    assert np.isnan(chances).tolist() == (apart.group[:, None] != apart.group).tolist()


def test_every_face_tells_groups_apart_and_lists_items_without_a_game(apart):
    table, alone, _ = apart.tables()
    assert [row[:3] for row in table.rows[2:5]] == [("1", "1", "c"), ("2", "1", "x"), ("2", "2", "y")]
    assert "3 groups of items never met" in table.note
    assert (alone.rows, alone.note) == ((("u",),), "1 item is in no comparison, so without a rank.")
    loaded = json.loads(apart.render("json"))
    assert [(row["rank"], row["item"], row["group"]) for row in loaded["items"]][3:5] == [(1, "x", 2), (2, "y", 2)]
    assert (loaded["groups"], loaded["without_games"]) == (3, ["u"])
    rows = list(csv.DictReader(io.StringIO(apart.render("csv"))))
    assert [row["item"] for row in rows] == [*apart.items, "u"] == apart.to_frame()["item"].to_list()
    assert (rows[3]["rank"], rows[3]["group"], rows[-1]["rank"], rows[-1]["score"]) == ("1", "2", "", "")


def test_warnings_count_groups_and_name_items_without_a_game():
    with pytest.warns(DataWarning) as caught:
        leaderboard(from_orders(APART), interval="none")
    assert [str(one.message) for one in caught] == [
        "1 item is in no comparison, so without a rank: 'u'",
        "3 groups of items never met, so scores and ranks say nothing between groups; their sizes are "
        "3 ('a', 'b', 'c'), 3 ('x', 'y', 'z'), 2 ('v', 'w')",
    ]


@pytest.mark.parametrize("interval", ["none", "fisher", "sandwich"])
@pytest.mark.parametrize("name", ["bradley-terry", "thurstone", "plackett-luce"])
def test_a_group_has_the_numbers_that_it_has_alone(name, interval):
    with pytest.warns(DataWarning):
        together = leaderboard(from_orders([*FALLING, *LEVEL[:4]]), name, interval=interval)
    for number, games in ((1, LEVEL[:4]), (2, FALLING)):
        alone, here = leaderboard(from_orders(games), name, interval=interval), together.group == number
        assert together.items[here].tolist() == alone.items.tolist()
        for column in ("rank", "best_rank", "worst_rank", "games", "wins", "score", "low", "high"):
            assert_allclose(getattr(together, column)[here], getattr(alone, column), atol=1e-9, err_msg=column)


def test_expert_of_weight_0_has_no_games():
    data = juryrank.from_dicts({"ann": {"q": ["a", "b"]}, "ben": {"q": ["a", "c"]}})
    with pytest.warns(DataWarning, match="1 item is in no comparison, so without a rank: 'c'"):
        board = leaderboard(data, juryrank.method("bradley-terry", weights={"ben": 0}), interval="none")
    assert board.items.tolist() == ["a", "b"]


def test_pictures_of_groups_are_drawn(apart, tmp_path):
    pytest.importorskip("matplotlib")
    apart.plot(tmp_path / "intervals.svg")
    apart.plot_wins(tmp_path / "wins.svg")
    assert "<svg" in (tmp_path / "wins.svg").read_text()


@pytest.mark.parametrize(
    ("orders", "weights", "found"),
    [
        ([["a"]], [1], r"no list has two items \(1 list of 1 item\); only items that one expert"),
        ([["a"], ["b"], ["b"]], [1, 1, 1], r"no list has two items \(3 lists of 2 items\); only items that one expert"),
        ([["a", "b"]], [0], r"all comparisons have weight 0 \(1 list of 2 items\)$"),
    ],
)
def test_without_any_game_there_is_no_leaderboard(orders, weights, found):
    with pytest.raises(DataError, match="nothing is compared, so there is no leaderboard: " + found):
        leaderboard(from_orders(orders, weights=weights), bootstrap=5)
