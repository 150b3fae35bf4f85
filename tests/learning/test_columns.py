"""Columns of experts against plain loops over names."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data.dataset import Dataset
from juryrank.data.long_table import from_long
from juryrank.learning.columns import consensus_columns, expert_columns, log_rank_columns, missing_columns
from juryrank.methods import method

BY_EXPERT = {"log-rank": log_rank_columns, "missing": missing_columns}
EXPERTS = ("e3", "e0", "nobody")


def by_hand(data: Dataset, value, absent: float) -> np.ndarray:
    """One column per expert: value(rank, ranks of its list)."""
    r = data.rankings
    out = np.full((r.n_slots, len(EXPERTS)), absent)
    for m in range(r.n_lists):
        name = r.experts[r.list_expert[m]]
        entries = range(r.entry_ptr[m], r.entry_ptr[m + 1])
        for e in entries:
            if name in EXPERTS:
                out[r.entry_slot[e], EXPERTS.index(name)] = value(r.entry_rank[e])
    return out


@pytest.mark.parametrize(
    ("name", "value", "absent"),
    [
        ("missing", lambda rank: 0.0, 1.0),
        ("log-rank", lambda rank: -np.log(rank), 0.0),
    ],
)
def test_ranks_become_columns_by_the_name_of_the_expert(name, value, absent, dataset):
    assert_allclose(BY_EXPERT[name](dataset.rankings, EXPERTS), by_hand(dataset, value, absent))


def test_any_value_of_an_entry_becomes_a_column_by_the_name_of_the_expert(dataset):
    value = 60 / (60 + dataset.rankings.entry_rank)
    columns = expert_columns(dataset.rankings, EXPERTS, value)
    assert_allclose(columns, by_hand(dataset, lambda rank: 60 / (60 + rank), 0.0))


@pytest.mark.parametrize("columns", [*BY_EXPERT.values(), lambda rankings, _: consensus_columns(rankings)])
def test_columns_have_one_row_per_slot_and_are_the_same_for_a_query_alone(columns, dataset):
    whole, ptr = columns(dataset.rankings, EXPERTS), dataset.rankings.slot_ptr
    assert len(whole) == dataset.rankings.n_slots
    assert_allclose(columns(dataset[2].rankings, EXPERTS), whole[ptr[2] : ptr[3]])


def test_the_first_consensus_column_orders_as_rrf_does():
    data = random_dataset(1)
    columns = consensus_columns(data.rankings)
    lists = np.diff(data.rankings.list_ptr)[np.repeat(np.arange(len(data)), data.rankings.query_size)]
    assert_allclose(columns[:, 0], 60 * method("rrf").fit_predict(data).scores / lists)
    assert_allclose(columns[:, 2], data.rankings.slot_lists / lists)


def test_several_lists_of_one_expert_give_the_mean():
    rows = [("q", "x", "a", 1.0, "1"), ("q", "y", "a", 2.0, "1"), ("q", "x", "a", 3.0, "2")]
    data = from_long(pl.DataFrame(rows, schema=["query", "item", "expert", "rank", "list"], orient="row"))
    assert_allclose(log_rank_columns(data.rankings, ["a"])[:, 0], [-np.log(3) / 2, -np.log(2)])
    assert_array_equal(missing_columns(data.rankings, ["a"]), [[0.0], [0.0]])
