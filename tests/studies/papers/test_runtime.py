"""The runtime study expands data as the paper does, and counts what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data import Rankings
from juryrank.data.build import from_array
from juryrank.errors import ParameterError
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.methods.learned.preferences import svd_values
from studies.papers.cikm2013 import runtime_claims
from studies.papers.runtime import (
    EXPANSIONS,
    Scale,
    expanded,
    growth,
    more_experts,
    more_items,
    runtime,
    spread,
    summary,
)
from studies.papers.singular_vectors import log_preferences


def matrices(rankings: Rankings) -> list[np.ndarray]:
    """Items × experts of each query; 0 where an expert did not rank an item."""
    r, found = rankings, []
    for q in range(len(r)):
        matrix = np.zeros((r.query_size[q], len(r.experts)))
        for m in range(r.list_ptr[q], r.list_ptr[q + 1]):
            for e in range(r.entry_ptr[m], r.entry_ptr[m + 1]):
                matrix[r.entry_slot[e] - r.slot_ptr[q], r.list_expert[m]] = r.entry_rank[e]
        found.append(matrix)
    return found


def sorted_columns(matrix: np.ndarray) -> np.ndarray:
    return matrix[:, np.lexsort(matrix)]


def test_more_experts_are_the_same_matrix_beside_itself():
    r = random_dataset(3).rankings
    for before, after in zip(matrices(r), matrices(more_experts(r, 3)), strict=True):
        assert_array_equal(sorted_columns(after), sorted_columns(np.concatenate([before] * 3, axis=1)))


def test_more_items_are_the_same_matrix_below_itself():
    r = random_dataset(3).rankings
    for before, after in zip(matrices(r), matrices(more_items(r, 3, tied=True)), strict=True):
        assert_array_equal(after, np.repeat(before, 3, axis=0))


def test_items_in_a_row_stand_right_below_their_copies():
    r = from_array(np.array([[2.0, 1.0, np.nan]])).rankings
    many = more_items(r, 2, tied=False)
    assert_array_equal(matrices(many)[0][:, 0], [3, 4, 1, 2, 0, 0])
    assert (np.diff(many.entry_rank) > 0).all()


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_an_expansion_multiplies_entries_and_keeps_names_apart(expansion):
    r = random_dataset(1).rankings
    many = expanded(r, expansion, 4)
    assert many.n_entries == 4 * r.n_entries
    assert len(set(many.experts)) == len(many.experts)
    assert len(set(many.items.tolist())) == len(many.items)
    assert_array_equal(expanded(r, expansion, 1).entry_rank, r.entry_rank)


def test_an_unknown_expansion_is_refused():
    with pytest.raises(ParameterError, match="expansion must be one of"):
        expanded(random_dataset(1).rankings, "queries", 2)


def test_the_dense_matrix_is_the_one_that_features_are_of():
    rank = np.array([1.0, 3.0, 3.0, 8.0])
    left, _, right = np.linalg.svd(log_preferences(rank))
    vectors = svd_values(from_array(rank[None]).rankings, ExpertGroups(("1",)), "log-rank", 1)[:, 1:]
    assert_allclose(np.abs(np.stack([left[:, 0], right[0]], 1)), vectors, atol=1e-7)


def test_dense_queries_reach_from_the_smallest_to_the_largest():
    r = random_dataset(2, n_queries=9).rankings
    entries = np.bincount(r.list_query, r.list_size, minlength=len(r))
    chosen = spread(r, 3)
    assert len(chosen) == 3
    assert {entries.min(), entries.max()} <= set(entries[chosen])
    assert_array_equal(spread(r, 100), np.arange(9))


def test_growth_is_the_exponent():
    rows = [{"expansion": "items", "entries": 10.0 * t, "crf ms": 0.5 * t**2} for t in (1, 2, 5)]
    assert growth(rows, "items", "crf ms") == pytest.approx(2.0)


def test_a_study_has_a_row_for_each_size_and_a_summary_for_each_expansion():
    data = random_dataset(4)
    rows = runtime(data, Scale(times=(1, 3), repeats=1, dense_queries=2))
    assert [(row["expansion"], row["times"]) for row in rows] == [(e, t) for e in EXPANSIONS for t in (1, 3)]
    for row in rows:
        assert row["entries"] == pytest.approx(row["times"] * data.rankings.n_entries / len(data))
        assert all(value > 0 for name, value in row.items() if name.endswith("ms"))
        assert row["dense / features"] == pytest.approx(row["dense svd ms"] / row["features ms"])
        assert row["dense queries"] == 2 < row["queries"]
        assert row["dense / crf"] == pytest.approx(row["dense svd ms"] / row["crf, same queries ms"])
    found = summary(rows)
    assert [row["expansion"] for row in found] == list(EXPANSIONS)
    first, third = rows[0], rows[1]
    ratios = [row["svd, log-rank ms"] / row["crf ms"] for row in (first, third)]
    assert found[0]["svd, log-rank / crf, at most"] == pytest.approx(max(ratios))
    assert found[0]["dense / features, at last"] == third["dense / features"]


def test_dense_svd_is_compared_with_the_crf_on_the_same_queries():
    found = runtime(random_dataset(4), Scale(times=(1, 10), repeats=1, dense_queries=2))
    rows = [
        {**row, "crf ms": 1.0, "crf, same queries ms": 2.0, "dense svd ms": 160.0, "dense / crf": 80.0} for row in found
    ]
    assert [claim.measured for claim in runtime_claims(rows)] == ["80×", "80×", "80× and 80×"]


@pytest.mark.parametrize(
    ("experts", "items", "held"),
    [(79.0, 3.6, [True, True, True]), (45.0, 784.0, [False, True, False]), (101.0, 3.5, [False, False, True])],
)
def test_ratios_of_dense_svd_hold_if_they_are_as_printed(experts, items, held):
    ratios = {"experts": experts, "items": items}
    rows = [{"expansion": name, "times": 10, "dense / crf": ratio} for name, ratio in ratios.items()]
    assert [claim.holds for claim in runtime_claims(rows)] == held
