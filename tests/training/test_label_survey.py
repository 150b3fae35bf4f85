"""What kind of labels there are."""

import pytest

from juryrank.data.build import from_dicts
from juryrank.training.label_survey import LabelSurvey

RUNS = {"a": {"p": list("abcd"), "q": list("abcd")}, "b": {"p": list("dcba"), "q": list("dc")}}


def survey(labels, **more):
    return LabelSurvey.of(from_dicts(RUNS, labels=labels, **more))


def test_labels_of_ranked_items_are_counted():
    found = survey({"p": {"a": 1, "b": 0, "unranked": 0}, "q": {"c": 2, "d": -1, "a": 0}})
    assert (found.n_labels, found.n_zeros, found.n_queries) == (5, 3, 2)
    assert found.mean_depth == 2.5


def test_the_counts_of_parts_add_up_to_those_of_the_whole():
    labels = {"p": {"a": 1, "b": 0}, "q": {"c": 2}}
    parts = [survey({query: labels[query]}) for query in labels]
    assert parts[0].add(parts[1]) == survey(labels)


def test_gold_items_are_positives_only():
    assert survey({"p": {"a": 1}, "q": {"c": 1}}).positives_only == 1.0


@pytest.mark.parametrize(("n_zeros", "wanted"), [(0, 1.0), (1, 0.8), (4, 0.2), (5, 0.0), (60, 0.0)])
def test_five_percent_of_zeros_are_enough(n_zeros, wanted):
    assert LabelSurvey(100, n_zeros, 10).positives_only == pytest.approx(wanted)


def test_without_labels_nothing_is_positives_only():
    data = from_dicts(RUNS)
    assert LabelSurvey.of(data) == LabelSurvey()
    assert LabelSurvey().positives_only == LabelSurvey().mean_depth == 0.0
