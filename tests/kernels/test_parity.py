"""Kernels against slow and obvious versions; this file also runs with the JIT disabled."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.kernels.linear_ordering import insertion_search
from juryrank.kernels.pairwise import kendall_distance, majority_sort, margins, outranking_classes, wins_and_losses
from juryrank.kernels.positional import add_points, extremes, medians, places
from juryrank.kernels.ragged import children, descending_order, parents, put_last, sizes_to_ptr
from juryrank.methods.pairwise.pairwise import MarginLists

SIZES = st.lists(st.integers(0, 4), min_size=1, max_size=5)


@given(SIZES, st.data())
def test_children_and_parents_undo_each_other(sizes, data):
    ptr = sizes_to_ptr(np.array(sizes))
    chosen = np.array(data.draw(st.lists(st.integers(0, len(sizes) - 1))), np.int64)
    expected = [c for p in chosen for c in range(ptr[p], ptr[p + 1])]
    assert children(ptr, chosen).tolist() == expected
    assert parents(ptr)[children(ptr, chosen)].tolist() == [p for p in chosen for _ in range(sizes[p])]


@given(
    arrays(np.float64, st.integers(0, 80), elements=st.sampled_from([-2.0, 0.0, 1.0, np.inf, np.nan])),
    st.integers(0, 80),
)
def test_descending_is_a_stable_sort_with_unknown_values_last(values, cut):
    ptr = np.array([0, min(cut, len(values)), len(values)])
    out = np.empty(len(values), np.int64)
    descending_order(ptr, values, out)
    for lo, hi in itertools.pairwise(ptr):
        known = [s for s in range(lo, hi) if not np.isnan(values[s])]
        unknown = [s for s in range(lo, hi) if np.isnan(values[s])]
        assert out[lo:hi].tolist() == sorted(known, key=lambda s: -values[s]) + unknown


@pytest.mark.parametrize("n", [129, 1000, 1025])
@pytest.mark.parametrize("kind", ["spread", "tied", "sorted", "huge and tiny"])
def test_many_values_descend_in_a_stable_order_with_unknown_values_last(n, kind):
    rng = np.random.default_rng(n)
    values = rng.normal(size=n)
    if kind == "tied":
        values = np.round(values)
    elif kind == "sorted":
        values = np.sort(values)
    elif kind == "huge and tiny":
        values *= 10.0 ** rng.integers(-320, 300, n)
    values[::50] = np.nan
    values[:4] = 0.0, -0.0, np.inf, -np.inf
    out = np.empty(n, np.int64)
    descending_order(np.array([0, n]), values, out)
    assert_array_equal(out, np.argsort(-values, kind="stable"))


def test_put_last_goes_below_the_lowest_of_its_query():
    out = np.array([3.0, -2.0, 9.0, 9.0, 9.0])
    put_last(np.array([0, 3, 5]), np.array([False, False, True, True, True]), out)
    assert out.tolist() == [3.0, -2.0, -3.0, 0.0, 0.0]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=8))
def test_places_are_mean_positions_of_ties(ranks):
    ranks = np.sort(np.array(ranks, float))
    out = np.empty(len(ranks))
    places(np.array([0, 1]), np.array([0, len(ranks)]), ranks, out)
    expected = [np.mean(np.flatnonzero(ranks == rank)) + 1 for rank in ranks]
    assert_allclose(out, expected)


def table_of(r, values, absent, q):
    """values [lists, slots] of a query, ``absent`` where a list leaves a slot out."""
    out = np.empty((r.list_ptr[q + 1] - r.list_ptr[q], r.query_size[q]))
    for row, m in enumerate(range(r.list_ptr[q], r.list_ptr[q + 1])):
        out[row] = absent[m]
        for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
            out[row, r.entry_slot[e] - r.slot_ptr[q]] = values[e]
    return out


@pytest.mark.parametrize("seed", range(3))
def test_sums_medians_and_extremes_by_slot(seed):
    r = random_dataset(seed).rankings
    rng = np.random.default_rng(seed)
    values, absent = rng.normal(size=r.n_entries), rng.normal(size=r.n_lists)
    weight = rng.integers(1, 4, r.n_lists).astype(float)
    total, median, low, high = (np.zeros(r.n_slots) for _ in range(4))
    add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, values, absent, weight, total)
    medians(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, values, absent, np.ones(r.n_lists), median)
    extremes(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, values, absent, -1.0, low)
    extremes(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, values, absent, 1.0, high)
    for q in range(len(r)):
        table = table_of(r, values, absent, q)
        here = slice(r.slot_ptr[q], r.slot_ptr[q + 1])
        if not len(table):
            continue
        assert_allclose(total[here], weight[r.list_ptr[q] : r.list_ptr[q + 1]] @ table, atol=1e-12)
        assert_allclose(median[here], np.median(table, 0))
        assert_allclose(low[here], table.min(0))
        assert_allclose(high[here], table.max(0))


@given(
    st.lists(st.tuples(st.integers(0, 5).map(float), st.integers(1, 3)), min_size=1, max_size=7),
)
def test_a_weighted_median_is_the_median_of_copies(weighted):
    values, weights = (np.array(column, float) for column in zip(*weighted, strict=True))
    copies, n, out = np.repeat(values, weights.astype(int)), len(values), np.empty(1)
    lists = (np.array([0, 1]), np.array([0, n]), np.arange(n + 1), np.zeros(n, np.int32))  # each ranks one item
    medians(*lists, values, np.full(n, np.nan), weights, out)
    assert out[0] == pytest.approx(np.median(copies))


def slow_margin(r, q, weight, last):
    n = r.query_size[q]
    ranks = table_of(r, r.entry_rank, np.full(r.n_lists, np.inf if last else np.nan), q)
    w = weight[r.list_ptr[q] : r.list_ptr[q + 1]]
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = (w * (ranks[:, i] < ranks[:, j])).sum() - (w * (ranks[:, i] > ranks[:, j])).sum()
    return out


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_margins_wins_and_distances(seed, last):
    r = random_dataset(seed).rankings
    rng = np.random.default_rng(seed)
    weight = rng.choice([0.1, 0.2, 0.3], r.n_lists)
    lists = MarginLists(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, weight, last)
    won, lost, scores = np.zeros(r.n_slots), np.zeros(r.n_slots), rng.normal(size=r.n_slots)
    wins_and_losses(lists, won, lost)
    distance = np.zeros(len(r))
    kendall_distance(lists, scores, distance)
    for q in range(len(r)):
        n = r.query_size[q]
        out = np.empty((n, n))
        margins(q, lists, out)
        slow = slow_margin(r, q, weight, last)
        assert_allclose(out, slow, atol=1e-12)
        assert_array_equal(out == 0, np.abs(slow) < 1e-9)
        here = slice(r.slot_ptr[q], r.slot_ptr[q + 1])
        assert_array_equal(won[here], (slow > 1e-9).sum(1))
        assert_array_equal(lost[here], (slow < -1e-9).sum(1))
        ranks = table_of(r, r.entry_rank, np.full(r.n_lists, np.inf if last else np.nan), q)
        against = 0.0
        for row, w in zip(ranks, weight[r.list_ptr[q] : r.list_ptr[q + 1]], strict=True):
            for i in range(n):
                for j in range(n):
                    against += w * (row[i] < row[j] and scores[here][i] < scores[here][j])
        assert distance[q] == pytest.approx(against)


@given(st.integers(1, 7), st.integers(0, 10_000))
def test_sorts_by_majority_and_search_leave_nothing_to_improve(n, seed):
    draw = np.random.default_rng(seed).integers(-3, 4, (n, n))
    margin = np.triu(draw, 1).astype(float)
    margin -= margin.T
    order = np.arange(n)
    majority_sort(margin, order)
    assert sorted(order) == list(range(n))
    assert all(margin[b, a] <= 0 for a, b in itertools.pairwise(order))

    def agreement(ranked):
        return sum(margin[a, b] for k, a in enumerate(ranked) for b in ranked[k + 1 :])

    found = np.arange(n)
    insertion_search(margin, found, 0.0)
    for at in range(n):
        rest = np.delete(found, at)
        assert all(agreement(np.insert(rest, to, found[at])) <= agreement(found) + 1e-9 for to in range(n))


def test_the_best_class_of_outranking_outranks_most_and_is_outranked_least():
    place = np.array([[1.0, 2.0, 3.0, 4.0], [2.0, 1.0, 4.0, 3.0], [4.0, 1.0, 2.0, 3.0]])
    relation = np.zeros((4, 4), np.int64)
    for i in range(4):
        for j in range(4):
            in_favour = sum(row[i] < row[j] for row in place) / 3 >= 0.5
            vetoes = sum(row[i] - row[j] >= 3 for row in place) / 3 <= 0.25
            relation[i, j] = i != j and in_favour and vetoes
    slots, out = np.argsort(place, axis=1).astype(np.int32), np.zeros(4)
    ptrs = (np.array([0, 4]), np.array([0, 3]), np.array([0, 4, 8, 12]))
    lists = MarginLists(*ptrs, slots.ravel(), np.sort(place).ravel(), np.ones(3), last=True)
    outranking_classes(lists, 0.0, 0.75, 0.5, 0.25, out)
    merit = relation.sum(1) - relation.sum(0)
    assert set(np.flatnonzero(out == 0)) == set(np.flatnonzero(merit == merit.max()))
