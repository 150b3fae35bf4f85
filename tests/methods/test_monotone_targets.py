"""Retargeted scores against brute force: all orders of tied items, and a general solver."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from juryrank.learning.per_query import standardise
from juryrank.methods.features.glm import LOSSES
from juryrank.methods.features.margins import Pairs
from juryrank.methods.features.monotone_targets import (
    Scale,
    label_levels,
    pool,
    retarget,
    retarget_with_steps,
    sort_order,
)

every_loss = pytest.mark.parametrize("name", LOSSES)


def slow_pooled(f: np.ndarray) -> np.ndarray:
    """Non-increasing least squares by its min-max formula."""
    n = len(f)
    return np.array([min(max(f[a : b + 1].mean() for b in range(i, n)) for a in range(i + 1)) for i in range(n)])


def orders_of(target: np.ndarray) -> list[np.ndarray]:
    """Every order that the target allows."""
    groups = [np.flatnonzero(target == v) for v in sorted(set(target), reverse=True)]
    return [np.concatenate(choice) for choice in product(*(list(map(np.array, permutations(g))) for g in groups))]


def solved(name: str, f: np.ndarray, order: np.ndarray, pairs: list[tuple[int, int, float]]) -> float:
    """The least divergence of scores z in this order with z[better] - z[worse] >= margin, by a general solver."""
    loss, ptr, n = LOSSES[name], np.array([0, len(f)]), len(f)
    y = loss.mean(ptr, f)

    def divergence(z):
        if name == "squared":
            return 0.5 * ((z - y) ** 2).sum()
        z = np.maximum(z, 1e-12)
        return (z * np.log(z / y)).sum() if name == "kl" else (z * np.log(z / y) - z + y).sum()

    rules = [{"type": "ineq", "fun": lambda z, a=a, b=b, m=m: z[a] - z[b] - m} for a, b, m in pairs]
    rules += [{"type": "ineq", "fun": lambda z, a=a, b=b: z[a] - z[b]} for a, b in pairwise(order)]
    if name == "kl":
        rules.append({"type": "eq", "fun": lambda z: z.sum() - n})
    start = np.empty(n)
    start[order] = np.linspace(2, 0.5, n)
    # With differences in place of a gradient, the finest tolerance is beyond what some CPUs can reach.
    for tolerance in (1e-14, 1e-12, 1e-10):
        options = {"maxiter": 1000, "ftol": tolerance}
        found = minimize(divergence, start, constraints=rules, method="SLSQP", options=options)
        if found.success:
            return found.fun
    raise AssertionError(found.message)


@given(st.integers(0, 10_000), st.integers(1, 7))
def test_pooling_is_the_min_max_formula(seed, n):
    f = np.random.default_rng(seed).normal(size=n).round(1)
    assert_allclose(pool(np.array([0, n]), f, np.arange(n)), slow_pooled(f), atol=1e-12)


@given(st.integers(0, 10_000))
def test_tied_items_stand_in_the_order_that_costs_least(seed):
    rng = np.random.default_rng(seed)
    f, target = rng.normal(size=6), rng.integers(0, 3, 6).astype(float)
    ptr = np.array([0, 6])
    ours = pool(ptr, f, sort_order(ptr, f, target))
    best = min(((slow_pooled(f[order]) - f[order]) ** 2).sum() for order in orders_of(target))
    assert ((ours - f) ** 2).sum() == pytest.approx(best, abs=1e-12)
    above = target[:, None] > target[None, :]
    assert (ours[:, None] - ours[None, :])[above].min(initial=0) >= -1e-12


def test_many_queries_are_pooled_as_one_by_one():
    rng = np.random.default_rng(0)
    ptr = np.concatenate([[0], np.cumsum(rng.integers(0, 9, 700))])
    f, target = rng.normal(size=ptr[-1]), rng.integers(0, 4, ptr[-1]).astype(float)
    together = pool(ptr, f, sort_order(ptr, f, target))
    for a, b in pairwise(ptr):
        one = np.array([0, b - a])
        assert_allclose(together[a:b], pool(one, f[a:b], sort_order(one, f[a:b], target[a:b])), atol=1e-9)


def test_scores_of_variance_1_are_the_nearest_of_that_variance():
    rng = np.random.default_rng(1)
    ptr, f, target = np.array([0, 5]), rng.normal(size=5), np.array([2.0, 0, 1, 1, 3])
    t = retarget(ptr, f, target, LOSSES["squared"], Scale())
    assert t.std() == pytest.approx(1)
    tried = standardise(np.arange(0, 50_001, 5), np.sort(rng.normal(size=(10_000, 5)))[:, ::-1].ravel()).reshape(-1, 5)
    for order in orders_of(target):
        assert ((tried - f[order]) ** 2).sum(axis=1).min() >= ((t - f) ** 2).sum() - 1e-12


@every_loss
@pytest.mark.parametrize("margin", [0.3, 2.0])
def test_a_margin_between_the_ends_is_kept_at_least_cost(name, margin):
    ptr, loss = np.array([0, 5]), LOSSES[name]
    for seed in range(5):
        rng = np.random.default_rng(seed)
        f = 0.5 * rng.normal(size=5)
        target = rng.permutation(5).astype(float)
        t = retarget(ptr, f, target, loss, Scale(margin))
        z, order = loss.mean(ptr, t), np.argsort(-target)
        assert z[order[0]] - z[order[-1]] >= margin - 1e-9
        best = solved(name, f, order, [(order[0], order[-1], margin)])
        assert loss.divergence(ptr, t, f)[0] == pytest.approx(best, rel=1e-4, abs=1e-6)


@every_loss
def test_pairs_are_kept_at_least_cost(name):
    ptr, loss, margin = np.array([0, 6]), LOSSES[name], 0.5
    for seed in range(4):
        f = 0.5 * np.random.default_rng(seed).normal(size=6)
        target = np.arange(6.0)[::-1]
        pairs = Pairs(np.array([0, 2, 1]), np.array([1, 3, 5]))
        t = retarget(ptr, f, target, loss, Scale(margin, pairs))
        z = loss.mean(ptr, t)
        assert (z[pairs.better] - z[pairs.worse] >= margin - 1e-6).all()
        rules = [(0, 5, margin), *((a, b, margin) for a, b in zip(pairs.better, pairs.worse, strict=True))]
        assert loss.divergence(ptr, t, f)[0] == pytest.approx(solved(name, f, np.arange(6), rules), rel=1e-3, abs=1e-5)


def test_a_pair_against_the_target_is_lifted_level():
    lifted = Pairs(np.array([2, 1]), np.array([1, 0])).lift(np.array([3.0, 2.0, 1.0]))
    assert lifted.tolist() == [3.0, 3.0, 3.0]


@every_loss
def test_steps_between_labels_are_kept_at_least_cost(name):
    ptr, loss, margin, level = np.array([0, 5]), LOSSES[name], 0.7, np.array([0.0, 2, 1, 1, 0])
    for seed in range(5):
        rng = np.random.default_rng(seed)
        f = rng.normal(size=5)
        t = retarget_with_steps(ptr, f, level, loss, margin)
        high, low = np.nonzero(level[:, None] > level[None, :])
        assert (t[high] - t[low] >= margin * (level[high] - level[low]) - 1e-9).all()
        rules = [
            {"type": "ineq", "fun": lambda t, a=a, b=b: t[a] - t[b] - margin * (level[a] - level[b])}
            for a, b in zip(high, low, strict=True)
        ]
        best = minimize(
            lambda t, f=f: loss.divergence(ptr, t, f)[0], margin * level, constraints=rules, options={"ftol": 1e-14}
        )
        assert best.success
        assert loss.divergence(ptr, t, f)[0] == pytest.approx(best.fun, rel=1e-4, abs=1e-6)


def test_levels_count_the_smaller_labels_of_the_query():
    assert label_levels(np.array([0, 3, 3, 5]), np.array([5.0, 1, 5, 0, 2])).tolist() == [1, 0, 1, 0, 1]
