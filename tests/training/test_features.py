"""Features against plain loops over names."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data.build import from_dicts, from_long
from juryrank.data.dataset import Dataset
from juryrank.errors import DataError
from juryrank.methods import method
from juryrank.training.consensus import consensus
from juryrank.training.item import item
from juryrank.training.log_rank import log_rank
from juryrank.training.missing import missing
from juryrank.training.reciprocal_rank import reciprocal_rank
from juryrank.training.score import score
from juryrank.training.svd import svd
from juryrank.training.wins import wins

FEATURES = {
    "consensus": consensus,
    "item": item,
    "log-rank": log_rank,
    "missing": missing,
    "reciprocal-rank": reciprocal_rank,
    "score": score,
    "svd": svd,
    "wins": wins,
}
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
        ("reciprocal-rank", lambda rank: 60 / (60 + rank), 0.0),
    ],
)
def test_ranks_become_columns_by_the_name_of_the_expert(name, value, absent, dataset):
    assert_allclose(FEATURES[name](dataset, EXPERTS), by_hand(dataset, value, absent))


def test_every_family_has_one_row_per_slot_and_as_many_columns_on_other_queries(dataset):
    features = np.ones((dataset.rankings.n_slots, 2))
    data = Dataset(rankings=dataset.rankings, features=features)
    for name, family in FEATURES.items():
        if name == "score":
            continue
        whole = family(data, EXPERTS)
        assert whole.shape[0] == data.rankings.n_slots
        assert_allclose(family(data[2], EXPERTS), whole[data.rankings.slot_ptr[2] : data.rankings.slot_ptr[3]])


def test_scores_lie_between_the_lowest_and_the_highest_of_their_list():
    data = from_dicts({"a": {"q": {"x": 3.0, "y": 2.0, "z": -1.0}}, "b": {"q": {"x": 7.0, "w": 7.0}}})
    assert data.rankings.items.tolist() == ["w", "x", "y", "z"]
    assert_allclose(FEATURES["score"](data, ["b", "a"]), [[1.0, 0.0], [1.0, 1.0], [0.0, 0.75], [0.0, 0.0]])


def test_the_first_consensus_feature_orders_as_rrf_does():
    data = random_dataset(1)
    columns = FEATURES["consensus"](data, ())
    lists = np.diff(data.rankings.list_ptr)[np.repeat(np.arange(len(data)), data.rankings.query_size)]
    assert_allclose(columns[:, 0], 60 * method("rrf").fit_predict(data).scores / lists)
    assert_allclose(columns[:, 2], data.rankings.slot_lists / lists)


def test_several_lists_of_one_expert_give_the_mean():
    rows = [("q", "x", "a", 1.0, "1"), ("q", "y", "a", 2.0, "1"), ("q", "x", "a", 3.0, "2")]
    data = from_long(pl.DataFrame(rows, schema=["query", "item", "expert", "rank", "list"], orient="row"))
    assert_allclose(FEATURES["log-rank"](data, ["a"])[:, 0], [-np.log(3) / 2, -np.log(2)])
    assert_array_equal(FEATURES["missing"](data, ["a"]), [[0.0], [0.0]])


@pytest.mark.parametrize(("name", "complaint"), [("score", "no scores"), ("item", "no item features")])
def test_features_that_the_data_does_not_have_are_named(name, complaint, dataset):
    with pytest.raises(DataError, match=complaint):
        FEATURES[name](Dataset(rankings=dataset.rankings), EXPERTS)
