"""Whether scores fall: what the library finds in Python's lists is what a loop in Python finds."""

import sys
from collections import namedtuple
from decimal import Decimal
from itertools import pairwise
from math import inf, isfinite, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from juryrank.kernels.falling import readers, scores_fall, scores_of_pairs_fall

FLOATS = st.sampled_from([3.0, 2.0, 1.0, 0.0, -0.0, -1.0, inf, -inf, nan, 5e-324, 1.7e308])
OTHERS = st.sampled_from([1, 0, True, 2**60, 2**60 + 1, np.float64(1.5), Decimal("0.1")])
Named = namedtuple("Named", "id score")


class Number(float):
    """Not the type of other scores, but a float."""


def loop(scores: list[Any]) -> bool:
    return all(map(isfinite, scores)) and all(one > next_one for one, next_one in pairwise(scores))


@given(st.lists(st.one_of(FLOATS, OTHERS), max_size=4))
def test_scores_fall_as_a_loop_finds(scores: list[Any]) -> None:
    assert scores_fall(scores) == loop(scores)


@given(st.lists(FLOATS, max_size=4))
def test_pairs_are_read_as_their_scores(scores: list[float]) -> None:
    found = scores_of_pairs_fall([("a", score) for score in scores])
    assert found == (readers() is not None and loop(scores))


def test_long_lists_are_read_to_the_end() -> None:
    scores = [1000.0 - n for n in range(1000)]
    assert scores_fall(scores)
    assert not scores_fall([*scores, 1.0])
    assert not scores_fall([*scores, nan])
    pairs = [(str(n), score) for n, score in enumerate(scores)]
    assert scores_of_pairs_fall(pairs) == (readers() is not None)
    assert not scores_of_pairs_fall([*pairs, ("x", 1.0)])


@pytest.mark.parametrize(
    "other",
    [
        ["b", 0.5], ("b",), ("b", 0.5, 0.5), (), Named("b", 0.5), {"b": 1, 0.5: 2}, {"b", 0.5}, "b", "bc", None, 5, 0.5,
        ("b", 1), ("b", True), ("b", "0.5"), ("b", None), ("b", np.float64(0.5)), ("b", Number(0.5)), ("b", Decimal(0)),
        (0.5, "b"), iter(("b", 0.5)),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_pair_with_a_float_is_left_to_python(other: Any) -> None:
    assert not scores_of_pairs_fall([("a", 2.0), other])
    assert not scores_of_pairs_fall([other])


@pytest.mark.parametrize("scores", [["b", "a"], [None, None], [2.0, "1.0"], [1 + 2j, 1j]])
def test_what_cannot_be_compared_as_numbers_is_an_error(scores: list[Any]) -> None:
    with pytest.raises(TypeError):
        scores_fall(scores)


def test_reading_leaves_the_counts_of_references_as_they_are() -> None:
    score, pairs = 0.12345, [("a", 2.5)]
    scores = [1.0, score]
    pairs.append(("b", score))
    before = sys.getrefcount(score), sys.getrefcount(scores), sys.getrefcount(pairs)
    for _ in range(1000):
        scores_fall(scores)
        scores_of_pairs_fall(pairs)
    assert (sys.getrefcount(score), sys.getrefcount(scores), sys.getrefcount(pairs)) == before
