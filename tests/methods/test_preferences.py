"""Wins, losses and singular vectors against dense matrices of preferences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.data.build import from_array, from_orders
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.methods.learned.preferences import FORMS, singular_values, svd_values, win_values
from juryrank.methods.learned.sparse_rows import SparseRows

every_form = pytest.mark.parametrize("form", FORMS)
ranks = st.lists(st.integers(1, 30), min_size=1, max_size=12).map(lambda r: np.array(r, float))


def preferences(rank: np.ndarray, form: str) -> np.ndarray:
    """The matrix phi(i, j) of one list, as the papers define it."""
    above = rank[:, None] < rank[None, :]
    largest = rank.max()
    if form == "binary":
        return above.astype(float)
    if form == "rank":
        return np.where(above, (rank[None, :] - rank[:, None]) / largest, 0.0)
    log = np.log(rank)
    return np.where(above, (log[None, :] - log[:, None]) / (np.log(largest) if largest > 1 else 1.0), 0.0)


def check_vectors(matrix: np.ndarray, u: np.ndarray, v: np.ndarray) -> None:
    """That u, v are the singular vectors of the matrix where these are unique, with the documented signs."""
    left, values, right = np.linalg.svd(matrix)
    for t in range(u.shape[1]):
        if t >= len(values) or values[t] < 1e-9 * max(values[0], 1e-300):
            assert not u[:, t].any()
            assert not v[:, t].any()
            continue
        assert_allclose(matrix @ v[:, t], values[t] * u[:, t], atol=1e-6 * values[0])
        assert_allclose(np.linalg.norm(u[:, t]), 1.0)
        others = np.delete(values, t)
        if np.abs(others - values[t]).min(initial=np.inf) > 1e-3 * values[0]:
            assert_allclose(np.abs(u[:, t] @ left[:, t]), 1.0, atol=1e-7)
            assert_allclose(np.abs(v[:, t] @ right[t]), 1.0, atol=1e-7)
        left_sum, right_sum = u[:, t].sum(), v[:, t].sum()
        decides = right_sum if abs(right_sum) > (1 + 1e-6) * abs(left_sum) else left_sum
        assert decides > -1e-8 * len(u)
    assert (u[:, 0] >= 0).all()
    assert (v[:, 0] >= 0).all()


def vectors(rank, form, p=1):
    """Left, then right singular vectors of the only list, by item."""
    return svd_values(from_array(rank[None, :]).rankings, ExpertGroups(("1",)), form, p)[by_item(rank), 1:]


def by_item(rank):
    """The entry of each item of the only list."""
    return np.argsort(from_array(rank[None, :]).rankings.entry_slot)


@every_form
@given(rank=ranks)
def test_wins_and_losses_are_row_and_column_sums(form, rank):
    matrix = preferences(rank, form)
    values = win_values(from_array(rank[None, :]).rankings, form)[by_item(rank)]
    assert_allclose(values[:, 1:], np.stack([matrix.sum(1), matrix.sum(0)], 1), atol=1e-12)


@every_form
@given(rank=ranks, p=st.integers(1, 4))
def test_singular_vectors_are_those_of_the_dense_matrix(form, rank, p):
    found = vectors(rank, form, p)
    check_vectors(preferences(rank, form), found[:, :p], found[:, p:])


@every_form
@given(rank=ranks, p=st.integers(1, 4))
def test_singular_values_are_those_of_the_dense_matrix(form, rank, p):
    r, groups = from_array(rank[None, :]).rankings, ExpertGroups(("1",))
    found = singular_values(r, groups, form, svd_values(r, groups, form, p)[:, 1:])
    values = np.linalg.svd(preferences(rank, form), compute_uv=False)
    padded = np.append(values, np.zeros(p))[:p]
    assert_allclose(found, np.tile(padded, (len(rank), 1)), atol=1e-9 * max(1.0, values[0]))


@pytest.mark.parametrize("n", [2, 3, 10, 200])
def test_the_closed_form_of_untied_binary_preferences_has_the_known_singular_values(n):
    found = vectors(np.arange(1.0, n + 1), "binary", 3)
    matrix = np.triu(np.ones((n, n)), 1)
    check_vectors(matrix, found[:, :3], found[:, 3:])
    t = np.pi / (2 * (n - 1) + 1)
    assert_allclose(found[:, 0] @ matrix @ found[:, 3], 1 / (2 * np.sin(t / 2)))


@every_form
@pytest.mark.parametrize(("n", "largest"), [(2, 2), (150, 40), (150, 100_000)])
def test_vectors_of_long_lists_with_and_without_ties_are_those_of_the_dense_matrix(form, n, largest):
    rank = np.random.default_rng(n).integers(1, largest, n, endpoint=True).astype(float)
    left, _, right = np.linalg.svd(preferences(rank, form))
    found = vectors(rank, form)
    assert_allclose(found, np.abs(np.stack([left[:, 0], right[0]], 1)), atol=2e-7)


@every_form
def test_items_that_tie_share_what_one_of_them_would_have(form):
    rank = np.array([1.0, 4.0, 5.0, 11.0])
    alone = vectors(rank, form)
    assert_allclose(vectors(np.tile(rank, 9), form), np.tile(alone, (9, 1)) / 3, atol=1e-7)


@every_form
def test_experts_that_share_a_column_are_one_summed_matrix(form):
    data = random_dataset(2)
    r = data.rankings
    groups = ExpertGroups(("e1",))
    values = svd_values(r, groups, form, 2)
    rows = SparseRows.of_entries(r, groups, values).dense()
    known = np.where(np.isnan(values[:, :1]), np.nan, singular_values(r, groups, form, values[:, 1:]))
    sizes = SparseRows.of_entries(r, groups, known).dense()
    for q in range(len(r)):
        n, lo = r.query_size[q], r.slot_ptr[q]
        total = np.zeros((n, n))
        for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
            if r.experts[r.list_expert[m]] != "e1":
                here = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
                at = r.entry_slot[here] - lo
                total[np.ix_(at, at)] += preferences(r.entry_rank[here], form)
        block = rows[lo : lo + n, 1]
        check_vectors(total, block[:, 1:3], block[:, 3:5])
        expected = np.linalg.svd(total, compute_uv=False)
        ranked = block[:, 0] > 0
        assert_allclose(sizes[lo : lo + n, 1][ranked], np.tile(expected[:2], (ranked.sum(), 1)), atol=1e-6)


def test_an_expert_that_ranks_an_item_twice_over_in_several_lists_adds_them_up():
    data = from_orders([["a", "b", "c"], ["b", "c", "a"], ["c", "a"]])
    pooled = SparseRows.of_entries(data.rankings, ExpertGroups(()), win_values(data.rankings, "binary")).dense()[:, 0]
    assert_allclose(pooled, [[3, 2, 3], [2, 3, 1], [3, 2, 3]])


def test_means_divide_by_the_other_items_of_the_query_and_weights_count_lists():
    data = from_orders([["a", "b"], ["c", "a"]], weights=[2.0, 1.0])
    values = win_values(data.rankings, "binary", mean=True)
    assert_allclose(values, [[2, 1, 0], [2, 0, 1], [1, 0.5, 0], [1, 0, 0.5]])


def test_expert_groups_follow_names():
    r = random_dataset(1).rankings
    known = ExpertGroups(r.experts[::2])
    column = known.columns(r)
    for m in range(r.n_lists):
        name = r.experts[r.list_expert[m]]
        assert column[m] == (known.names.index(name) if name in known.names else len(known.names))
