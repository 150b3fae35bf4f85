"""Slicing by query keeps every part together; labels join by name."""

import pickle
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from conftest import random_dataset
from juryrank.data import Consensus, Dataset, Pairs, as_dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, UnknownNameError


def full_dataset():
    data = random_dataset(2)
    r = data.rankings
    rng = np.random.default_rng(0)
    pairs = Pairs(
        pair_ptr=np.arange(len(r) + 1),
        better=r.slot_ptr[:-1].astype(np.int32),
        worse=(r.slot_ptr[:-1] + 1).astype(np.int32),
        weight=np.arange(1.0, len(r) + 1),
    )
    return replace(
        data, pairs=pairs, features=rng.normal(size=(r.n_slots, 2)), reference=rng.permutation(r.n_slots) + 1.0
    )


def test_a_slice_is_the_same_as_picking_queries_one_by_one():
    data = full_dataset()
    chosen = np.array([4, 1, 1])
    part = data[chosen]
    assert part.queries == tuple(data.queries[q] for q in chosen)
    for place, q in enumerate(chosen):
        alone, inside = data[int(q)], part[place]
        for field in ("slot_item", "list_expert", "entry_slot", "entry_rank", "entry_ptr"):
            assert_array_equal(getattr(alone.rankings, field), getattr(inside.rankings, field))
        assert_array_equal(alone.slot_labels, inside.slot_labels)
        assert_array_equal(alone.features, inside.features)
        assert_array_equal(alone.reference, inside.reference)
        assert alone.pairs.better.tolist() == inside.pairs.better.tolist() == [0]
        assert inside.pairs.weight.tolist() == [q + 1.0]


def test_queries_are_chosen_by_number_name_slice_and_mask():
    data = random_dataset(2)
    assert data[-1].queries == data["q5"].queries == data[5:].queries == ("q5",)
    assert data[np.array([True] + [False] * 5)].queries == ("q0",)
    assert [part.queries for part in data][2] == ("q2",)
    assert len(data) == data.shape[0] == 6


@pytest.mark.parametrize(("index", "error"), [(6, IndexError), ("x", UnknownNameError), (1.5, IndexError)])
def test_an_index_that_means_nothing_is_refused(index, error):
    with pytest.raises(error):
        random_dataset(2)[index]


def test_a_mask_must_fit():
    with pytest.raises(IndexError, match="a mask of 2 for 6 queries"):
        random_dataset(2)[np.array([True, False])]


def test_labels_join_by_the_names_of_queries_and_items():
    runs = from_dicts({"x": {"q2": ["a", "b"], "q1": ["c"]}})
    other = from_dicts({"y": {"q1": ["z", "c"]}}, labels={"q1": {"c": 2, "new": 1}, "q9": {"a": 1}})
    joined = runs.with_labels(other)
    assert_array_equal(joined["q1"].slot_labels, [2.0])
    assert_array_equal(joined["q2"].slot_labels, [np.nan, np.nan])
    assert joined["q1"].labels.label_value.tolist() == [2.0, 1.0]


def test_parts_that_do_not_fit_are_refused():
    data = random_dataset(2)
    with pytest.raises(DataError, match="features has 3 rows for 54 slots"):
        Dataset(rankings=data.rankings, features=np.zeros((3, 1)))
    with pytest.raises(DataError, match="3 scores for 54 slots"):
        Consensus(data.rankings, np.zeros(3))
    with pytest.raises(DataError, match="expected a Dataset or Rankings, got list"):
        as_dataset([1, 2])
    with pytest.raises(DataError, match="no labels"):
        assert Dataset(rankings=data.rankings).slot_labels is None


def test_everything_is_frozen():
    data = full_dataset()
    for array in (data.rankings.entry_rank, data.features, data.labels.label_value, data.pairs.better):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_consensus_comes_out_as_dict_frame_and_trec_lines():
    data = from_dicts({"x": {"q": ["a", "b"]}})
    consensus = Consensus(data.rankings, np.array([1.0, 3.0]))
    assert consensus.to_dict() == {"q": {"b": 3.0, "a": 1.0}}
    assert list(consensus.to_dict()["q"]) == ["b", "a"]
    assert consensus.top(1) == {"q": ["b"]}
    assert consensus.to_frame().rows() == [("q", "b", 1, 3.0), ("q", "a", 2, 1.0)]
    assert consensus.to_trec("me") == "q Q0 b 1 3.0 me\nq Q0 a 2 1.0 me\n"


def test_equal_scores_keep_the_order_of_the_slots():
    data = from_dicts({"x": {"q": ["c", "a", "b"]}})
    assert list(Consensus(data.rankings, np.zeros(3)).to_dict()["q"]) == ["a", "b", "c"]


def test_labels_join_the_names_of_each_data_set_anew() -> None:
    labels = from_dicts({}, labels={"q": {"a": 1, "b": 2}, "p": {"c": 3}}).labels
    assert labels is not None
    one = from_dicts({"x": {"q": ["b", "a"]}}).rankings
    other = from_dicts({"x": {"p": ["c", "d"], "q": ["a"]}}).rankings
    for _ in range(2):
        assert labels.by_slot(one).tolist() == [1.0, 2.0]
        np.testing.assert_array_equal(labels.by_slot(other), [3.0, np.nan, 1.0])


def test_a_pickled_copy_is_equal_and_cannot_be_written_to_either():
    data = full_dataset()
    data.rankings.slot_lists  # noqa: B018 (what was computed from the fields is not copied)
    copied = pickle.loads(pickle.dumps(data))
    assert copied.queries == data.queries
    for name in ("slot_ptr", "entry_slot", "entry_rank", "list_weight"):
        assert_array_equal(getattr(copied.rankings, name), getattr(data.rankings, name))
        assert not getattr(copied.rankings, name).flags.writeable
    assert_array_equal(copied.labels.label_value, data.labels.label_value)
    assert_array_equal(copied.features, data.features)
    assert_array_equal(copied.pairs.weight, data.pairs.weight)
    assert "slot_lists" not in vars(copied.rankings)


def test_names_are_the_same_from_text_and_from_a_series():
    r = random_dataset(4).rankings
    lazy = replace(r, items=pl.Series(r.items.tolist(), dtype=pl.String))
    item = np.array([3, 0, 3, 1], np.int32)
    assert lazy.names_of(item).to_list() == r.names_of(item).to_list() == [r.items[i] for i in item]
    assert lazy.items.tolist() == r.items.tolist()
    assert not lazy.items.flags.writeable


@pytest.mark.parametrize("truth", ["labels", "reference", "pairs"])
def test_data_has_truth_with_labels_a_reference_or_pairs(truth: str) -> None:
    data = from_dicts({"x": {"q": ["a", "b"]}})
    pairs = Pairs(
        pair_ptr=np.array([0, 1]), better=np.zeros(1, np.int32), worse=np.ones(1, np.int32), weight=np.ones(1)
    )
    known = {"labels": from_dicts({}, labels={"q": {"a": 1}}).labels, "reference": np.array([1.0, 2.0]), "pairs": pairs}
    assert not data.has_truth
    assert replace(data, **{truth: known[truth]}).has_truth
