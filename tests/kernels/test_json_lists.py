"""Lists of ids in JSON are fused as by a plain loop over what ``json`` reads, or left to it."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank.data.names import natural_key
from juryrank.kernels.json_lists import (
    BEST,
    DEEP,
    ENTRIES,
    FULL,
    LISTS,
    NUMBER,
    UNUSUAL,
    fuse_lists,
    write_items,
    write_ranks,
)

POINTS = 1.0 / np.arange(61.0, 61.0 + 40.0)
IDS = st.one_of(
    st.text("ab01", min_size=0, max_size=3),
    st.text("0123456789", min_size=1, max_size=20),
    st.text("x y/~\x7f", max_size=20),
)


@pytest.fixture(autouse=True, scope="module")
def _wrapping_around() -> Iterator[None]:
    """Without Numba, numpy warns of integers that wrap around, as these are meant to."""
    with np.errstate(over="ignore"):
        yield


SOME_LISTS = st.lists(st.lists(IDS, unique=True, max_size=12), min_size=1, max_size=4)
LISTS_OF_NUMBERS = st.lists(st.lists(st.integers(0, 19), unique=True, max_size=12), min_size=1, max_size=4)


def fuse(
    text: bytes, n_lists: int, *, by_name: bool = True, may_repeat: bool = False, depth: int = 40, places: int = 256
) -> Any:
    """The items by the kernels, or the reason why there are none."""
    data = np.zeros(len(text) + 16, np.uint8)
    data[: len(text)] = np.frombuffer(text, np.uint8)
    shape = np.array([len(text), n_lists, 0, by_name, 0, may_repeat, 0, 0, 0])
    items, order, spare = np.empty((places // 2, 5), np.int64), *np.empty((2, places // 2), np.int64)
    scores, best = np.empty((2, places // 2))
    starts, points = depth * np.arange(n_lists + 1), np.tile(POINTS[:depth], n_lists)
    table, entry_item = np.empty(places, np.int32), np.empty(starts[-1], np.int64)
    count = fuse_lists(data, shape, np.empty(0), starts, points, table, items, entry_item, scores, order, spare, best)
    if count <= 0:
        return count
    shape[BEST] = count
    numbers = np.frombuffer(json.dumps(best[:count].tolist()).replace(" ", "").encode() + bytes(16), np.uint8).copy()
    out = np.zeros(len(text) + 64 * count, np.uint8)
    length = write_items(data, shape, items, numbers, out)
    return json.loads(out[:length].tobytes()), int(shape[ENTRIES])


def by_loop(lists: list[list[str]], *, by_name: bool = True) -> list[dict[str, Any]]:
    scores: dict[str, float] = {}
    for listed in lists:
        for item, gained in zip(listed, POINTS.tolist(), strict=False):
            scores[item] = scores.get(item, 0.0) + gained
    order = sorted(scores, key=natural_key) if by_name else list(scores)
    return [{"id": item, "score": scores[item]} for item in sorted(order, key=scores.__getitem__, reverse=True)]


@given(SOME_LISTS, st.booleans(), st.sampled_from([None, 1]))
@settings(deadline=None)
def test_scores_and_order_are_those_of_a_loop(lists: list[list[str]], by_name: bool, indent: int | None) -> None:
    text = "".join(json.dumps(listed, indent=indent, ensure_ascii=False) for listed in lists).encode()
    if any(lists):
        assert fuse(text, len(lists), by_name=by_name) == (by_loop(lists, by_name=by_name), sum(map(len, lists)))
    else:
        assert fuse(text, len(lists)) == 0


@pytest.mark.parametrize(
    "text",
    [
        r'["a","\u0062"]', '["a","é"]', '["a\n"]', '["a",1]', "[1]", '["a",]', '["a" "b"]', '["a"', '["a', "[", "",
        "null", '{"a":1.0}', '[["a",1.0]]', '["a","b","a"]', '["a"]]', '["a"]["b"]', '"a"', '["a"],',
    ],
)  # fmt: skip
def test_what_must_be_decoded_is_left(text: str) -> None:
    assert fuse(text.encode(), 1) == UNUSUAL


def test_lists_that_are_cut_off_anywhere_are_left() -> None:
    text = b' [ "d1" ,\t"d22", "d333"\r\n]["d1","d4444444"]'
    assert fuse(text, 2)[1] == 5
    assert {fuse(text[:n], 2) for n in range(len(text))} == {UNUSUAL}


def test_a_list_that_is_deeper_than_the_points_is_told_apart_from_no_room() -> None:
    ids = [f"d{n}" for n in range(40)]
    assert fuse(json.dumps(ids).encode(), 1, depth=39) == DEEP
    assert fuse(json.dumps(ids).encode(), 1, places=64) == FULL
    assert fuse(json.dumps(ids).encode(), 1, places=128)[1] == 40


def test_the_same_id_in_lists_is_one_item_however_long() -> None:
    for size in range(1, 40):
        one, other = "x" * size, "x" * (size - 1) + "y"
        lists = [[one, other], [other], [one]]
        text = "".join(map(json.dumps, lists)).encode()
        assert fuse(text, 3) == (by_loop(lists), 4)


@given(st.lists(st.lists(IDS, max_size=12), min_size=1, max_size=4))
@settings(deadline=None)
def test_an_item_that_may_repeat_counts_where_it_is_first(lists: list[list[str]]) -> None:
    text = "".join(json.dumps(listed, ensure_ascii=False) for listed in lists).encode()
    scores: dict[str, float] = {}
    for listed in lists:
        for item in dict.fromkeys(listed):
            scores[item] = scores.get(item, 0.0) + POINTS[listed.index(item)]
    found = fuse(text, len(lists), may_repeat=True)
    if not scores:
        assert found == 0
        return
    assert found[1] == sum(map(len, lists))
    assert {item["id"]: item["score"] for item in found[0]} == scores
    assert [item["score"] for item in found[0]] == sorted(scores.values(), reverse=True)


@given(LISTS_OF_NUMBERS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_ranks_of_the_best_are_where_they_stand_in_the_lists(lists: list[list[int]], rng: Any) -> None:
    found = sorted({item for listed in lists for item in listed})
    best = rng.sample(found, rng.randint(0, len(found)))
    shape = np.zeros(9, np.int64)
    shape[LISTS], shape[BEST] = len(lists), len(best)
    items = np.full((20, 5), 7)
    items[: len(best), NUMBER] = best
    starts = np.cumsum([0, *map(len, lists)])
    ranks = np.full(len(best) * len(lists) + 1, -9)
    entry_item = np.array([item for listed in lists for item in listed], np.int64)
    write_ranks(shape, starts, items, entry_item, ranks)
    expected = [listed.index(item) + 1 if item in listed else 0 for item in best for listed in lists]
    assert ranks.tolist() == [*expected, -9]
