"""Validation: the mean of a metric, where items with equal scores stand in the worst order."""

import numpy as np
import pytest

from juryrank.data.build import from_dicts
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.validation import PessimisticValidation


def validation(target, **relevant):
    """Queries of the items a to e with these relevant ones."""
    runs = {"x": {q: list("abcde") for q in relevant}}
    labels = {q: {item: int(item in found) for item in "abcde"} for q, found in relevant.items()}
    return PessimisticValidation(LabelledQueries.of(from_dicts(runs, labels=labels), "irrelevant"), target)


@pytest.mark.parametrize("relevant", "abcde")
def test_of_items_with_equal_scores_the_worst_comes_first(relevant):
    # Whichever slot it has, the relevant item is the last of those with its score.
    metric = validation("RR", q=relevant)
    assert metric.mean(np.zeros(5)) == pytest.approx(1 / 5)
    others = np.array([item != relevant for item in "abcde"], float)
    assert metric.mean(-others) == pytest.approx(1.0)
    assert metric.mean(others) == pytest.approx(1 / 5)
    one_above = np.zeros(5)
    one_above["abcde".index(relevant)] = one_above["abcde".index(relevant) - 1] = 1.0
    assert metric.mean(one_above) == pytest.approx(1 / 2)


def test_the_value_is_the_mean_over_queries():
    metric = validation("P@2", q1="ab", q2="cde")
    # q1 is right; in q2 the tied items put a and b, which are not relevant, first.
    scores = np.array([5.0, 4.0, 3.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert metric.mean(scores) == pytest.approx((1.0 + 0.0) / 2)
