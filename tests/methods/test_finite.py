"""Predictions are finite, or an error says why: huge and tiny labels, scores, weights and parameters."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import random_dataset, suited, with_features
from juryrank.data.build import from_dicts
from juryrank.data.dataset import Dataset
from juryrank.errors import DataError, JuryrankError, ParameterError
from juryrank.evaluation.evaluate import evaluate
from juryrank.io import read
from juryrank.methods import METHODS, method
from juryrank.methods.learned.supervised_borda import project_to_simplex
from juryrank.params import parameters

every_method = pytest.mark.parametrize("name", METHODS)
SCORES = {"x": [8.0, 4.0, 2.0, 1.0], "y": [3.0, -3.0, 1.0, 0.5], "z": [-1.0, -2.0, -4.0, -8.0]}
ON_A_SCALE = {"star"}  # refuses scores that are not from 0 to 5
HUGE, TINY = 2.0**1020, 2.0**-1060  # powers of 2: digits stay as they are


def scored(factor: float = 1.0, labels: tuple[float, ...] = (2.0, 0.0, 1.0, 0.0)) -> Dataset:
    """Three experts, six queries of four items, all scores times a factor."""
    runs = {
        expert: {f"q{q}": dict(zip("abcd", np.roll(row, q) * factor, strict=True)) for q in range(6)}
        for expert, row in SCORES.items()
    }
    judged = {f"q{q}": dict(zip("abcd", np.roll(labels, q).tolist(), strict=True)) for q in range(6)}
    return with_features(from_dicts(runs, labels=judged))


def reweighted(data: Dataset, weights: tuple[float, ...]) -> Dataset:
    r = data.rankings
    return replace(data, rankings=replace(r, list_weight=np.resize(weights, r.n_lists)))


def finite_or_refused(name: str, data: Dataset, **params) -> np.ndarray | None:
    """The scores, all finite; None where a JuryrankError says why there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about steps that do not settle, and numbers that overflow on the way
        try:
            scores = method(name, **params).fit(data).predict(data).scores
        except JuryrankError:
            return None
    assert np.isfinite(scores).all(), (name, params)
    return scores


@every_method
def test_labels_of_any_size_give_finite_scores_or_an_error(name):
    answered = {
        highest: finite_or_refused(name, suited(method(name), scored(labels=(highest, 0.0, 1.0, 0.0)))) is not None
        for highest in (5.0, 31.0, 100.0, 1000.0, 2000.0, 1e9, 1e50)
    }
    assert all(answers for highest, answers in answered.items() if highest <= 1000.0)  # 2^1000 is a number


@every_method
def test_scores_of_any_size_give_finite_scores_or_an_error(name):
    for factor in (HUGE, TINY, 1e200, 1e-200):
        assert (finite_or_refused(name, scored(factor)) is None) == (name in ON_A_SCALE)
    finite_or_refused(name, from_dicts({"x": {"q": {"a": 1e308, "b": -1e308, "c": 0.0}}, "y": {"q": {"c": 1.0}}}))


@every_method
def test_weights_of_any_size_give_finite_scores_or_an_error(name):
    data = suited(method(name), random_dataset(1))
    for weights in ((1e308,), (1.7e308, 1.0)):
        assert finite_or_refused(name, reweighted(data, weights)) is None
    for weights in ((1e50, 1e-50), (5e-324, 1.0)):
        finite_or_refused(name, reweighted(data, weights))
    assert finite_or_refused(name, reweighted(data, (1e-300,))) is not None
    if "weights" in method(name).params():
        for weight in (1e308, 1e50, 1e-300):
            finite_or_refused(name, data, weights={"e0": weight})


@every_method
def test_parameters_that_are_not_finite_are_refused(name):
    data = random_dataset(2)
    numbers = [f for f in parameters(METHODS[name]) if isinstance(f.default, int | float) or f.metadata["above"] == 0]
    for f in numbers:
        for value in (float("inf"), float("-inf"), float("nan"), 10**400):
            with pytest.raises(ParameterError, match=f"{f.name} of .* must be"):
                method(name, **{f.name: value}).fit(data)


@pytest.mark.parametrize("name", [name for name in METHODS if name.startswith("comb")])
@pytest.mark.parametrize("norm", ["min-max", "max", "sum", "z-score", "dbsf", "rank", "borda"])
def test_normalised_scores_do_not_depend_on_their_size(name, norm):
    usual = method(name, norm=norm).fit_predict(scored()).scores
    for factor in (HUGE, TINY):
        assert_allclose(method(name, norm=norm).fit_predict(scored(factor)).scores, usual, rtol=1e-15)


def test_scores_at_both_ends_of_the_numbers_keep_their_order():
    data = from_dicts({"x": {"q": {"a": 1.7e308, "b": -1.7e308, "c": 0.0}}})
    assert method("combsum").fit_predict(data).to_dict() == {"q": {"a": 1.0, "c": 0.5, "b": 0.0}}
    assert method("combsum", norm="sum").fit_predict(data).to_dict()["q"]["a"] == pytest.approx(2 / 3)
    found = method("combsum", norm="z-score").fit_predict(data).to_dict()["q"]
    assert found == pytest.approx({"a": np.sqrt(1.5), "c": 0.0, "b": -np.sqrt(1.5)})


def test_columns_of_scores_do_not_depend_on_their_size():
    usual = method("monotone-retargeting").fit_predict(scored()).scores
    assert_allclose(method("monotone-retargeting").fit_predict(scored(HUGE)).scores, usual)


def test_sums_that_overflow_are_an_error_that_names_the_item():
    data = from_dicts({e: {"q1": {"a": 1.0}, "q2": {"b": 1.2e308, "c": 1.0}} for e in "xy"})
    message = (
        "combsum: scores must be finite numbers, but item 'b' of query 'q2' gets inf .1 of 3 items.; scores, ranks"
    )
    with np.errstate(over="ignore"), pytest.raises(DataError, match=message):
        method("combsum", norm="none").fit_predict(data)


@pytest.mark.parametrize("flow", ["hodge-rank", "svp"])
def test_flows_of_scores_that_cannot_be_squared_are_refused(flow):
    for factor in (1e160, 1e-160):
        with pytest.raises(DataError, match=r"flow='score' .* must be from 1e-100 to 1e.100"):
            method(flow, flow="score").fit_predict(scored(factor))


@pytest.mark.parametrize("name", ["lambdarank", "svd-lambdarank", "crf", "blend"])
def test_labels_too_high_for_the_gain_of_the_target_are_refused(name):
    message = "nDCG.dcg='exp-log2'.@10: the gain 2.label - 1 needs labels of at most 1000, got 2000; use grades"
    with pytest.raises(DataError, match=message):
        method(name).fit(scored(labels=(2000.0, 0.0, 1.0, 0.0)))


@pytest.mark.parametrize("name", ["lambdarank", "svd-lambdarank", "crf"])
def test_high_labels_are_fine_where_they_are_the_gain(name):
    small, high = (
        method(name, target="nDCG@10", epochs=5).fit_predict(scored(labels=labels)).scores
        for labels in ((2.0, 0.0, 1.0, 0.0), (2000.0, 0.0, 1000.0, 0.0))
    )
    assert_allclose(high, small)


def test_a_metric_refuses_labels_too_high_for_its_gain():
    data = scored(labels=(2000.0, 0.0, 1.0, 0.0))
    found = method("rrf").fit_predict(data)
    assert evaluate(found, data, ["nDCG@3"]).means()["nDCG@3"] > 0
    with pytest.raises(DataError, match="labels of at most 1000, got 2000"):
        evaluate(found, data, ["nDCG(dcg='exp-log2')@3"])


@pytest.mark.parametrize("label", [float("inf"), float("-inf"), float("nan"), 1e300])
def test_labels_that_are_not_finite_are_refused_where_they_are_read(label, tmp_path):
    message = "labels must be numbers of at most 1e.50, but item 'b' of query 'q' has "
    with pytest.raises(DataError, match=message + str(label).replace("+", ".")):
        from_dicts({"x": {"q": ["a", "b"]}}, labels={"q": {"a": 1.0, "b": label}})
    if label == label:  # in files nan stands for a missing value
        (tmp_path / "x.qrels").write_text(f"q 0 a 1\nq 0 b {label}\n")
        with pytest.raises(DataError, match="label"):
            read(tmp_path / "x.qrels")


@every_method
def test_weights_whose_sums_are_no_numbers_are_refused(name):
    data = reweighted(random_dataset(1), (1.0, 1e308))
    with pytest.raises(DataError, match=r"weights of lists must be at most 1e.50, but a list of expert 'e1' in query"):
        method(name).fit(data)
    if "weights" in method(name).params():
        with pytest.raises(ParameterError, match=r"weight of expert 'e0' must be at most 1e.50, got 1e.308"):
            method(name, weights={"e0": 1e308}).fit(random_dataset(1))


def test_a_fitted_method_refuses_weights_that_are_too_large_too():
    model = method("rrf").fit(random_dataset(1))
    with pytest.raises(DataError, match="weights of lists must be at most"):
        model.predict(reweighted(random_dataset(1), (1e308,)))


@pytest.mark.parametrize("name", ["jury", "ridge", "crf", "kernel", "lambdarank", "supervised-mc1", "theta-mpm"])
def test_a_model_with_numbers_that_are_not_finite_is_refused(name):
    model = method(name, epochs=2).fit(scored()) if "epochs" in method(name).params() else method(name).fit(scored())
    for field, value in model.learned().items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            damaged = value.copy()
            damaged.flat[-1] = np.nan
            with pytest.raises(DataError, match=f"{name}: {field} must be finite numbers, .* the model is damaged"):
                type(model).from_learned(model.params(), {**model.learned(), field: damaged})


def test_a_step_size_that_leads_nowhere_is_an_error_of_fit():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        with pytest.raises(DataError, match="lambdarank: weights_ must be finite numbers, but 8 of 8 are not; scores"):
            method("lambdarank", rate=1e300).fit(scored())


def test_the_simplex_is_found_from_far_away():
    near = project_to_simplex(np.array([0.3, 0.1, -0.4]))
    assert_allclose(project_to_simplex(np.array([0.3, 0.1, -0.4]) + 2.0**30), near, atol=1e-6)
    assert_allclose(project_to_simplex(np.array([-1e90, 5e88, 4e88])), [0.0, 1.0, 0.0])
