"""Who is heard under a name of its own: the same experts for every method that learns weights."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from conftest import random_dataset
from juryrank.data.build import from_orders
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.learning.expert_groups import ordered_pairs as pairs_by_expert
from juryrank.methods import method

with_threshold = pytest.mark.parametrize("name", ["crf", "jury", "lambdarank", "ridge", "svd-lambdarank"])


def ordered_pairs(data, queries) -> dict[str, int]:
    """By expert, counted one by one."""
    r, counts = data.rankings, dict.fromkeys(data.experts, 0)
    for m in range(r.n_lists):
        ranks = r.entry_rank[r.entry_ptr[m] : r.entry_ptr[m + 1]]
        if r.queries[r.list_query[m]] in queries:
            counts[data.experts[r.list_expert[m]]] += sum(bool(a < b) for a in ranks for b in ranks)
    return counts


def test_preferences_are_the_ordered_pairs_of_every_list():
    data = from_orders([["a", "b", "c"], ["a", ("b", "c")], [("a", "b", "c")], ["a"]])
    assert_array_equal(pairs_by_expert(data.rankings), [3, 2, 0, 0])


@with_threshold
def test_a_threshold_counts_ordered_pairs_in_queries_that_teach(name):
    data = random_dataset(13)
    differ = [q for q, found in zip(data.queries, _labels_differ(data), strict=True) if found]
    counts = ordered_pairs(data, differ)
    threshold = sorted(counts.values())[2]
    model = method(name, experts="hybrid", threshold=threshold).fit(data)
    own = model.own_ if hasattr(model, "own_") else model.experts_
    assert own == [e for e in data.experts if counts[e] >= threshold]
    assert 0 < len(own) < len(data.experts)


@with_threshold
def test_a_threshold_counts_entries_if_it_is_told_to(name):
    data = random_dataset(13)
    r, counts = data.rankings, dict.fromkeys(data.experts, 0)
    for m in range(r.n_lists):
        if _labels_differ(data)[r.list_query[m]]:
            counts[data.experts[r.list_expert[m]]] += int(r.entry_ptr[m + 1] - r.entry_ptr[m])
    threshold = sorted(counts.values())[2]
    model = method(name, experts="hybrid", threshold=threshold, threshold_of="entries").fit(data)
    own = model.own_ if hasattr(model, "own_") else model.experts_
    assert own == [e for e in data.experts if counts[e] >= threshold]
    assert 0 < len(own) < len(data.experts)


def _labels_differ(data) -> list[bool]:
    gains = np.nan_to_num(np.maximum(data.slot_labels, 0.0))
    return [bool(np.ptp(gains[a:b]) > 0) for a, b in pairwise(data.rankings.slot_ptr)]


def test_one_entry_is_enough_where_experts_are_individual():
    data = from_orders([["a", "b", "c"], ["a"]])
    assert ExpertGroups.choose(data.rankings, "individual", 500).names == tuple(data.experts)
    assert ExpertGroups.choose(data.rankings, "shared", 500).names == ()
    assert ExpertGroups.choose(data.rankings, "hybrid", 3).names == (data.experts[0],)
