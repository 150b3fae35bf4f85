"""Compiled sums of one query give what the loop in Python gives, bit for bit, or leave the lists to it."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juryrank
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


SCORED = st.dictionaries(PLAIN_NAMES, st.integers(-2, 3).map(float), max_size=6)


@pytest.mark.parametrize("method", METHODS, ids=repr)
@given(lists=st.dictionaries(EXPERTS, SCORED, max_size=4))
def test_scores_with_ties_are_added_up_as_by_the_loop(method: Any, lists: dict[str, dict[str, float]]) -> None:
    sums = sums_of(method)
    assert outcome(sums, lists, 0) == outcome(sums, lists, LOOP)


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

    assert compiled(["a", "b"]) == ({"a": 0.5, "b": 0.25}, 0)
    assert compiled(["a", "a"], may_repeat=True) == ({"a": 0.5}, 1)
    for items in (["a", "a"], ['a","b'], ["a", 1], ["é"], []):
        assert compiled(items) is None


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
