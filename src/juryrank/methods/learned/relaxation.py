"""Supervised MC2 as a semidefinite program (Liu, Liu, Qin, Ma, Li, WWW 2007, section 4), with cvxpy and SCS.

The paper takes γ = (α, x, t): expert weights, masses of the items, shortfalls of the labelled pairs. It replaces the
condition that x is stationary by the bound 2 - 2 αᵀA x with A[k, j] = P_k(j, j), and solves the Lagrangian dual of
min γᵀH₀γ under the linear constraints and γᵀγ <= c. This module solves the dual of that dual, which has the same value
and whose solution contains γ: min tr(H₀ Γ), tr Γ <= c, Γ - γγᵀ positive semidefinite. H₀ couples α only with the x of
each query, so one matrix over (α, x, 1) per query, all with the same block of α, is sufficient; the pairs are separate
squares. If c exceeds γᵀγ at the solution, the value is that of the convex program
min γᵀ(H₀ + σI)γ - σc, σ the largest singular value of A: a strong regularisation towards equal weights.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, JuryrankError, MissingExtraError
from juryrank.learning.labelled import LabelledQueries

# Numbers in all matrices; SCS takes some 400 to 700 iterations, each with an eigenvalue problem per matrix.
LARGEST = 40_000
SECONDS_EACH = 3e-4  # of one such number, measured on one core
ACCURACY = 1e-6
MAX_ITER = 20_000


@dataclass(frozen=True, eq=False)
class Query:
    """One query of the program."""

    stay: Floats  # [n_experts, n_items] the probability P_k(j, j) to stay; without a list all items are tied
    better: Ints  # [n_pairs] items of the query
    worse: Ints  # [n_pairs]
    n_pairs: int  # before sampling

    @property
    def side(self) -> int:
        return sum(self.stay.shape) + 1


@dataclass(frozen=True, eq=False)
class Relaxation:
    """The program for some queries."""

    queries: list[Query]
    margin: float  # by how much a better item's mass, times the items, should be ahead

    @property
    def size(self) -> int:
        """Numbers in all matrices."""
        return sum(q.side * (q.side + 1) // 2 for q in self.queries)

    @property
    def seconds(self) -> float:
        """The estimated time of a solution."""
        return 0.5 + self.size * SECONDS_EACH

    @property
    def ball(self) -> float:
        """A bound c that cuts off no solution: equal masses cost margin² per query, and staying gains at most 2."""
        return 1 + len(self.queries) * (3 + self.margin**2)

    def check_size(self, name: str, largest: int = LARGEST) -> None:
        """Raise a DataError for a program that would take minutes or more."""
        if self.size > largest:
            raise DataError(
                f"{name}: the semidefinite program of {len(self.queries)} queries has {self.size:,} numbers, and up to "
                f"{largest:,} are solved in reasonable time; lower queries, cut the lists, or use solver='gradient'"
            )

    def solve(self, name: str, max_iter: int = MAX_ITER) -> tuple[Floats, float]:
        """The expert weights, and the value of the relaxation: a lower bound of the program of the paper."""
        cp = cvxpy()
        matrices = [cp.Variable((q.side, q.side), PSD=True) for q in self.queries]
        shortfalls = [cp.Variable(len(q.better), nonneg=True) for q in self.queries]
        n_experts = len(self.queries[0].stay)
        squares = cp.Variable()
        extent = squares + cp.trace(matrices[0][:n_experts, :n_experts])
        value, rules = squares, [cp.sum_squares(cp.hstack(shortfalls)) <= squares]
        for q, matrix, short in zip(self.queries, matrices, shortfalls, strict=True):
            value -= 2 * cp.sum(cp.multiply(q.stay, matrix[:n_experts, n_experts:-1]))
            extent += cp.trace(matrix[n_experts:-1, n_experts:-1])
            rules += _rules(cp, matrix, matrices[0], n_experts, short, q, self.margin)
        problem = cp.Problem(cp.Minimize(value), [*rules, extent <= self.ball])
        run(name, problem, max_iter)
        weights = np.maximum(matrices[0].value[:n_experts, -1], 0.0)
        return weights / weights.sum(), float(problem.value)


def _rules(cp: Any, matrix: Any, first: Any, n_experts: int, short: Any, q: Query, margin: float) -> list[Any]:
    """α and x are on their simplexes, α is the same in all queries, and pairs fall short by no more than ``short``."""
    n_items = q.stay.shape[1]
    alpha, x = matrix[:n_experts, -1], matrix[n_experts:-1, -1]
    rules = [matrix[-1, -1] == 1, cp.sum(x) == 1, x >= 0]
    rules.append(short * np.sqrt(len(q.better)) >= margin - n_items * (x[q.better] - x[q.worse]))
    if matrix is first:
        return [*rules, cp.sum(alpha) == 1, alpha >= 0]
    block = np.triu_indices(n_experts)
    return [*rules, alpha == first[:n_experts, -1], matrix[block] == first[block]]


def relaxation(
    labelled: LabelledQueries, experts: list[str], margin: float, n_queries: int, n_pairs: int, seed: int
) -> Relaxation:
    """The program for at most so many queries, and pairs of each, sampled with the seed."""
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(labelled))[:n_queries])
    return Relaxation([_query(labelled.take(np.array([q])), experts, n_pairs, rng) for q in chosen], margin)


def _query(labelled: LabelledQueries, experts: list[str], most: int, rng: np.random.Generator) -> Query:
    better, worse = np.nonzero(labelled.known_gains[:, None] > labelled.known_gains[None, :])
    sampled = np.sort(rng.permutation(len(better))[:most])
    r, n_items = labelled.rankings, labelled.rankings.n_slots
    stay, weight = np.zeros((len(experts), n_items)), np.zeros((len(experts), 1))
    for m, expert in enumerate(labelled.list_place(experts)):
        entries = slice(r.entry_ptr[m], r.entry_ptr[m + 1])
        level = np.full(n_items, n_items, np.int64)  # items at or above each; all of them for unranked items
        level[r.entry_slot[entries]] = np.searchsorted(r.entry_rank[entries], r.entry_rank[entries], side="right")
        stay[expert] += r.list_weight[m] / level
        weight[expert] += r.list_weight[m]
    stay = np.divide(stay, weight, out=np.full_like(stay, 1 / n_items), where=weight > 0)
    return Query(stay, better[sampled], worse[sampled], len(better))


def cvxpy() -> Any:
    """The package; an error that names the extra if it is not installed."""
    try:
        import cvxpy as cp
    except ImportError:
        raise MissingExtraError.of("sdp", "solver='sdp' (unlike 'gradient') needs cvxpy") from None
    return cp


def run(name: str, problem: Any, max_iter: int) -> None:
    """Solve; an error with advice where the solver fails."""
    from cvxpy.error import SolverError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cvxpy's warnings become errors below
            problem.solve(solver="SCS", eps=ACCURACY, max_iters=max_iter)
        status = str(problem.status)
    except SolverError as error:
        status = str(error)
    if status != "optimal":
        raise JuryrankError(
            f"{name}: the semidefinite program was not solved (SCS: {status}); lower queries or margin, or use "
            "solver='gradient'"
        )
