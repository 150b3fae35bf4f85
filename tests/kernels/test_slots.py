"""Items to slots and labels to slots, against slow and obvious versions."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from juryrank.kernels.slots import fill_slots, sort_numbers, spread_labels

QUERIES = st.lists(st.lists(st.integers(0, 5), unique=True, max_size=6), min_size=1, max_size=5)


def flat(parts: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    ptr = np.cumsum([0, *map(len, parts)])
    return ptr, np.array([x for part in parts for x in part], np.int32)


@given(QUERIES, st.data())
def test_a_label_goes_to_the_slot_of_its_item(slots, data):
    labels = [data.draw(st.lists(st.integers(0, 5), unique=True, max_size=6)) for _ in slots]
    slot_ptr, slot_item = flat(slots)
    label_ptr, label_item = flat(labels)
    value = np.arange(1.0, len(label_item) + 1)
    out = np.full(len(slot_item), np.nan)
    spread_labels(slot_ptr, slot_item, label_ptr, label_item, value, np.full(6, -1, np.int64), out)
    given = {(q, item): value[label_ptr[q] + n] for q, part in enumerate(labels) for n, item in enumerate(part)}
    expected = [given.get((q, item), np.nan) for q, part in enumerate(slots) for item in part]
    np.testing.assert_array_equal(out, expected)


@given(st.lists(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=6), min_size=1, max_size=4))
def test_slots_ranks_and_ties_are_those_of_plain_lists(lists):
    """One query; the lists are made to fall in score and to name an item once."""
    kept = [sorted(dict(entries).items(), key=lambda pair: -pair[1]) for entries in lists]
    entry_ptr, item = flat([[i for i, _ in entries] for entries in kept])
    score = np.array([float(s) for entries in kept for _, s in entries])
    room = len(item)
    slot_ptr, slot_item = np.empty(2, np.int64), np.empty(room, np.int32)
    entry_slot, entry_rank = np.empty(room, np.int32), np.empty(room)
    seen = np.full(6, -1, np.int32)
    list_ptr = np.array([0, len(kept)])
    assert fill_slots(list_ptr, entry_ptr, item, score, seen, slot_ptr, slot_item, entry_slot, entry_rank)
    items = sorted({i for entries in kept for i, _ in entries})
    assert slot_item[: slot_ptr[-1]].tolist() == items
    for m, entries in enumerate(kept):
        ranked = sorted((sum(other > s for _, other in entries) + 1, items.index(i)) for i, s in entries)
        here = slice(entry_ptr[m], entry_ptr[m + 1])
        assert list(zip(entry_rank[here].tolist(), entry_slot[here].tolist(), strict=True)) == ranked


def test_a_list_that_rises_or_repeats_is_refused():
    for item, score in (([0, 1], [1.0, 2.0]), ([0, 0], [2.0, 1.0]), ([0, 1], [1.0, np.nan])):
        arrays = np.empty(2, np.int64), np.empty(2, np.int32), np.empty(2, np.int32), np.empty(2)
        seen = np.full(2, -1, np.int32)
        ptr = np.array([0, 1]), np.array([0, 2])
        assert not fill_slots(*ptr, np.array(item, np.int32), np.array(score), seen, *arrays)


@given(st.lists(st.integers(0, 2**31 - 1), max_size=300))
@example([2**30 - i * 2**22 for i in range(200)])
def test_numbers_are_sorted_whatever_their_count(values):
    given = np.array(values, np.int32)
    sort_numbers(0, len(values), given, np.empty_like(given), np.empty(257, np.int64))
    assert given.tolist() == sorted(values)
