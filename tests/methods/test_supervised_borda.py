"""Supervised Borda and Borda Fuse: the optimum by its conditions and by another solver, weights by definition."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from noisy_experts import weighted_lists
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from slow import dense, places

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.data.long_table import from_long
from juryrank.errors import ConvergenceWarning, DataError
from juryrank.methods import method
from juryrank.methods.learned.supervised_borda import project_to_simplex

seeds = pytest.mark.parametrize("seed", range(4))


def plain_loss(data, experts, weights, margin):
    """The loss in the words of its definition: unjudged items are irrelevant, queries without pairs do not count."""
    r, losses = data.rankings, []
    for q in range(len(data)):
        ranks, list_weights = dense(data, q)
        label = np.nan_to_num(data.slot_labels[r.slot_ptr[q] : r.slot_ptr[q + 1]])
        if np.ptp(label) == 0 or not (list_weights > 0).any():
            continue
        n, score = len(label), np.zeros(len(label))
        for m, row in enumerate(places(ranks)):
            expert = r.experts[r.list_expert[r.list_ptr[q] + m]]
            if list_weights[m] > 0:
                score += list_weights[m] * weights[experts.index(expert)] * np.where(np.isnan(row), 0.0, (n - row) / n)
        short = [margin - score[i] + score[j] for i in range(n) for j in range(n) if label[i] > label[j]]
        losses.append(np.mean(np.maximum(short, 0.0) ** 2))
    return np.mean(losses)


def plain_slope(data, experts, weights, margin):
    h = 1e-6
    ahead, behind = (
        [plain_loss(data, experts, weights + step * e, margin) for e in np.eye(len(weights))] for step in (h, -h)
    )
    return (np.array(ahead) - behind) / (2 * h)


@seeds
def test_the_weights_meet_the_conditions_of_an_optimum_on_the_simplex(seed):
    data = weighted_lists(seed)
    model = method("supervised-borda", tol=1e-10).fit(data)
    assert model.weights_.sum() == pytest.approx(1)
    slope = plain_slope(data, model.experts_, model.weights_, model.margin)
    used = model.weights_ > 1e-7
    assert_allclose(slope[used], slope.min(), atol=1e-5)
    assert (model.weights_ >= 0).all()


@seeds
def test_another_solver_finds_no_lower_loss(seed):
    data = weighted_lists(seed)
    model = method("supervised-borda").fit(data)
    n = len(model.experts_)
    other = minimize(
        lambda w: plain_loss(data, model.experts_, w, 1.0),
        np.full(n, 1 / n),
        method="SLSQP",
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-12, "maxiter": 500},
    )
    ours = plain_loss(data, model.experts_, model.weights_, 1.0)
    assert other.success
    assert ours <= other.fun + 1e-9
    assert ours == pytest.approx(other.fun, abs=1e-6)


@seeds
@pytest.mark.parametrize("scale", [1e-7, 1e6])
def test_lists_and_a_margin_in_another_unit_give_the_same_weights(seed, scale):
    data = random_dataset(seed, n_queries=10)
    r = data.rankings
    scaled = replace(data, rankings=replace(r, list_weight=scale * r.list_weight))
    weights = method("supervised-borda", margin=0.5).fit(data).weights_
    assert np.ptp(weights) > 0.01
    assert_allclose(method("supervised-borda", margin=0.5 * scale).fit(scaled).weights_, weights, atol=1e-7)


def test_scores_are_weighted_borda_counts(dataset):
    model = method("supervised-borda").fit(dataset)
    weights = dict(zip(model.experts_, model.weights_.tolist(), strict=True))
    assert_allclose(model.predict(dataset).scores, method("borda", weights=weights).fit_predict(dataset).scores)


def test_the_nearest_point_of_the_simplex_by_hand():
    assert_allclose(project_to_simplex(np.array([0.2, 0.3, 0.5])), [0.2, 0.3, 0.5])
    assert_allclose(project_to_simplex(np.array([2.0, 0.0])), [1.0, 0.0])
    assert_allclose(project_to_simplex(np.array([0.6, 0.6, -1.0])), [0.5, 0.5, 0.0])


def test_too_few_steps_warn_and_keep_the_estimate(dataset):
    with pytest.warns(ConvergenceWarning, match="supervised-borda: the weights did not converge after 1 steps"):
        model = method("supervised-borda", max_iter=1).fit(dataset)
    assert model.weights_.sum() == pytest.approx(1)


def test_borda_fuse_weighs_an_expert_by_its_metric_on_the_queries_it_ranks():
    lists = {"x": {"q": ["a", "b"], "r": ["c", "d"]}, "y": {"q": ["b", "a"]}}
    data = from_dicts(lists, labels={"q": {"a": 1}, "r": {"d": 1}})
    model = method("borda-fuse").fit(data)
    assert dict(zip(model.experts_, model.weights_, strict=True)) == {"x": 0.75, "y": 0.5}
    precise = method("borda-fuse", target="P@1").fit(data)
    assert dict(zip(precise.experts_, precise.weights_, strict=True)) == {"x": 0.5, "y": 0.0}


def test_borda_fuse_of_full_lists_weighs_by_what_evaluate_says():
    orders = {"x": ("abcd", "dcba"), "y": ("cabd", "bacd"), "z": ("dbca", "acbd")}
    lists = {e: {"q": list(first), "r": list(second)} for e, (first, second) in orders.items()}
    data = from_dicts(lists, labels={"q": {"a": 1, "c": 2}, "r": {"b": 1}})
    values = juryrank.evaluate(data, data, "AP")["AP"]
    model = method("borda-fuse").fit(data)
    assert dict(zip(model.experts_, model.weights_, strict=True)) == pytest.approx(values)


def test_borda_fuse_needs_a_labelled_query_with_a_list():
    lists = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "expert": ["x", "x"], "rank": [1, 2]})
    data = from_long(
        lists, candidates=pl.DataFrame({"query": ["q", "r"], "item": ["a", "a"]}),
        labels=pl.DataFrame({"query": ["r"], "item": ["a"], "label": [1]}),
    )  # fmt: skip
    with pytest.raises(DataError, match="no labelled query has a list"):
        method("borda-fuse").fit(data)
