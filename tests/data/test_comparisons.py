"""Comparisons in memory become the same data as the long way round."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import juryrank
from juryrank.data.comparisons import SHARED, from_pairs
from juryrank.errors import DataError
from juryrank.methods import BradleyTerry

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
rows = st.lists(st.tuples(names, names, st.booleans()).filter(lambda row: row[0] != row[1]), min_size=1, max_size=30)


def sides(data):
    """(better, worse, tie) of every list, by name."""
    r = data.rankings
    named = r.items[r.slot_item[r.entry_slot]].reshape(-1, 2)
    rank = r.entry_rank.reshape(-1, 2)
    return [(a, b, bool(x == y)) for (a, b), (x, y) in zip(named.tolist(), rank.tolist(), strict=True)]


@given(rows)
def test_every_comparison_comes_back_in_its_order_whatever_holds_the_names(made):
    better, worse, ties = map(list, zip(*made, strict=True))
    apart = [bytes(name, "utf-8").decode() for name in better]  # equal texts, other objects
    for left, right in (
        (better, worse),
        (apart, worse),
        (tuple(better), tuple(worse)),
        (pl.Series(better), pl.Series(worse)),
        (np.array(better, object), np.array(worse, object)),
    ):
        data = from_pairs(left, right, ties=ties)
        assert sides(data) == made
        assert data.rankings.items.tolist() == sorted({*better, *worse})


def test_strengths_are_those_of_the_file_with_the_same_comparisons():
    rng = np.random.default_rng(0)
    better = [f"m{n}" for n in rng.integers(0, 9, 300)]
    worse = [f"m{n}x" for n in rng.integers(0, 9, 300)]
    ties, experts = rng.random(300) < 0.2, [f"e{n}" for n in rng.integers(0, 12, 300)]
    weights = rng.integers(0, 4, 300).astype(float)
    ours = from_pairs(better, worse, ties=ties.tolist(), experts=experts, weights=weights)
    winner = np.where(ties, "tie", "left")
    frame = pl.DataFrame({"left": better, "right": worse, "winner": winner, "expert": experts, "weight": weights})
    read = juryrank.read(frame)
    assert ours.experts == read.experts
    assert_array_equal(ours.rankings.items, read.rankings.items)
    for weigh in ({}, {"e3": 0.0, "e10": 2.5}):
        model = BradleyTerry(ties="davidson", weights=weigh)
        assert model.fit_predict(ours).scores == pytest.approx(model.fit_predict(read).scores, abs=1e-8)


def test_more_names_than_the_table_of_shared_texts_holds():
    n = SHARED + 10
    better, worse = [f"a{k}" for k in range(n)], [f"b{k}" for k in range(n)]
    data = from_pairs(better, worse)
    assert data.rankings.n_slots == 2 * n
    assert sides(data)[-1] == (better[-1], worse[-1], False)


def test_numbers_are_names_too():
    assert sides(from_pairs([1, 2], [2, 10])) == [("1", "2", False), ("2", "10", False)]


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"worse": ["b"]}, "two sides, got 2 better and 1 worse"),
        ({"worse": ["b", "c"]}, "comparison 2 compares 'c' with itself"),
        ({"worse": ["b", None]}, "comparison 2 has no worse item"),
        ({"ties": [True]}, "1 ties for 2 comparisons"),
        ({"experts": ["e"]}, "1 experts for 2 comparisons"),
        ({"weights": [1.0, -1.0]}, "the weight of comparison 2 must be a finite number >= 0, got -1.0"),
        ({"weights": [float("inf"), 1.0]}, "the weight of comparison 1 must be a finite number >= 0, got inf"),
        ({"weights": [1.0, float("nan")]}, "the weight of comparison 2 must be a finite number >= 0, got nan"),
    ],
)
def test_what_does_not_fit_is_named(wrong, complaint):
    with pytest.raises(DataError, match=complaint):
        from_pairs(**{"better": ["a", "c"], "worse": ["b", "a"], **wrong})


def test_no_comparisons_are_no_items():
    assert from_pairs([], []).rankings.n_lists == 0
