"""Ridge regression inside queries on a Gaussian kernel, approximated by landmarks, plus a linear part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.kernels.rbf import rbf_scores
from juryrank.training.labelled_queries import LabelledQueries
from juryrank.training.rrf_baseline import rrf_scores
from juryrank.training.solvers.linear_algebra import cross_product, product, solve, whitening_basis

NOISE = 1e-8  # a landmark whose residual given those before it is a smaller share is dropped: that is rounding
ToColumns = Callable[[Dataset], Floats]


@dataclass(frozen=True)
class Limits:
    """Limits of time and memory for fitting and scoring."""

    training_slots: int = 40_000  # of more, a sample is used, in which each slot has the weight of those it stands for
    slots_at_once: int = 5_000  # expanded: 20 MB
    cells_at_once: int = 1 << 24  # numbers of columns: 128 MB


@dataclass(frozen=True)
class Expansion:
    """A fitted model: score = x · linear + sum of coefficient × exp(-sharpness |x - landmark|²)."""

    landmarks: Floats  # [n_landmarks, n_columns]
    coefficient: Floats  # [n_landmarks]
    linear: Floats  # [n_columns]
    sharpness: float
    limits: Limits = Limits()

    def scores(self, data: Dataset, to_columns: ToColumns) -> Floats:
        """One score per slot."""
        ptr, out = data.rankings.slot_ptr, np.zeros(data.rankings.n_slots)
        across = np.ascontiguousarray(self.landmarks.T)
        for a, b, x in blocks(data, to_columns, self.limits.cells_at_once):
            here = ptr[np.searchsorted(ptr, a, side="right") - 1 : np.searchsorted(ptr, b) + 1] - a
            rbf_scores(here, x, across, self.coefficient, self.linear, float(self.sharpness), out[a:b])
        return out


@dataclass(frozen=True)
class Nystroem:
    """The settings of a fit."""

    width: float  # of the kernel, in root median distances between landmarks
    penalty: float  # in queries: it matters less with more of them
    landmarks: int
    seed: int
    limits: Limits = Limits()

    def fit(self, queries: LabelledQueries, to_columns: ToColumns) -> Expansion:
        """The least-squares fit of the square roots of the gains, inside queries."""
        rng = np.random.default_rng(self.seed)
        problem = Problem(queries, to_columns, rng, self.limits)
        distinct = np.unique(problem.x, axis=0)
        landmarks = distinct[np.sort(rng.permutation(len(distinct))[: self.landmarks])]
        between = squared_distances(landmarks, landmarks)
        apart = np.median(between[np.triu_indices(len(between), 1)]) if len(between) > 1 else 1.0
        sharpness = float(1.0 / (2.0 * self.width**2 * max(apart, NOISE)))
        chosen, basis = whitening_basis(np.exp(-sharpness * between), NOISE)
        landmarks = landmarks[chosen]
        n, n_columns = landmarks.shape
        shrunk = 1.0 / np.sqrt(n_columns)
        gram, right = np.zeros((n + n_columns, n + n_columns)), np.zeros(n + n_columns)
        for rows in problem.parts(self.limits.slots_at_once):
            part = problem.x[rows]
            kernel = product(np.exp(-sharpness * squared_distances(part, landmarks)), basis)
            z = problem.centred(rows, np.hstack([kernel, shrunk * part]))
            gram += cross_product(z, z)
            right += cross_product(z, problem.centred(rows, problem.gains[rows, None])[:, 0])
        weights = solve(gram + self.penalty * np.eye(len(gram)), right)
        return Expansion(landmarks, product(basis, weights[:n]), shrunk * weights[n:], sharpness, self.limits)


class Problem:
    """The training slots, in an order that does not depend on names: columns, gains and weights."""

    def __init__(
        self, queries: LabelledQueries, to_columns: ToColumns, rng: np.random.Generator, limits: Limits
    ) -> None:
        slots, share = sample_slots(queries, rng, limits.training_slots)
        columns = blocks(queries.data, to_columns, limits.cells_at_once)
        x = np.concatenate([x[slots[(slots >= a) & (slots < b)] - a] for a, b, x in columns])
        query, gains = parents(queries.rankings.slot_ptr)[slots], queries.gains[slots]
        order = np.lexsort((*x.T, gains, query))
        # The square root is a compromise between graded and binary relevance: metrics use either.
        self.x, self.gains = x[order], np.sqrt(gains[order])
        self.weight = (queries.weights[slots] / share)[order]
        new = np.diff(query[order], prepend=-1) > 0
        self.start, self.place = np.flatnonzero(new), np.cumsum(new) - 1  # of each query; the query of each slot
        self.scale = np.ones(len(order))
        everything = slice(0, len(order))
        squares = self.centred(everything, self.gains[:, None])[:, 0] ** 2
        spread = np.sqrt(np.add.reduceat(squares, self.start))
        self.scale = np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)[self.place]

    def parts(self, slots_at_once: int) -> Iterator[slice]:
        """The slots of some queries at a time."""
        bounds = [0]
        for end in (*self.start[1:], len(self.x)):
            if end - bounds[-1] > slots_at_once or end == len(self.x):
                bounds.append(int(end))
        return (slice(a, b) for a, b in pairwise(bounds))

    def centred(self, rows: slice, z: Floats) -> Floats:
        """Columns less their weighted mean in each query, times the square roots of the slots' weights and scales."""
        weight, place = self.weight[rows], self.place[rows] - self.place[rows.start]
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        means = np.add.reduceat(z * weight[:, None], starts) / np.add.reduceat(weight, starts)[:, None]
        centred: Floats = (z - means[place]) * np.sqrt(weight * self.scale[rows])[:, None]
        return centred


def sample_slots(queries: LabelledQueries, rng: np.random.Generator, most: int) -> tuple[Ints, Floats]:
    """At most so many training slots, up to half of them with a gain, and the share sampled of each kind."""
    r = queries.rankings
    slots = np.flatnonzero(queries.weights > 0)
    gains, share, taken = queries.gains[slots], np.ones(len(slots)), np.ones(len(slots), bool)
    if len(slots) > most:
        slots = slots[np.lexsort((rrf_scores(r)[slots], gains, parents(r.slot_ptr)[slots]))]
        gaining = queries.gains[slots] > 0
        room = min(int(gaining.sum()), max(most // 2, most - int((~gaining).sum())))
        for kind, size in ((gaining, room), (~gaining, most - room)):
            here = np.flatnonzero(kind)
            taken[here] = False
            taken[rng.choice(here, min(size, len(here)), replace=False)] = True
            share[here] = min(size, len(here)) / max(len(here), 1)
    order = np.argsort(slots[taken])
    return slots[taken][order], share[taken][order]


def blocks(data: Dataset, to_columns: ToColumns, cells_at_once: int) -> Iterator[tuple[int, int, Floats]]:
    """The columns of some queries at a time, as many as fit in memory: first slot, last slot, columns."""
    ptr = data.rankings.slot_ptr
    most = max(1, cells_at_once // (2 * max(len(data.experts), 1)))
    bounds = np.unique([0, *np.searchsorted(ptr, np.arange(most, ptr[-1], most)), len(ptr) - 1])
    for first, last in pairwise(bounds.tolist() if ptr[-1] else []):
        part = data if last - first == len(data) else data.take(np.arange(first, last))
        yield int(ptr[first]), int(ptr[last]), to_columns(part)


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Between the rows of two matrices."""
    squares: Floats = np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * product(a, b.T), 0.0)
    return squares
