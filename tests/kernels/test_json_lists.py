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
    UNUSUAL,
    fuse_lists,
    write_items,
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


def fuse(text: bytes, n_lists: int, *, by_name: bool = True, depth: int = 40, places: int = 256) -> Any:
    """The items by the kernels, or the reason why there are none."""
    data = np.zeros(len(text) + 16, np.uint8)
    data[: len(text)] = np.frombuffer(text, np.uint8)
    points = np.concatenate([[np.nan] * 3, np.tile(POINTS[:depth], n_lists)])
    shape = np.array([len(text), n_lists, 0, by_name, 0, 3, depth])
    items, order, spare = np.empty((places // 2, 5), np.int64), *np.empty((2, places // 2), np.int64)
    scores, best = np.empty((2, places // 2))
    table = np.empty(places, np.int32)
    count = fuse_lists(data, points, shape, table, items, scores, order, spare, best)
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
