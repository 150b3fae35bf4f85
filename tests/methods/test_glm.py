"""Losses against their definitions, coefficients against conditions of optimality and scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import ElasticNet, PoissonRegressor

from juryrank.learning.per_query import centre, standardise
from juryrank.methods.features.glm import LOSSES, Linear, Penalty

PTR = np.array([0, 4, 4, 9, 10])  # the second query has no items
every_loss = pytest.mark.parametrize("name", LOSSES)


def problem(name: str, penalty: Penalty, seed: int = 0, n: int = 40, d: int = 6) -> tuple[Linear, np.ndarray]:
    rng = np.random.default_rng(seed)
    ptr = np.array([0, n // 2, n])
    return Linear(ptr, standardise(ptr, rng.normal(size=(n, d))), LOSSES[name], penalty), rng.normal(size=n)


def definition(name: str, z: np.ndarray, y: np.ndarray) -> float:
    """Table 1 of the paper; shares of KL are times the number of items."""
    if name == "squared":
        return 0.5 * ((z - y) ** 2).sum()
    if name == "kl":
        n = len(z)
        return n * (z / n * np.log(z / y)).sum()
    return (z * np.log(z / y) - z + y).sum()


@every_loss
def test_the_divergence_is_that_of_the_definition(name):
    rng = np.random.default_rng(1)
    t, f = rng.normal(size=(2, 10))
    loss = LOSSES[name]
    z, y = loss.mean(PTR, t), loss.mean(PTR, f)
    wanted = [definition(name, z[a:b], y[a:b]) for a, b in pairwise(PTR)]
    assert_allclose(loss.divergence(PTR, t, f), wanted, atol=1e-12)
    assert_allclose(loss.divergence(PTR, t, t), 0.0, atol=1e-12)


@every_loss
def test_mean_and_curvature_are_derivatives_of_the_potential(name):
    rng = np.random.default_rng(2)
    f, columns, step = rng.normal(size=10), rng.normal(size=(10, 3)), 1e-5
    loss = LOSSES[name]

    def total(w):
        return loss.potential(PTR, f + columns @ w).sum()

    def slope(w):
        return columns.T @ loss.mean(PTR, f + columns @ w)

    for j, unit in enumerate(np.eye(3) * step):
        assert (total(unit) - total(-unit)) / (2 * step) == pytest.approx(slope(np.zeros(3))[j], rel=1e-6)
        second = (slope(unit) - slope(-unit)) / (2 * step)
        assert_allclose(second, loss.curvature(PTR, f, columns)[j], rtol=1e-6, atol=1e-8)


@every_loss
def test_no_coefficient_can_be_moved_for_the_better(name):
    for penalty in (Penalty(0.0, 0.1), Penalty(0.05, 0.0), Penalty(0.05, 0.1)):
        model, t = problem(name, penalty)
        w = np.zeros(6)
        for _ in range(20):
            w = model.fit(t, w)
        z = model.loss.mean(model.ptr, t)
        slope = model.columns.T @ (model.loss.mean(model.ptr, model.predictor(w)) - z) / model.n + penalty.l2 * w
        assert_allclose(slope[w != 0], -penalty.l1 * np.sign(w[w != 0]), atol=1e-5)
        assert (np.abs(slope[w == 0]) <= penalty.l1 + 1e-5).all()


def test_the_elastic_net_is_that_of_scikit_learn():
    model, t = problem("squared", Penalty(0.08, 0.12))
    theirs = ElasticNet(alpha=0.2, l1_ratio=0.4, fit_intercept=False, tol=1e-10, max_iter=100_000)
    assert_allclose(model.fit(t, np.zeros(6)), theirs.fit(model.columns, t).coef_, atol=1e-6)


def test_poisson_regression_is_that_of_scikit_learn():
    model, t = problem("poisson", Penalty(0.0, 0.3))
    theirs = PoissonRegressor(alpha=0.3, fit_intercept=False, tol=1e-10).fit(model.columns, np.exp(t))
    assert_allclose(model.fit(t, np.zeros(6), tol=1e-14), theirs.coef_, atol=1e-5)


@every_loss
def test_fitting_never_makes_the_objective_larger(name):
    rng = np.random.default_rng(3)
    model, t = problem(name, Penalty(0.01, 0.01))
    for _ in range(20):
        w = 3 * rng.normal(size=6)
        assert model.objective(t, model.fit(t, w)) <= model.objective(t, w)


def test_columns_that_say_the_same_share_the_weight():
    rng = np.random.default_rng(4)
    column = rng.normal(size=(20, 1))
    ptr = np.array([0, 20])
    model = Linear(ptr, standardise(ptr, np.hstack([column, column])), LOSSES["squared"], Penalty(0.0, 0.0))
    w = model.fit(model.columns[:, 0], np.zeros(2))
    assert_allclose(w, [0.5, 0.5], atol=1e-6)


def test_standardised_values_have_mean_0_and_variance_1_in_each_query_and_constants_are_0():
    values = np.column_stack([np.arange(10.0), np.full(10, 1 / 3)])
    out = standardise(PTR, values)
    assert_allclose(out[:4].mean(axis=0), 0.0, atol=1e-15)
    assert_allclose(out[4:9, 0].std(), 1.0)
    assert (out[:, 1] == 0).all()
    assert out[9, 0] == 0
    assert_allclose(centre(PTR, values)[4:9, 0], [-2, -1, 0, 1, 2])


def test_with_each_query_the_values_of_others_do_not_decide_what_is_flat():
    ptr, values = np.array([0, 3, 6]), np.array([1e-15, 2e-15, 3e-15, 1.0, 2.0, 3.0])
    assert_allclose(standardise(ptr, values)[:3], 0.0)
    own = standardise(ptr, values, each_query=True)
    assert_allclose(own[:3], own[3:], atol=1e-12)
    assert_allclose(standardise(ptr[:2], np.full(3, 0.1), each_query=True), 0.0)
