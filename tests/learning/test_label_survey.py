"""What kind of labels there are."""

from dataclasses import replace

import numpy as np
import pytest

from juryrank.data.build import from_dicts
from juryrank.learning.label_survey import COMPLETE, FEW, NONE, POSITIVES_ONLY, LabelSurvey

RUNS = {"a": {"p": list("abcd"), "q": list("abcd")}, "b": {"p": list("dcba"), "q": list("dc")}}
ITEMS = [f"i{n:03}" for n in range(200)]


def survey(labels, **more):
    return LabelSurvey.of(from_dicts(RUNS, labels=labels, **more))


def test_labels_of_ranked_items_are_counted():
    found = survey({"p": {"a": 1, "b": 0, "unranked": 0}, "q": {"c": 2, "d": -1, "a": 0}})
    assert (found.n_labels, found.n_zeros, found.n_queries) == (5, 3, 2)
    assert found.mean_depth == 2.5
    assert survey({"p": {"a": 1}, "nowhere": {"a": 0}}) == LabelSurvey(1, 0, 1, 4)


def test_labels_of_weight_0_are_none():
    data = from_dicts(RUNS, labels={"q": {"a": 1, "b": -1, "c": 0}})
    weighted = replace(data, labels=replace(data.labels, label_weight=np.array([1.0, 0.5, 0.0])))
    assert LabelSurvey.of(weighted) == LabelSurvey(2, 1, 1, 4)


def test_the_counts_of_parts_add_up_to_those_of_the_whole():
    labels = {"p": {"a": 1, "b": 0}, "q": {"c": 2}}
    parts = [survey({query: labels[query]}) for query in labels]
    assert parts[0].add(parts[1]) == survey(labels)


def test_gold_items_are_positives_only():
    assert survey({"p": {"a": 1}, "q": {"c": 1}}).positives_only == 1.0


@pytest.mark.parametrize(("n_zeros", "wanted"), [(0, 1.0), (1, 0.8), (4, 0.2), (5, 0.0), (60, 0.0)])
def test_five_percent_of_zeros_are_enough(n_zeros, wanted):
    assert LabelSurvey(100, n_zeros, 10, 1000).positives_only == pytest.approx(wanted)


def test_without_labels_nothing_is_positives_only():
    data = from_dicts(RUNS)
    assert LabelSurvey.of(data) == LabelSurvey()
    assert LabelSurvey().positives_only == LabelSurvey().mean_depth == 0.0
    assert LabelSurvey.of(replace(data, reference=np.arange(1.0, 9.0))).kind == NONE


@pytest.mark.parametrize(
    ("labels", "n_items", "kind"),
    [
        ([1], 200, POSITIVES_ONLY),
        ([1] * 39 + [0], 200, POSITIVES_ONLY),  # 2.5 % zeros
        ([1] * 19 + [0], 200, FEW),  # 5 %
        ([1, 0, 0], 200, FEW),
        ([1] * 50 + [0] * 49, 200, FEW),
        ([1] * 50 + [0] * 50, 200, COMPLETE),  # 100 labels
        ([1, 0, 0], 3, COMPLETE),  # of all that there is
        ([5, 4, 1], 3, COMPLETE),  # grades from 1 on
    ],
)
def test_the_kind_of_labels_follows_from_zeros_and_depth(labels, n_items, kind):
    data = from_dicts({"e": {"q": ITEMS[:n_items]}}, labels={"q": dict(zip(ITEMS, labels, strict=False))})
    assert LabelSurvey.of(data).kind == kind
