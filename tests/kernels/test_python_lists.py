"""Kernels that follow on lists of Python; what reads these is tested by ``tests/tasks/fuse/test_fuse_compiled.py``."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from juryrank.kernels.json_lists import NUMBER
from juryrank.kernels.python_lists import write_ranks
from juryrank.kernels.python_objects import BEST, ENTRIES, LISTS, SIZE

LISTS_OF_NUMBERS = st.lists(st.lists(st.integers(0, 19), unique=True, max_size=12), min_size=1, max_size=4)


@given(LISTS_OF_NUMBERS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_ranks_of_the_best_are_where_they_stand_in_the_lists(lists: list[list[int]], rng: Any) -> None:
    found = sorted({item for listed in lists for item in listed})
    best = rng.sample(found, rng.randint(0, len(found)))
    shape = np.zeros(SIZE, np.int64)
    shape[LISTS], shape[BEST], shape[ENTRIES] = len(lists), len(best), sum(map(len, lists))
    items = np.full((20, 5), 7)
    items[: len(best), NUMBER] = best
    ptr = np.cumsum([0, *map(len, lists)])
    ranks = np.full(len(best) * len(lists) + 1, -9)
    entry_item = np.array([item for listed in lists for item in listed], np.int64)
    write_ranks(shape, ptr, items, entry_item, ranks)
    expected = [listed.index(item) + 1 if item in listed else 0 for item in best for listed in lists]
    assert ranks.tolist() == [*expected, -9]
