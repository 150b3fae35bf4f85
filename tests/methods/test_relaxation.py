"""The semidefinite program of supervised MC2: the paper's dual, a convex program, and clear words where it fails."""

import builtins
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank import from_orders
from juryrank.errors import DataError, JuryrankError, JuryrankWarning, MissingExtraError
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods import method
from juryrank.methods.learned._chain import Problem
from juryrank.methods.learned.relaxation import relaxation

cp = pytest.importorskip("cvxpy", reason="pip install juryrank[sdp]")
seeds = pytest.mark.parametrize("seed", range(3))


def small(seed, n_queries=2):
    data = random_dataset(seed, n_queries=n_queries, n_items=5, n_experts=3)
    queries = LabelledQueries.of(data, "irrelevant").drop_zero_weight_lists()
    return relaxation(queries, queries.experts, 1.0, 10, 4, seed)


def quadratic_program(program):
    """H₀ and the linear constraints of the paper, over γ = (α, x of each query, t): equal and at most."""
    n_experts = len(program.queries[0].stay)
    items, pairs = [q.stay.shape[1] for q in program.queries], [len(q.better) for q in program.queries]
    n = n_experts + sum(items) + sum(pairs)
    h0, equal, most = np.zeros((n, n)), [(np.arange(n) < n_experts, 1.0)], [(-row, 0.0) for row in np.eye(n)]
    x_at, t_at = n_experts, n_experts + sum(items)
    for q, n_items, n_pairs in zip(program.queries, items, pairs, strict=True):
        h0[:n_experts, x_at : x_at + n_items] = -q.stay
        h0[x_at : x_at + n_items, :n_experts] = -q.stay.T
        equal.append(((np.arange(n) >= x_at) & (np.arange(n) < x_at + n_items), 1.0))
        for p, (better, worse) in enumerate(zip(q.better, q.worse, strict=True)):
            row = np.zeros(n)
            row[[x_at + better, x_at + worse, t_at + p]] = -n_items, n_items, -np.sqrt(n_pairs)
            most.append((row, -program.margin))
            h0[t_at + p, t_at + p] = 1.0
        x_at, t_at = x_at + n_items, t_at + n_pairs
    return h0, *(tuple(np.array(side, float) for side in zip(*rules, strict=True)) for rules in (equal, most))


@seeds
def test_the_value_is_that_of_the_dual_in_the_paper(seed):
    program = small(seed)
    h0, (e, e0), (g, g0) = quadratic_program(program)
    n = len(h0)
    mu, ball, at_most, equal = (
        cp.Variable(),
        cp.Variable(nonneg=True),
        cp.Variable(len(g0), nonneg=True),
        cp.Variable(len(e0)),
    )
    half = cp.reshape((g.T @ at_most + e.T @ equal) / 2, (n, 1), order="C")
    corner = cp.reshape(-ball * program.ball - g0 @ at_most - e0 @ equal - mu, (1, 1), order="C")
    u = cp.Variable((n + 1, n + 1), PSD=True)
    dual = cp.Problem(cp.Maximize(mu), [u == cp.bmat([[h0 + ball * np.eye(n), half], [half.T, corner]])])
    dual.solve(solver="CLARABEL")
    _, value = program.solve("test")
    assert value == pytest.approx(dual.value, rel=1e-4)


@seeds
def test_it_is_a_convex_program_that_pulls_weights_together(seed):
    program = small(seed)
    h0, (e, e0), (g, g0) = quadratic_program(program)
    sigma = -np.linalg.eigvalsh(h0).min()
    gamma = cp.Variable(len(h0))
    root = np.linalg.cholesky(h0 + (sigma + 1e-9) * np.eye(len(h0)))
    convex = cp.Problem(cp.Minimize(cp.sum_squares(root.T @ gamma)), [e @ gamma == e0, g @ gamma <= g0])
    convex.solve(solver="CLARABEL")
    weights, value = program.solve("test")
    assert value == pytest.approx(convex.value - sigma * program.ball, rel=1e-4)
    assert_allclose(weights, gamma.value[: len(weights)], atol=1e-4)


@seeds
def test_the_gradient_solution_is_never_worse_by_the_true_objective(seed):
    data = random_dataset(seed, n_queries=4)
    relaxed = method("supervised-mc2", solver="sdp", pairs=1000).fit(data)
    descended = method("supervised-mc2", epochs=100).fit(data)
    queries = LabelledQueries.of(data, "irrelevant").drop_zero_weight_lists()
    problem, plain = Problem.of(queries, queries.experts), method("supervised-mc2", shrink=0.0)
    of_sdp, of_gradient = (
        plain.objective(np.log(np.maximum(m.weights_, 1e-12)), problem)[0] for m in (relaxed, descended)
    )
    assert relaxed.weights_.sum() == pytest.approx(1)
    assert of_gradient < of_sdp


def test_what_is_sampled_is_reported_with_size_and_time():
    data = random_dataset(0)
    with pytest.warns(
        JuryrankWarning, match=r"2 of 6 labelled queries and 6 of their \d+ pairs, 240 numbers, about 1 s"
    ):
        model = method("supervised-mc2", solver="sdp", queries=2, pairs=3, seed=5).fit(data)
    with pytest.warns(JuryrankWarning, match="2 of 6"):
        again = method("supervised-mc2", solver="sdp", queries=2, pairs=3, seed=5).fit(data)
    assert_allclose(model.weights_, again.weights_, atol=0)


def test_too_large_a_program_is_refused_with_a_remedy():
    program = small(0)
    program.check_size("test", largest=program.size)
    with pytest.raises(DataError, match="lower queries, cut the lists, or use solver='gradient'"):
        program.check_size("test", largest=program.size - 1)
    long = from_orders([[f"i{n}" for n in range(300)]])
    long = replace(long, reference=np.arange(1.0, 301.0))
    with pytest.raises(DataError, match="lower queries, cut the lists, or use solver='gradient'"):
        method("supervised-mc2", solver="sdp").fit(long)


def test_a_solver_that_fails_is_named_with_a_remedy():
    with pytest.raises(
        JuryrankError, match=r"not solved \(SCS: .*\); lower queries or margin, or use solver='gradient'"
    ):
        small(0).solve("test", max_iter=1)


def test_without_cvxpy_the_extra_is_named(monkeypatch, dataset):
    there = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "cvxpy":
            raise ImportError(name)
        return there(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install 'juryrank\[sdp\]'"):
        method("supervised-mc2", solver="sdp").fit(dataset)
