"""Labels, reference rankings and pairs as gains; the queries that can be learned from."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.data.dataset import Dataset, Pairs
from juryrank.errors import DataError
from juryrank.learning.gains import slot_gains, truth_of
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods import METHODS, method
from juryrank.params import parameters

RANKINGS = from_orders([["a", "b", "c", "d"]]).rankings


def test_labels_are_gains_and_below_zero_nothing():
    data = from_dicts({"e": {"q": ["a", "b", "c"]}}, labels={"q": {"a": 2, "b": -1}})
    assert_array_equal(slot_gains(data), [2.0, 0.0, np.nan])


def test_a_reference_ranking_gains_less_from_rank_to_rank_in_the_same_order():
    gains = slot_gains(Dataset(rankings=RANKINGS, reference=np.array([2.0, 1.0, np.nan, 4.0])))
    assert_allclose(gains, [0.75, 1.0, np.nan, 0.25])


def test_pairs_gain_the_share_of_comparisons_won():
    pairs = Pairs(
        pair_ptr=np.array([0, 3]),
        better=np.array([0, 0, 1], np.int32),
        worse=np.array([1, 3, 0], np.int32),
        weight=np.array([2.0, 1.0, 1.0]),
    )
    assert_allclose(slot_gains(Dataset(rankings=RANKINGS, pairs=pairs)), [3 / 4, 1 / 3, np.nan, 0.0])


def test_nothing_to_learn_from_is_an_error():
    with pytest.raises(DataError, match="no labels, no reference ranking and no pairs"):
        slot_gains(Dataset(rankings=RANKINGS))


def test_gains_become_labels_where_the_data_has_none():
    data = Dataset(rankings=RANKINGS, reference=np.array([2.0, 1.0, np.nan, 4.0]))
    assert_allclose(truth_of(data, slot_gains(data)).slot_labels, [0.75, 1.0, np.nan, 0.25])
    graded = random_dataset(0)
    assert truth_of(graded, slot_gains(graded)) is graded


def test_queries_whose_gains_do_not_differ_are_left_out():
    labels = {"same": {"a": 1, "b": 1}, "differ": {"a": 1, "b": 0}, "unjudged-below": {"a": 1}}
    lists = {"e": {query: ["a", "b"] for query in (*labels, "silent")}}
    data = from_dicts(lists, labels=labels)
    assert LabelledQueries.of(data, "irrelevant").data.queries == ("differ", "unjudged-below")
    assert LabelledQueries.of(data, "ignore").data.queries == ("differ",)


def test_unjudged_items_weigh_less_the_lower_rrf_places_them():
    items = [f"i{n:04}" for n in range(1200)]
    queries = LabelledQueries.of(from_dicts({"e": {"q": items}}, labels={"q": {"i0000": 1, "i1100": 1}}), "irrelevant")
    place = np.arange(1, 1201)
    expected = np.where(place <= 1000, 50 / (50 + place), 0.0)
    expected[[0, 1100]] = 1.0
    assert_allclose(queries.weights, expected)


def test_lists_of_weight_0_are_dropped_with_the_queries_that_have_no_others():
    lists = {expert: {"q1": ["a", "b"], "q2": ["a", "b"]} for expert in "xy"}
    data = from_dicts(lists, labels={"q1": {"a": 1}, "q2": {"a": 1}})
    r = data.rankings
    only = (np.array(r.queries)[r.list_query] == "q2") & (np.array(r.experts)[r.list_expert] == "y")
    weight = np.where(only, 2.0, 0.0)
    queries = LabelledQueries.of(replace(data, rankings=replace(r, list_weight=weight)), "irrelevant")
    assert queries.data.queries == ("q1", "q2")
    dropped = queries.drop_zero_weight_lists()
    assert dropped.data.queries == ("q2",)
    assert dropped.experts == ["y"]
    assert_array_equal(dropped.gains, [1.0, 0.0])


def test_gains_are_known_where_an_item_is_used():
    data = from_dicts({"e": {"q": ["a", "b", "c"]}}, labels={"q": {"a": 1, "b": 0}})
    assert_array_equal(LabelledQueries.of(data, "ignore").known_gains, [1.0, 0.0, np.nan])
    assert_array_equal(LabelledQueries.of(data, "irrelevant").known_gains, [1.0, 0.0, 0.0])


def test_no_query_to_learn_from_is_an_error_that_counts_what_is_judged():
    data = from_dicts({"e": {"q": ["a", "b", "c"]}}, labels={"q": {"a": 1, "b": 1}})
    with pytest.raises(DataError, match=r"jury: no query .* of 3 ranked items in 1 query 2 are judged"):
        LabelledQueries.of(data, "ignore").require("jury", data)


def test_unjudged_items_of_shallowly_judged_queries_weigh_less_if_unknown():
    names = [f"d{i:03}" for i in range(60)]
    labels = {q: {name: int(i == 0) for i, name in enumerate(names[:n])} for q, n in (("a", 2), ("b", 12), ("c", 30))}
    data = from_dicts({"x": dict.fromkeys("abc", names), "y": dict.fromkeys("abc", names)}, labels=labels)
    usual, unknown = (LabelledQueries.of(data, unjudged).weights for unjudged in ("irrelevant", "unknown"))
    for q, (n, factor) in enumerate(((2, 0.3), (12, 0.6), (30, 1.0))):
        here = slice(60 * q, 60 * (q + 1))
        assert (unknown[here][:n] == 1.0).all()
        np.testing.assert_allclose(unknown[here][n:], factor * usual[here][n:])


def test_all_methods_document_unjudged_alike():
    docs = {f.metadata["doc"] for cls in METHODS.values() for f in parameters(cls) if f.name == "unjudged"}
    assert len(docs) == 1


@pytest.mark.parametrize("name", ["jury", "kernel", "crf", "supervised-borda"])
def test_ignored_items_change_nothing_and_irrelevant_ones_do(name):
    lists = {"x": {"q": ["a", "b", "c", "d"], "r": ["a", "b"]}, "y": {"q": ["d", "a", "b"], "r": ["a", "b"]}}
    data = from_dicts(lists, labels={"q": {"a": 2, "b": 0}, "r": {"a": 1, "b": 0}})
    judged = from_dicts(lists, labels={"q": {"a": 2, "b": 0, "c": 0, "d": 0}, "r": {"a": 1, "b": 0}})
    fit = {u: method(name, unjudged=u).fit(data).predict(data).scores for u in ("ignore", "irrelevant")}
    assert (fit["ignore"] != fit["irrelevant"]).any()
    both = [method(name, unjudged=u).fit(judged).predict(data).scores for u in ("ignore", "irrelevant")]
    assert_array_equal(*both)
