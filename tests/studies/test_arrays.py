"""Lists that are built as arrays are those that juryrank reads."""

import numpy as np
import polars as pl
from numpy.testing import assert_array_equal

import juryrank
from conftest import random_dataset
from studies.arrays import entry_list, lists_by_score, merge_lists, ranks_by_expert, slot_query

FIELDS = (
    "list_ptr", "list_expert", "list_weight", "entry_ptr", "entry_slot", "entry_rank", "entry_score", "slot_item",
)  # fmt: skip


def frame_of(r: juryrank.Rankings, experts: list[str], scores: np.ndarray) -> pl.DataFrame:
    names = {"query": np.array(r.queries)[slot_query(r)].tolist(), "item": r.items[r.slot_item].tolist()}
    columns = zip(experts, scores.T, strict=True)
    return pl.concat(
        [pl.DataFrame({**names, "expert": [name] * r.n_slots, "score": column}) for name, column in columns]
    )


def assert_same(one: juryrank.Rankings, other: juryrank.Rankings) -> None:
    assert (one.queries, one.experts) == (other.queries, other.experts)
    for name in FIELDS:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def test_lists_by_score_are_those_that_read_makes_of_the_scores():
    r = random_dataset(1).rankings
    scores = np.random.default_rng(0).integers(0, 4, (r.n_slots, 3)).astype(float)
    assert_same(
        lists_by_score(r, ["a", "b", "c"], scores), juryrank.read(frame_of(r, ["a", "b", "c"], scores)).rankings
    )


def test_merged_lists_are_those_of_both():
    r = random_dataset(2).rankings
    scores = np.random.default_rng(0).normal(size=(r.n_slots, 3))
    parts = lists_by_score(r, ["a", "b"], scores[:, :2]), lists_by_score(r, ["c"], scores[:, 2:])
    assert_same(merge_lists(*parts), lists_by_score(r, ["a", "b", "c"], scores))


def test_lists_without_scores_are_merged_by_rank():
    r = random_dataset(3).rankings
    merged = merge_lists(r, lists_by_score(r, ["z"], np.arange(r.n_slots, dtype=float)[:, None]))
    assert merged.entry_score is None
    assert_array_equal(ranks_by_expert(merged)[:, :-1], ranks_by_expert(r))
    assert (np.bincount(entry_list(merged), minlength=merged.n_lists) == merged.list_size).all()
