"""Compiled sums of one query give what the loop in Python gives, bit for bit, or leave the lists to it."""

import operator
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from math import inf, nan
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juryrank
from juryrank.errors import DataWarning, JuryrankError
from juryrank.kernels import library
from juryrank.serving.cleaning import Dropped
from juryrank.serving.name_sums import MOST_ENTRIES, sum_names
from juryrank.serving.preparation import plain_way
from juryrank.serving.sums import PointSums

pytestmark = pytest.mark.skipif(
    library.open_library() is None, reason="no library of kernels; `make kernels` builds it"
)

LOOP = 10**9  # entries: more than any list here has
METHODS = [
    juryrank.RRF(), juryrank.RRF(k=1, weights={"e1": 2.5, "e3": 0.0}), juryrank.RRF(dialect="langchain"),
    juryrank.Dowdall(), juryrank.RRF(ranks="dense"),
]  # fmt: skip
PLAIN_NAMES = st.sampled_from(["a", "b", "c", "d10", "d9", "9", "10", "007", "", " x"])
# Names that would be read back as others, were they not noticed.
QUOTED_NAMES = st.sampled_from(['"', 'a","b', '"],["', '"]["', "a", "b", 'a"', "\\", '\\"', "é", "\n", "]", ",", "\0"])
EXPERTS = st.sampled_from(["e0", "e1", "e3", "e10", "unseen"])


class Text(str):
    """Not the type of other ids, but text."""


def sums_of(method: Any) -> PointSums:
    way = plain_way(method)
    assert isinstance(way, PointSums)
    return way


def outcome(sums: PointSums, lists: Any, few: int, top: int | None = None) -> Any:
    """Items with their types and scores, in order, and how many entries repeat an item."""
    dropped = Dropped()
    fused = sums(lists, dropped, top, few=few, many=LOOP)
    return None if fused is None else ([(i, s, type(i)) for i, s in fused.items()], dropped.repeated)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(lists=st.dictionaries(EXPERTS, st.lists(PLAIN_NAMES, max_size=8), max_size=4), top=st.sampled_from([None, 1, 3]))
def test_plain_names_are_added_up_as_by_the_loop(method: Any, lists: dict[str, list[str]], top: int | None) -> None:
    sums = sums_of(method)
    assert outcome(sums, lists, 0, top) == outcome(sums, lists, LOOP, top)


@given(lists=st.dictionaries(EXPERTS, st.lists(QUOTED_NAMES, max_size=8), max_size=4))
def test_names_with_quotes_and_other_letters_are_added_up_as_by_the_loop(lists: dict[str, list[str]]) -> None:
    sums = sums_of(juryrank.RRF())
    assert outcome(sums, lists, 0) == outcome(sums, lists, LOOP)


# Whole numbers that are equal as floats, falling scores of all kinds, and what is dropped or left to other code.
SCORES = st.one_of(
    st.integers(-2, 3).map(float),
    st.sampled_from([2**60, 2**60 + 1, True, False, 3, nan, inf, -inf, np.float64(0.5), Decimal("0.5"), None, "0.5"]),
)
SCORED = st.dictionaries(PLAIN_NAMES, SCORES, max_size=6)
PAIRS = st.lists(st.tuples(PLAIN_NAMES, SCORES), max_size=6)


def falling(items: list[str]) -> list[tuple[str, float]]:
    return [(item, 0.5 - place) for place, item in enumerate(items)]


FALLING = st.lists(PLAIN_NAMES, max_size=8).map(falling)
SHAPES = st.one_of(
    SCORED, PAIRS, FALLING, FALLING.map(dict), FALLING.map(tuple), st.lists(PLAIN_NAMES, max_size=6),
    st.builds(operator.add, FALLING, PAIRS),
)  # fmt: skip


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(lists=st.dictionaries(EXPERTS, SHAPES, max_size=4), top=st.sampled_from([None, 2]))
def test_scores_of_all_kinds_are_added_up_as_by_the_loop(method: Any, lists: dict[str, Any], top: int | None) -> None:
    sums = sums_of(method)
    assert outcome(sums, lists, 0, top) == outcome(sums, lists, LOOP, top)


def by_mapping(listed: Any) -> Any:
    """The same list as a mapping that is no dict, or a tuple: shapes that only Python reads."""
    return MappingProxyType(listed) if type(listed) is dict else tuple(listed)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(lists=st.dictionaries(EXPERTS, SHAPES, max_size=4))
def test_pairs_and_dicts_give_what_the_same_in_other_shapes_gives(method: Any, lists: dict[str, Any]) -> None:
    fuser = juryrank.Fuser(method)
    others = {expert: by_mapping(listed) for expert, listed in lists.items()}
    assert result_of(fuser, lists) == result_of(fuser, others)


def result_of(fuser: juryrank.Fuser, lists: Any) -> Any:
    """The items with their scores, or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found: Any = list(fuser(lists).items())
        except JuryrankError as error:
            found = type(error), str(error)
    return found, [str(w.message) for w in caught]


@pytest.mark.parametrize("size", [3, 30], ids=["loop", "compiled"])
@pytest.mark.parametrize("others", [[], ["x"], ["x", "x"]], ids=repr)
def test_pairs_in_order_that_repeat_an_id_count_once_with_a_warning(size: int, others: list[str]) -> None:
    pairs = falling([f"d{n}" for n in range(size)])
    expected = {"d0": 1 / 61, **{f"d{n}": 1 / (61 + n) for n in range(1, size)}}
    fuser = juryrank.Fuser("rrf")
    with pytest.warns(DataWarning) as caught:
        found = fuser({"a": [*pairs, ("d0", -99.0)], "b": others})
    assert {item: score for item, score in found.items() if item != "x"} == expected
    messages = [str(w.message) for w in caught]
    assert sum("are read as (id, score), and ids repeat" in text for text in messages) == 1
    assert sum(f"{max(1, len(others))} entries repeat an item of their list" in text for text in messages) == 1
    assert len(messages) == 2


@pytest.mark.parametrize(
    "items",
    [[1, 2, 3], ["a", 1], [Text("a"), "b"], [True, False], ["a", None], [b"a", b"b"], ["é", "z"], ["a", "\ud800"]],
    ids=repr,
)
def test_what_is_no_plain_text_is_treated_as_by_the_loop(items: list[Any]) -> None:
    sums = sums_of(juryrank.RRF())
    assert outcome(sums, {"e": items, "f": items[::-1]}, 0) == outcome(sums, {"e": items, "f": items[::-1]}, LOOP)


def test_compiled_sums_are_really_used_and_leave_what_they_cannot_read() -> None:
    points = [np.array([0.5, 0.25])]

    def compiled(items: list[Any], may_repeat: bool = False) -> Any:
        return sum_names([items], points, None, by_name=True, may_repeat=may_repeat)

    assert compiled(["a", "b"]) == ({"a": 0.5, "b": 0.25}, 0, None)
    assert compiled(["a", "a"], may_repeat=True) == ({"a": 0.5}, 1, None)
    for items in (["a", "a"], ['a","b'], ["a", 1], ["é"], []):
        assert compiled(items) is None


@pytest.mark.parametrize(
    ("scores", "fall"),
    [
        ([[2.0, 1.0]], True),
        ([[2.0, 1.0], [9, -3]], True),
        ([[2.0, 1.0], [1.0, 2.0]], False),
        ([[1.0, 2.0], [2.0, 1.0]], False),
        ([[2.0, 2.0], [2.0, 1.0]], False),
        ([[inf, 1.0]], False),
        ([[1.0, -inf]], False),
        ([[nan, 1.0]], False),
        ([[1.0, nan]], False),
    ],
)
def test_scores_that_do_not_fall_are_noticed_by_compiled_code(scores: list[list[float]], fall: bool) -> None:
    lists, points = [["a", "b"]] * len(scores), [np.array([0.5, 0.25])] * len(scores)
    found = sum_names(lists, points, None, by_name=True, may_repeat=False, scores=scores)
    assert found == (({"a": 0.5 * len(scores), "b": 0.25 * len(scores)}, 0, None) if fall else "unsorted")


def test_scores_that_are_no_numbers_are_left_by_compiled_code() -> None:
    points = [np.array([0.5, 0.25])]
    assert sum_names([["a", "b"]], points, None, by_name=True, may_repeat=False, scores=[[1.0, "x"]]) is None


def test_pairs_beside_a_list_that_repeats_an_item_are_still_added_up_by_compiled_code() -> None:
    pairs, items = falling([f"d{n}" for n in range(30)]), ["y", Text("x"), "x", "d0"]
    found = outcome(sums_of(juryrank.RRF()), {"a": pairs, "b": items}, 0)
    assert found is not None
    assert {item: of_type for item, _, of_type in found[0]}[
        "x"
    ] is Text  # the first of both, where the loop has the last
    assert found[1] == 1


def test_points_that_are_kept_for_the_next_lists_are_those_of_their_method_and_sizes() -> None:
    fusers = [juryrank.Fuser("rrf", k=k) for k in (1, 60)]
    for size in (40, 50, 40):
        for k, fuser in zip((1, 60), fusers, strict=True):
            expected = {f"d{n}": 1 / (k + n) for n in range(1, size + 1)}
            assert fuser({"e": [f"d{n}" for n in range(1, size + 1)]}) == expected


def test_more_entries_than_there_is_room_for_are_added_up_all_the_same() -> None:
    items = [f"d{n}" for n in range(MOST_ENTRIES + 1)]
    fused = juryrank.fuse({"e": items, "f": items[::-1]})
    assert len(fused) == len(items)
    assert fused["d0"] == 1 / 61 + 1 / (60 + len(items))


def test_threads_do_not_disturb_each_other() -> None:
    fuser, start = juryrank.Fuser("rrf"), threading.Barrier(4)

    def work(seed: int) -> bool:
        random = np.random.default_rng(seed)
        queries = [
            {e: [f"{seed}-{n}" for n in random.permutation(90)[:60]] for e in ("a", "b", "c")} for _ in range(50)
        ]
        expected = [sums_of(juryrank.RRF())(lists, Dropped(), few=LOOP) for lists in queries]
        start.wait()
        return all(fuser(lists) == found for _ in range(20) for lists, found in zip(queries, expected, strict=True))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
