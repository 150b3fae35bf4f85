"""Ridge regression inside queries on a Gaussian kernel, approximated by landmarks, plus a linear part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.dense import rbf_features, rbf_scores
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.linear_algebra import cross_product, gram_matrix, independent_points, product, solve
from juryrank.learning.per_query import sum_by_query

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
        chosen = independent_points(np.exp(-sharpness * between), NOISE)
        landmarks = landmarks[chosen]
        n, n_columns = landmarks.shape
        linear = 1.0 / np.sqrt(n_columns)
        penalty = np.eye(n + n_columns)  # of a function of the kernel's space: its norm there
        penalty[:n, :n] = np.exp(-sharpness * between[np.ix_(chosen, chosen)])
        gram, right = problem.normal_equations(np.ascontiguousarray(landmarks.T), sharpness, linear)
        weights = solve(gram + self.penalty * penalty, right)
        return Expansion(landmarks, weights[:n], linear * weights[n:], sharpness, self.limits)


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
        self.x, gains = x[order], np.sqrt(gains[order])
        self.weight = (queries.weights[slots] / share)[order]
        self.row_ptr = sizes_to_ptr(np.unique(query, return_counts=True)[1])
        self.slots_at_once = limits.slots_at_once
        place = parents(self.row_ptr)
        mean = sum_by_query(self.row_ptr, self.weight * gains) / sum_by_query(self.row_ptr, self.weight)
        centred = (gains - mean[place]) * np.sqrt(self.weight)
        spread = np.sqrt(sum_by_query(self.row_ptr, centred**2))
        self.scale = np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)  # of each query
        self.target = centred * np.sqrt(self.scale)[place]

    def normal_equations(self, landmarks: Floats, sharpness: float, linear: float) -> tuple[Floats, Floats]:
        """The Gram matrix of the features of ``rbf_features``, and their products with the target."""
        width = sum(landmarks.shape)
        gram, right = np.zeros((width, width)), np.zeros(width)
        for first, last in pairwise(self._parts()):
            ptr = self.row_ptr[first : last + 1]
            rows = slice(ptr[0], ptr[-1])
            z = np.empty((ptr[-1] - ptr[0], width))
            rbf_features(
                ptr - ptr[0], self.x[rows], landmarks, sharpness, linear, self.weight[rows], self.scale[first:last], z
            )  # fmt: skip
            gram += gram_matrix(z)
            right += cross_product(z, self.target[rows])
        return gram, right

    def _parts(self) -> list[int]:
        """Offsets of parts of the queries, of about ``slots_at_once`` slots each."""
        bounds = [0]
        for query, end in enumerate(self.row_ptr[1:], 1):
            if end - self.row_ptr[bounds[-1]] > self.slots_at_once or query == len(self.scale):
                bounds.append(query)
        return bounds


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
