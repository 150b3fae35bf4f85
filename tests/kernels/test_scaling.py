"""Scales of lists against numpy, list by list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from juryrank.kernels.positional import rescale, score_ranges
from juryrank.kernels.ragged import sizes_to_ptr


@given(st.lists(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), min_size=1, max_size=5), st.integers(0, 5))
def test_lists_are_scaled_each_by_its_own(lists, cut):
    entry_ptr = sizes_to_ptr(np.array([len(each) for each in lists]))
    list_ptr = np.array([0, min(cut, len(lists)), len(lists)])  # two queries
    score = np.concatenate([np.array(each) for each in lists])
    low, high, out = np.empty(len(lists)), np.empty(len(lists)), np.empty(len(score))
    score_ranges(list_ptr, entry_ptr, score, low, high)
    assert low.tolist() == [min(each) for each in lists]
    assert high.tolist() == [max(each) for each in lists]
    rescale(list_ptr, entry_ptr, score, low, high - low, np.full(len(lists), 0.5), out)
    expected = [
        (v - min(each)) / (max(each) - min(each)) if max(each) > min(each) else 0.5 for each in lists for v in each
    ]
    np.testing.assert_array_equal(out, expected)
