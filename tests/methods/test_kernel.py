"""Kernel ridge regression against the dense solution, and what a linear model cannot do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError
from juryrank.kernels.ragged import parents
from juryrank.learners.lessons import lessons_of
from juryrank.learners.nystroem import Problem
from juryrank.methods import method


def test_with_all_items_as_landmarks_it_is_exact_kernel_ridge_regression():
    data = random_dataset(1, n_queries=5)
    lessons = lessons_of(data, "ignore")
    x = np.random.default_rng(0).normal(size=(lessons.data.rankings.n_slots, 4))
    ridge = 0.01
    (model,) = Problem(lessons, x, 1000, 0).solve(1.0, (ridge,))
    used = lessons.weights > 0
    query, y = parents(lessons.data.rankings.slot_ptr)[used], lessons.gains[used]
    same = query[:, None] == query[None, :]
    centre = np.eye(len(y)) - same / same.sum(1)[:, None]
    y = centre @ y
    w = np.sqrt(1.0 / np.sqrt(np.bincount(query, y**2)))[query]
    points = x[used]
    matrix = np.exp(-model.sharpness * cdist(points, points, "sqeuclidean")) + points @ points.T / 4
    weighted = w[:, None] * (centre @ matrix @ centre.T) * w
    dual = np.linalg.solve(weighted + ridge * len(lessons) * np.eye(len(y)), w * y)
    expected = matrix @ centre.T @ (w * dual)
    found = model.scores(x, lessons.data.rankings.slot_ptr)[used]
    difference = found - expected
    assert_allclose(centre @ difference, 0.0, atol=1e-6)  # a constant in a query orders nothing


def agreement(seed: int, n_queries: int = 60):
    """An item is relevant where exactly one of two experts ranks it: no sum over experts says so."""
    rng = np.random.default_rng(seed)
    runs: dict = {"a": {}, "b": {}, "c": {}}
    labels = {}
    for q in range(n_queries):
        items = [f"i{i}" for i in rng.permutation(12)]
        runs["a"][f"q{q}"], runs["b"][f"q{q}"] = items[:6], items[3:9]
        for expert in ("a", "b"):
            runs[expert][f"q{q}"] = rng.permutation(runs[expert][f"q{q}"]).tolist()
        runs["c"][f"q{q}"] = rng.permutation(items).tolist()
        labels[f"q{q}"] = {item: int(place < 3 or 6 <= place < 9) for place, item in enumerate(items)}
    return from_dicts(runs, labels=labels)


def test_it_learns_what_no_sum_over_experts_can_say():
    train, test = agreement(0), agreement(1)
    assert method("kernel").fit(train).score(test) > method("lambdarank").fit(train).score(test) + 0.1


def test_width_and_penalty_are_chosen_and_landmarks_are_as_many_as_asked_for():
    data = random_dataset(2, n_queries=20)
    model = method("kernel", landmarks=7).fit(data, valid=random_dataset(3))
    assert model.landmarks_.shape == (7, 2 * len(model.experts_))
    assert model.width_ > 0
    assert model.ridge_ > 0


def test_labels_that_never_differ_teach_nothing():
    data = from_dicts({"a": {"q": ["x", "y"]}}, labels={"q": {"x": 1, "y": 1}})
    with pytest.raises(DataError, match="no query has labels that differ"):
        method("kernel").fit(data)
