"""The loops that the benchmark compares with a ``Fuser`` give the same result for the same input."""

import math

import pytest

import juryrank
from studies.speed.careful_loops import careful_loop, careful_loop_of_scores
from studies.speed.fuser import calls_of
from studies.speed.single_query import random_lists


@pytest.mark.filterwarnings("ignore")
def test_loops_and_fuser_agree_on_every_shape_of_input() -> None:
    for ours, loop in calls_of(random_lists(3, 30)).values():
        if loop is not None:
            assert list(ours().items()) == list(loop().items())


def test_numbers_are_ordered_by_value_and_a_repeated_item_counts_at_its_best_rank() -> None:
    lists = {"a": ["10", "9", "x", "10"], "b": ["9", "10", "y"]}
    with pytest.warns(UserWarning, match="1 repeated items"):
        looped = careful_loop(lists)
    with pytest.warns(juryrank.DataWarning):
        fused = juryrank.fuse(lists)
    assert list(looped.items()) == list(fused.items())
    assert list(looped)[:2] == ["9", "10"]


def test_equal_scores_share_a_rank_and_nan_is_dropped() -> None:
    lists = {"a": {"x": 1.0, "9": 1.0, "10": 0.5, "q": math.nan}, "b": {"10": 3.0, "9": 3.0, "z": 1.0}}
    with pytest.warns(UserWarning, match="1 entries without a score"):
        looped = careful_loop_of_scores(lists)
    with pytest.warns(juryrank.DataWarning):
        fused = juryrank.fuse(lists)
    assert list(looped.items()) == list(fused.items())


def test_ids_that_are_not_text_are_refused() -> None:
    with pytest.raises(TypeError, match="a: expected text"):
        careful_loop({"a": [("x", 1)]})  # type: ignore[list-item]
