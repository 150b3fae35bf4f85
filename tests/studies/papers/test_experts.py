"""The studies of experts measure what they say."""

import numpy as np
import pytest

import juryrank
from conftest import random_dataset
from juryrank.methods.learned.crf import CRF
from studies.papers.experts import METRICS, combined_or_individual, least_used, without, without_unused


def test_without_leaves_out_the_lists_of_experts_and_keeps_items_and_labels():
    data = random_dataset(1)
    fewer = without(data, ["e1", "no such expert"])
    heard = {fewer.experts[k] for k in fewer.rankings.list_expert}
    assert heard == {data.experts[k] for k in data.rankings.list_expert} - {"e1"}
    assert fewer.rankings.n_slots == data.rankings.n_slots
    np.testing.assert_array_equal(fewer.slot_labels, data.slot_labels)


def test_the_least_used_experts_are_those_whose_lists_move_no_score():
    data = random_dataset(2)
    names = list(data.experts)
    weights = np.ones((len(names) + 1, 3))
    weights[[0, 2]] = 1e-3
    learned = {"experts_": names, "weights_": weights.ravel(), "passes_": [1]}
    model = CRF.from_learned(CRF().params(), learned)
    assert least_used(model, data, 2) == [names[0], names[2]]


def test_what_an_expert_adds_is_the_change_of_scores_without_it():
    data = random_dataset(3)
    model = CRF(epochs=3).fit(data)
    scores = model.predict(data).scores
    query = np.repeat(np.arange(len(data)), data.rankings.query_size)
    spread = {}
    for name in model.experts_:
        added = scores - model.predict(without(data, [name])).scores
        spread[name] = sum(((added[query == q] - added[query == q].mean()) ** 2).sum() for q in range(len(data)))
    assert set(least_used(model, data, 2)) == set(sorted(spread, key=spread.get)[:2])


def test_a_row_holds_means_and_changes_over_folds():
    data = random_dataset(4, n_queries=12)
    rows = combined_or_individual(data, metrics=("nDCG@5", "AP"))
    assert [row["features"] for row in rows] == ["combined", "individual", "rrf"]
    models = {"rrf": "rrf", "combined": juryrank.method("svd-lambdarank", experts="shared")}
    found = juryrank.compare(models, data, ["nDCG@5", "AP"], convention="letor", folds=5, baseline="combined")
    for row in (rows[0], rows[2]):
        for metric in ("nDCG@5", "AP"):
            assert row[metric] == pytest.approx(100 * found.mean(row["features"], metric))
    gain = 100 * (found.values[0, 1] - found.values[1, 1])
    assert rows[2]["AP change"] == pytest.approx(gain.mean())
    assert rows[2]["AP error"] == pytest.approx(gain.std(ddof=1) / np.sqrt(len(gain)))
    assert "AP change" not in rows[0]


def test_the_field_is_trained_again_without_experts():
    data = random_dataset(5, n_queries=12)
    rows = without_unused(data, named=("e1", "no such expert"), epochs=2)
    assert [row["model"] for row in rows] == ["crf", "crf*, named", "crf*, least used"]
    assert rows[1]["without"] == "e1"
    assert all(len(fold.split()) == 1 for fold in rows[2]["without"].split(" | "))
    fewer = juryrank.compare(
        [juryrank.method("crf", epochs=2)], without(data, ["e1"]), list(METRICS), convention="letor", folds=5
    )
    assert rows[1]["AP"] == pytest.approx(100 * fewer.mean("crf", "AP"))
