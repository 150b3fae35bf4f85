"""Kernel ridge regression against the dense solution, and what a linear model cannot do."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError
from juryrank.kernels.ragged import parents
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods import method
from juryrank.methods.learned.nystroem import Limits, Nystroem, sample_slots


def test_with_all_items_as_landmarks_it_is_exact_kernel_ridge_regression():
    queries = LabelledQueries.of(random_dataset(1, n_queries=5), "ignore")
    x = np.random.default_rng(0).normal(size=(queries.data.rankings.n_slots, 4))
    model = Nystroem(width=1.0, penalty=0.05, landmarks=1000, seed=0).fit(queries, lambda _: x)
    expected, centre, used = dense_scores(queries, x, model.sharpness, 0.05)
    found = model.scores(queries.data, lambda _: x)[used]
    assert_allclose(centre @ (found - expected), 0.0, atol=1e-6)  # a constant in a query orders nothing


def dense_scores(queries, x, sharpness, penalty):
    """The dual solution with full matrices; also what centres in queries, and the slots in use."""
    used = queries.weights > 0
    query, y = parents(queries.data.rankings.slot_ptr)[used], np.sqrt(queries.gains[used])
    same = query[:, None] == query[None, :]
    centre = np.eye(len(y)) - same / same.sum(1)[:, None]
    y = centre @ y
    w = np.sqrt(1.0 / np.sqrt(np.bincount(query, y**2)))[query]
    points = x[used]
    matrix = np.exp(-sharpness * cdist(points, points, "sqeuclidean")) + points @ points.T / points.shape[1]
    weighted = w[:, None] * (centre @ matrix @ centre.T) * w
    dual = np.linalg.solve(weighted + penalty * np.eye(len(y)), w * y)
    return matrix @ centre.T @ (w * dual), centre, used


def test_with_few_landmarks_the_gradient_of_the_penalised_squares_is_zero():
    queries = LabelledQueries.of(random_dataset(1, n_queries=8), "irrelevant")
    x = np.random.default_rng(0).normal(size=(queries.data.rankings.n_slots, 4))
    model = Nystroem(width=1.0, penalty=0.7, landmarks=6, seed=0).fit(queries, lambda _: x)
    kernel = np.exp(-model.sharpness * cdist(x, model.landmarks, "sqeuclidean"))
    norm = np.exp(-model.sharpness * cdist(model.landmarks, model.landmarks, "sqeuclidean"))
    features, y = np.hstack([kernel, x]), np.sqrt(queries.gains)
    slope = 0.7 * np.concatenate([norm @ model.coefficient, 4 * model.linear])  # the linear part is x / √4
    before = np.abs(slope).max()
    for a, b in pairwise(queries.data.rankings.slot_ptr):
        weight, z = queries.weights[a:b, None], np.column_stack([features[a:b], y[a:b]])
        z = (z - (weight * z).sum(0) / weight.sum()) * np.sqrt(weight)
        z /= np.sqrt(np.sqrt((z[:, -1] ** 2).sum()))
        slope += z[:, :-1].T @ (z[:, :-1] @ np.concatenate([model.coefficient, model.linear]) - z[:, -1])
    assert np.abs(slope).max() < 1e-10 * before


def test_parts_of_the_slots_at_a_time_give_the_same_model():
    train, test = random_dataset(1, n_queries=12), random_dataset(2, n_queries=12)
    model = method("kernel", unjudged="irrelevant").fit(train)
    queries, solver = LabelledQueries.of(train, "irrelevant"), Nystroem(0.8, 1.4, 500, 0)
    parts = replace(solver, limits=Limits(slots_at_once=7, cells_at_once=200)).fit(queries, model._columns)
    assert_allclose(parts.scores(test, model._columns), model.predict(test).scores, atol=1e-9)


def test_of_many_slots_a_sample_is_used_that_stands_for_all_of_its_kind():
    queries = LabelledQueries.of(random_dataset(1, n_queries=30), "irrelevant")
    slots, share = sample_slots(queries, np.random.default_rng(0), 60)
    assert len(slots) == 60 == len(set(slots.tolist()))
    assert (np.diff(slots) > 0).all()
    for kind in (queries.gains > 0, queries.gains == 0):
        assert (1 / share[kind[slots]]).sum() == pytest.approx((kind & (queries.weights > 0)).sum())


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


def test_landmarks_are_as_many_as_asked_for():
    model = method("kernel", landmarks=7).fit(random_dataset(2, n_queries=20))
    assert model.landmarks_.shape == (7, 2 * len(model.experts_))


def test_labels_that_never_differ_teach_nothing():
    data = from_dicts({"a": {"q": ["x", "y"]}}, labels={"q": {"x": 1, "y": 1}})
    with pytest.raises(DataError, match="no query has lists and labels that differ"):
        method("kernel").fit(data)
