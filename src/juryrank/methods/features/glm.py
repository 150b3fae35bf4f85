"""Generalised linear models over the items of many queries: losses, and coefficients by Newton's method.

A loss is given by the conjugate φ* of its convex function. With t the link of the scores z, z = ∇φ*(t), the divergence
of the scores from a linear predictor f is D(z‖f) = φ*(f) - φ*(t) - z·(f - t).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.learning.linear_algebra import cross_product, gram_matrix, product, solve
from juryrank.learning.per_query import sum_by_query

NEWTON_STEPS = 8
HALVINGS = 30
SWEEPS = 1000
LARGEST = 30.0  # exponents are cut here: e^30 is 10^13 times a typical score


class Loss(ABC):
    """A Bregman divergence by its conjugate; values are per item unless stated otherwise."""

    name: ClassVar[str]
    quadratic: ClassVar[bool] = False
    separable: ClassVar[bool] = True  # the score of an item depends on its own t alone

    @abstractmethod
    def potential(self, ptr: Ints, f: Floats) -> Floats:
        """φ* of each query."""

    @abstractmethod
    def mean(self, ptr: Ints, f: Floats) -> Floats:
        """The scores of a linear predictor: ∇φ*."""

    @abstractmethod
    def curvature(self, ptr: Ints, f: Floats, columns: Floats) -> Floats:
        """The second derivative of the sum of φ* by the coefficients of ``columns``."""

    def weight(self, t: Floats) -> Floats:
        """How fast the score of an item grows with t, up to a factor common to the query."""
        return np.exp(np.minimum(t, LARGEST))

    def divergence(self, ptr: Ints, t: Floats, f: Floats) -> Floats:
        """D(z‖f) of each query, with z = ∇φ*(t)."""
        apart = self.potential(ptr, f) - self.potential(ptr, t) - sum_by_query(ptr, self.mean(ptr, t) * (f - t))
        return np.maximum(apart, 0.0)


class Squared(Loss):
    """½ Σ (z - f)²: normal errors."""

    name = "squared"
    quadratic = True

    def potential(self, ptr: Ints, f: Floats) -> Floats:
        return 0.5 * sum_by_query(ptr, f**2)

    def mean(self, ptr: Ints, f: Floats) -> Floats:
        return f

    def curvature(self, ptr: Ints, f: Floats, columns: Floats) -> Floats:
        return gram_matrix(columns)

    def weight(self, t: Floats) -> Floats:
        return np.ones(len(t))

    def divergence(self, ptr: Ints, t: Floats, f: Floats) -> Floats:
        return 0.5 * sum_by_query(ptr, (f - t) ** 2)


class Poisson(Loss):
    """Generalised I-divergence Σ z log(z / y) - z + y with y = exp(f): counts."""

    name = "poisson"

    def potential(self, ptr: Ints, f: Floats) -> Floats:
        return sum_by_query(ptr, self.mean(ptr, f))

    def mean(self, ptr: Ints, f: Floats) -> Floats:
        return np.exp(np.minimum(f, LARGEST))

    def curvature(self, ptr: Ints, f: Floats, columns: Floats) -> Floats:
        return cross_product(columns, columns * self.mean(ptr, f)[:, None])


class KL(Loss):
    """Kullback-Leibler divergence of shares on the simplex, y = softmax(f), times the items of the query."""

    name = "kl"
    separable = False

    def potential(self, ptr: Ints, f: Floats) -> Floats:
        sizes = np.maximum(np.diff(ptr), 1)
        top = self._top(ptr, f)
        total = sum_by_query(ptr, np.exp(f - np.repeat(top, np.diff(ptr)))) / sizes
        return sizes * (np.log(np.where(total > 0, total, 1.0)) + top)

    def mean(self, ptr: Ints, f: Floats) -> Floats:
        sizes = np.diff(ptr)
        share = np.exp(f - np.repeat(self._top(ptr, f), sizes))
        z: Floats = share * np.repeat(sizes / np.where(sizes > 0, sum_by_query(ptr, share), 1.0), sizes)
        return z

    def curvature(self, ptr: Ints, f: Floats, columns: Floats) -> Floats:
        weighted = columns * self.mean(ptr, f)[:, None]
        middle = sum_by_query(ptr, weighted) / np.sqrt(np.maximum(np.diff(ptr), 1))[:, None]
        return cross_product(columns, weighted) - gram_matrix(middle)

    def _top(self, ptr: Ints, f: Floats) -> Floats:
        top = np.zeros(len(ptr) - 1)
        filled = np.diff(ptr) > 0
        if filled.any():
            top[filled] = np.maximum.reduceat(f, ptr[:-1][filled])
        return top


LOSSES: dict[str, Loss] = {loss.name: loss for loss in (Squared(), KL(), Poisson())}


@dataclass(frozen=True)
class Penalty:
    """l1 · Σ|w| + ½ l2 · Σ w², per item: an elastic net where both are positive."""

    l1: float
    l2: float

    def __call__(self, w: Floats) -> float:
        return float(self.l1 * np.abs(w).sum() + 0.5 * self.l2 * (w**2).sum())


class Linear:
    """A linear model of the items of queries: minimise mean D(z‖columns·w) + penalty."""

    def __init__(self, ptr: Ints, columns: Floats, loss: Loss, penalty: Penalty) -> None:
        self.ptr, self.columns, self.loss, self.penalty = ptr, columns, loss, penalty
        self.n = max(len(columns), 1)
        self._gram = loss.curvature(ptr, np.zeros(len(columns)), columns) / self.n if loss.quadratic else None

    def predictor(self, w: Floats) -> Floats:
        """The linear predictor of every item."""
        return product(self.columns, w)

    def objective(self, t: Floats, w: Floats) -> float:
        """Mean divergence per item, and the penalty."""
        apart = self.loss.divergence(self.ptr, t, self.predictor(w)).sum() / self.n
        return float(apart + self.penalty(w))

    def fit(self, t: Floats, w: Floats, tol: float = 1e-6) -> Floats:
        """The coefficients that minimise the objective, from ``w`` on; each step makes it smaller."""
        z = self.loss.mean(self.ptr, t)
        now = self.objective(t, w)
        for _ in range(1 if self._gram is not None else NEWTON_STEPS):
            f = self.predictor(w)
            slope = cross_product(self.columns, self.loss.mean(self.ptr, f) - z) / self.n
            step = _newton(self._curvature(f), slope, w, self.penalty)
            w, before, now = self._line_search(t, w, step, now)
            if before - now <= tol * max(before, 1e-12):
                break
        return w

    def _curvature(self, f: Floats) -> Floats:
        return self.loss.curvature(self.ptr, f, self.columns) / self.n if self._gram is None else self._gram

    def _line_search(self, t: Floats, w: Floats, step: Floats, now: float) -> tuple[Floats, float, float]:
        """The longest of step, step/2, step/4 … that makes the objective smaller; before and after."""
        for half in range(HALVINGS):
            tried = w + step * 0.5**half
            then = self.objective(t, tried)
            if then <= now:
                return tried, now, then
        return w, now, now


def _newton(curvature: Floats, slope: Floats, w: Floats, penalty: Penalty) -> Floats:
    """The step that minimises the quadratic model of loss and penalty."""
    h = curvature + penalty.l2 * np.eye(len(w))
    g = slope + penalty.l2 * w
    if penalty.l1 == 0:
        tiny = 1e-10 * max(float(np.trace(h)) / max(len(w), 1), 1e-300)  # so that identical columns share the weight
        return -solve(h + tiny * np.eye(len(w)), g)
    return _coordinate_descent(h, g, w, penalty.l1)


def _coordinate_descent(h: Floats, g: Floats, w: Floats, l1: float) -> Floats:
    """Coordinate descent on g·step + ½ step·h·step + l1·|w + step|."""
    step = np.zeros(len(w))
    pull = g.copy()  # g + h·step
    for _ in range(SWEEPS):
        furthest = 0.0
        for j in np.flatnonzero(np.diagonal(h) > 0):
            goal = w[j] + step[j] - pull[j] / h[j, j]
            new = np.sign(goal) * max(abs(goal) - l1 / h[j, j], 0.0)
            moved = new - w[j] - step[j]
            if moved:
                step[j] = new - w[j]
                pull += moved * h[j]
                furthest = max(furthest, abs(moved))
        if furthest <= 1e-10 * max(float(np.abs(w + step).max(initial=0.0)), 1e-12):
            break
    return step
