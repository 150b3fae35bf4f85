"""Plain dicts are evaluated directly, with the values, warnings and errors of the general way."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from juryrank.data.long_table import labels_from_dict
from juryrank.errors import JuryrankError
from juryrank.evaluation.evaluate import evaluate
from juryrank.metrics import CONVENTIONS
from juryrank.metrics.plain_dicts import judge_dicts

METRICS = ["nDCG@3", "nDCG(dcg=exp-log2)", "AP", "P@2", "RR", "ERR", "RBO", "KendallTau"]
QUERY, ITEM = st.sampled_from(["1", "2", "10", "q", "Q"]), st.sampled_from(["a", "b", "10", "9", "ä", "d7", "A"])
SCORE = st.sampled_from([0.5, 0.25, 0, -1.0, 1e-46, 1e300, 0.1, 0.1 + 1e-12, 3])
ODD = st.sampled_from([float("nan"), float("inf"), None, "2", "x", True, np.float32(0.5)])


def dicts(query: Any, item: Any, number: Any) -> st.SearchStrategy[dict[Any, dict[Any, Any]]]:
    return st.dictionaries(query, st.dictionaries(item, number, max_size=6), max_size=5)


def outcome(call: Callable[[], Any]) -> tuple[Any, ...]:
    """The result or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = call()
            result: Any = (found.queries, found.names, found.single, found.values.tobytes())
        except JuryrankError as error:
            result = (type(error), str(error))
    return result, [str(warning.message) for warning in caught]


def assert_same_both_ways(run: Any, labels: Any, convention: str) -> None:
    direct = outcome(lambda: evaluate(run, labels, METRICS, convention=convention))
    assert direct == outcome(lambda: evaluate(run, labels_from_dict(labels), METRICS, convention=convention))


@given(dicts(QUERY, ITEM, SCORE), dicts(QUERY, ITEM, st.integers(-1, 3)), st.sampled_from(sorted(CONVENTIONS)))
@example({"q": {"a": 1, "b": 1, "9": 1, "10": 1}}, {"q": {"9": 1, "b": 2}}, "letor")
@example({"q": {"a": 0.1, "b": 0.1 + 1e-12}}, {"q": {"a": 1}}, "trec")
def test_runs_and_labels_of_any_queries(run: Any, labels: Any, convention: str) -> None:
    assert_same_both_ways(run, labels, convention)
    assert_same_both_ways({"one": run, "other": {"q": {"a": 1.0, "b": 0.5}}}, labels, convention)


@given(
    dicts(st.one_of(QUERY, st.just(1)), st.one_of(ITEM, st.integers(9, 10)), st.one_of(SCORE, ODD)),
    dicts(st.one_of(QUERY, st.just(1)), st.one_of(ITEM, st.integers(9, 10)), st.one_of(st.integers(0, 2), ODD)),
)
def test_names_that_are_not_text_and_numbers_that_are_missing(run: Any, labels: Any) -> None:
    assert_same_both_ways(run, labels, "trec")


def test_ordinary_dicts_are_evaluated_directly() -> None:
    run, labels = {"2": {"a": 2.0, "b": 1}, "10": {"c": 0.5}}, {"10": {"c": 1, "d": 0}, "2": {"b": 2}}
    found = judge_dicts({"run": run}, labels, "trec")
    assert found is not None
    assert found["run"].queries == ("2", "10")
    assert found["run"].slot_ptr.tolist() == [0, 2, 3]
    assert found["run"].labels is not None
    np.testing.assert_array_equal(found["run"].labels.value, [np.nan, 2.0, 1.0])
    assert found["run"].labels.ideal.tolist() == [2.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("run", "labels"),
    [
        ({"q": {1: 0.5}}, {"q": {"1": 1}}),
        ({"q": {"a": 0.5}}, {"q": {"a": float("nan")}}),
        ({"q": ["a"]}, {"q": {"a": 1}}),
        ({"q": {"a": 0.5}, "r": {"a": 1.0}}, {"q": {"a": 1}, "s": {"a": 1}}),
        ({"q": {"a": 0.5}}, {"q": {"b": 1}}),
        ({}, {"q": {"b": 1}}),
    ],
)
def test_unusual_dicts_are_left_to_the_general_way(run: Any, labels: Any) -> None:
    assert judge_dicts({"run": run}, labels, "trec") is None
