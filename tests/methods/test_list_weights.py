"""A list of weight w counts as w copies of it, over the whole catalogue."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from slow import rho

from conftest import random_dataset, suited, with_features
from juryrank.data.build import from_orders
from juryrank.data.dataset import Dataset
from juryrank.data.long_table import from_long
from juryrank.errors import DataError
from juryrank.methods import METHODS, method
from juryrank.methods.base import COPIES, Aggregator
from juryrank.params import parameters

AS_COPIES = [name for name, cls in METHODS.items() if cls.weight_of_list == COPIES]
# These learn about experts, so it matters who brings the copies.
KNOWS_EXPERTS = {"crowd-bt", "monotone-retargeting", *(name for name, cls in METHODS.items() if cls.supervised)}
# What these search systems do with weights of experts is not to count lists.
OWN_WEIGHTS = {"qdrant", "llamaindex"}
# Iterations stop within their own tolerance.
LOOSE = {"svd-lambdarank": 1e-7, "supervised-mc2": 1e-6}


def variants(name: str) -> list[Aggregator]:
    """The method, with each choice of each parameter, and with few preferences for weights of one's own."""
    made = [method(name)]
    if name == "auto":
        return made  # slow, and all its members are here
    for f in parameters(METHODS[name]):
        made += [method(name, **{f.name: choice}) for choice in f.metadata["choices"] or () if choice != f.default]
    if {"experts", "threshold"} <= made[0].params().keys():
        made.append(method(name, experts="hybrid", threshold=60))
    return made


def frames(seed: int, scores: bool) -> tuple[pl.DataFrame, dict[str, pl.DataFrame]]:
    """One row per entry of random lists with weights 1, 2, 3; and the candidates and labels beside them."""
    data = random_dataset(seed)
    r, labels = data.rankings, data.labels
    lists = np.repeat(np.arange(r.n_lists), r.list_size)
    weight = np.random.default_rng(seed).integers(1, 4, r.n_lists).astype(float)
    names = np.array(r.queries, object)
    entries = pl.DataFrame(
        {
            "query": names[r.list_query[lists]].astype(str),
            "item": r.items[r.slot_item[r.entry_slot]].astype(str),
            "expert": np.array(r.experts, object)[r.list_expert[lists]].astype(str),
            "rank": r.entry_rank,
            "weight": weight[lists],
        }
    )
    if scores:
        entries = entries.with_columns(score=40.0 - pl.col("rank") ** 1.3)
    slots = {"query": np.repeat(names, r.query_size).astype(str), "item": r.items[r.slot_item].astype(str)}
    judged = {
        "query": np.repeat(np.array(labels.queries, object), np.diff(labels.label_ptr)).astype(str),
        "item": labels.items[labels.label_item].astype(str),
        "label": labels.label_value,
    }
    return entries, {"candidates": pl.DataFrame(slots), "labels": pl.DataFrame(judged)}


def copies(entries: pl.DataFrame) -> pl.DataFrame:
    """Every list as often as its weight, each time with weight 1."""
    times = [entries.filter(pl.col("weight") > n).with_columns(list=pl.lit(str(n))) for n in range(3)]
    return pl.concat(times).with_columns(weight=pl.lit(1.0))


def same(model: Aggregator, weighted: Dataset, copied: Dataset) -> None:
    """Fitted on either, and fitted on the first and asked for the second, the method gives the same scores."""
    weighted, copied = suited(model, weighted), suited(model, copied)
    expected = model.fit(copied).predict(copied).scores
    found = model.fit(weighted).predict(weighted).scores
    largest = np.abs(expected).max()
    close = {"rtol": 0, "atol": LOOSE.get(model.name, 1e-10) * largest, "err_msg": str(model)}
    assert_allclose(found, expected, **close)
    assert_allclose(model.predict(copied).scores, expected, **close)


@pytest.mark.parametrize("name", AS_COPIES)
def test_a_list_of_weight_w_counts_as_w_copies_of_it(name):
    entries, beside = frames(3, scores=False)
    weighted = with_features(from_long(entries, **beside))
    copied = with_features(from_long(copies(entries), **beside))
    assert copied.rankings.n_lists > weighted.rankings.n_lists
    for model in variants(name):
        same(model, weighted, copied)


@pytest.mark.parametrize("name", AS_COPIES)
def test_a_list_of_weight_w_counts_as_w_copies_of_it_with_scores(name):
    entries, beside = frames(4, scores=True)
    same(method(name), *(with_features(from_long(f, **beside)) for f in (entries, copies(entries))))


@pytest.mark.parametrize("name", [name for name in AS_COPIES if name not in KNOWS_EXPERTS])
def test_copies_may_come_from_other_experts_where_experts_are_alike(name):
    entries, beside = frames(5, scores=False)
    renamed = copies(entries).with_columns(expert=pl.col("expert") + pl.lit(".") + pl.col("list")).drop("list")
    learns = {"theta": "learned"}  # adherences of experts
    for model in variants(name):
        if not learns.items() <= model.params().items():
            same(model, *(with_features(from_long(f, **beside)) for f in (entries, renamed)))


@pytest.mark.parametrize("name", [name for name in AS_COPIES if "weights" in method(name).params()])
def test_an_expert_of_weight_w_counts_as_w_copies_of_its_lists(name):
    entries, beside = frames(6, scores=False)
    once = with_features(from_long(entries.with_columns(weight=pl.lit(1.0)), **beside))
    by_expert = {"e0": 2.0, "e3": 3.0}
    weight = pl.col("expert").replace_strict(by_expert, default=1.0)
    copied = with_features(from_long(copies(entries.with_columns(weight=weight)), **beside))
    for model in variants(name):
        if model.params().get("dialect") in OWN_WEIGHTS:
            continue
        weighted = replace(model, weights=by_expert).fit(once).predict(suited(model, once)).scores
        expected = model.fit(copied).predict(suited(model, copied)).scores
        assert_allclose(weighted, expected, rtol=0, atol=1e-10 * np.abs(expected).max(), err_msg=str(model))


def test_a_method_that_declares_another_meaning_of_weights_has_one():
    entries, beside = frames(3, scores=False)
    declared = set(METHODS) - set(AS_COPIES)
    assert declared == {"borda-fuse"}
    with pytest.raises(DataError, match="one list per query"):
        method("borda-fuse").fit(from_long(copies(entries), **beside))
    model = method("borda-fuse").fit(from_long(entries, **beside))
    assert_allclose(*(model.predict(from_long(f, **beside)).scores for f in (entries, copies(entries))), rtol=1e-12)


@pytest.mark.parametrize("missing", ["last", "ignore"])
def test_robust_rank_aggregation_takes_the_order_statistics_of_all_copies(missing):
    lists, weights = [["a", "b", "c", "d"], ["b", "a"], ["d", "c", "b"]], [3, 1, 2]
    found = method("rra", missing=missing).fit_predict(from_orders(lists, weights=weights)).to_dict()["all"]
    for item, score in found.items():
        shares = [
            (listed.index(item) + 1) / 4 if item in listed else 1.0
            for listed, weight in zip(lists, weights, strict=True)
            for _ in range(weight)
            if item in listed or missing == "last"
        ]
        assert score == pytest.approx(-np.log(rho(shares, len(shares)) * len(shares)))


def test_weights_that_are_not_whole_lie_between_those_that_are():
    for name in ("rra", "combmnz", "combgmnz", "combanz", "isr", "log-isr"):
        lists = [["a", "b", "c"], ["b", "c", "a"], ["c", "b", "a"]]
        low, middle, high = (
            method(name).fit_predict(from_orders(lists, weights=[w, 1, 1])).to_dict()["all"]["a"] for w in (1, 1.5, 2)
        )
        assert low < middle < high, name


def test_small_weights_never_put_a_ranked_item_below_one_that_nobody_ranks():
    entries = pl.DataFrame({"query": "q", "expert": "x", "item": ["a", "b"], "rank": [1, 2], "weight": 0.1})
    data = from_long(entries, candidates=pl.DataFrame({"query": "q", "item": ["a", "b", "c"]}))
    for name in ("rra", "isr", "log-isr", "combmnz", "combgmnz", "combanz", "combmed"):
        found = method(name).fit_predict(data).to_dict()["q"]
        assert found["a"] > found["c"], name
        assert found["b"] >= found["c"], name
