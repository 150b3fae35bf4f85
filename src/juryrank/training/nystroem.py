"""Ridge regression inside queries on a Gaussian kernel, approximated by landmarks, plus a linear part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.kernels.rbf import rbf_scores
from juryrank.training.dense import cross_product, product, solved, whitened
from juryrank.training.lessons import Lessons, rrf_scores

NOISE = 1e-8  # what the landmarks before it leave of a landmark is rounding below this share
MOST = 40_000  # slots that teach; of more, those without a gain are sampled, and count for those left out
AT_ONCE = 5_000  # slots expanded at once: 20 MB
CELLS_AT_ONCE = 1 << 24  # numbers of columns held at once: 128 MB
ToColumns = Callable[[Dataset], Floats]


@dataclass(frozen=True)
class Expansion:
    """A fitted model: score = x · linear + sum of coefficient × exp(-sharpness |x - landmark|²)."""

    landmarks: Floats  # [n_landmarks, n_columns]
    coefficient: Floats  # [n_landmarks]
    linear: Floats  # [n_columns]
    sharpness: float

    def scores(self, data: Dataset, to_columns: ToColumns) -> Floats:
        """One score per slot."""
        ptr, out = data.rankings.slot_ptr, np.zeros(data.rankings.n_slots)
        across = np.ascontiguousarray(self.landmarks.T)
        for a, b, x in blocks(data, to_columns):
            here = ptr[np.searchsorted(ptr, a, side="right") - 1 : np.searchsorted(ptr, b) + 1] - a
            rbf_scores(here, x, across, self.coefficient, self.linear, float(self.sharpness), out[a:b])
        return out


@dataclass(frozen=True)
class Nystroem:
    """How an expansion is fitted."""

    width: float  # of the kernel, in root median distances between landmarks
    penalty: float  # in queries: its influence fades as these come in
    landmarks: int
    seed: int

    def fit(self, lessons: Lessons, to_columns: ToColumns) -> Expansion:
        """The expansion whose scores are closest to the roots of the gains, inside queries."""
        rng = np.random.default_rng(self.seed)
        problem = Problem(lessons, to_columns, rng)
        distinct = np.unique(problem.x, axis=0)
        landmarks = distinct[np.sort(rng.permutation(len(distinct))[: self.landmarks])]
        between = squared_distances(landmarks, landmarks)
        apart = np.median(between[np.triu_indices(len(between), 1)]) if len(between) > 1 else 1.0
        sharpness = float(1.0 / (2.0 * self.width**2 * max(apart, NOISE)))
        chosen, basis = whitened(np.exp(-sharpness * between), NOISE)
        landmarks = landmarks[chosen]
        n, n_columns = landmarks.shape
        shrunk = 1.0 / np.sqrt(n_columns)
        gram, right = np.zeros((n + n_columns, n + n_columns)), np.zeros(n + n_columns)
        for rows in problem.parts():
            part = problem.x[rows]
            kernel = product(np.exp(-sharpness * squared_distances(part, landmarks)), basis)
            z = problem.centred(rows, np.hstack([kernel, shrunk * part]))
            gram += cross_product(z, z)
            right += cross_product(z, problem.centred(rows, problem.gains[rows, None])[:, 0])
        weights = solved(gram + self.penalty * np.eye(len(gram)), right)
        return Expansion(landmarks, product(basis, weights[:n]), shrunk * weights[n:], sharpness)


class Problem:
    """The slots that teach, in an order that no name can change: what is known of them, and their gains."""

    def __init__(self, lessons: Lessons, to_columns: ToColumns, rng: np.random.Generator) -> None:
        slots, share = sampled(lessons, rng)
        x = np.concatenate([x[slots[(slots >= a) & (slots < b)] - a] for a, b, x in blocks(lessons.data, to_columns)])
        query, gains = parents(lessons.data.rankings.slot_ptr)[slots], lessons.gains[slots]
        order = np.lexsort((*x.T, gains, query))
        # Between a grade and relevant or not: both matter, and metrics ask for either.
        self.x, self.gains = x[order], np.sqrt(gains[order])
        self.weight = (lessons.weights[slots] / share)[order]
        new = np.diff(query[order], prepend=-1) > 0
        self.start, self.place = np.flatnonzero(new), np.cumsum(new) - 1  # of each query; the query of each slot
        self.scale = np.ones(len(order))
        everything = slice(0, len(order))
        squares = self.centred(everything, self.gains[:, None])[:, 0] ** 2
        spread = np.sqrt(np.add.reduceat(squares, self.start))
        self.scale = np.divide(1.0, spread, out=np.zeros(len(spread)), where=spread > 0)[self.place]

    def parts(self) -> Iterator[slice]:
        """The slots of some queries at a time."""
        bounds = [0]
        for end in (*self.start[1:], len(self.x)):
            if end - bounds[-1] > AT_ONCE or end == len(self.x):
                bounds.append(int(end))
        return (slice(a, b) for a, b in pairwise(bounds))

    def centred(self, rows: slice, z: Floats) -> Floats:
        """Columns less their weighted mean in each query, times the roots of the slots' weights over the spread."""
        weight, place = self.weight[rows], self.place[rows] - self.place[rows.start]
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        means = np.add.reduceat(z * weight[:, None], starts) / np.add.reduceat(weight, starts)[:, None]
        centred: Floats = (z - means[place]) * np.sqrt(weight * self.scale[rows])[:, None]
        return centred


def sampled(lessons: Lessons, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """At most ``MOST`` slots that teach, up to half of them with a gain, and the share taken of each kind."""
    r = lessons.data.rankings
    slots = np.flatnonzero(lessons.weights > 0)
    gains, share, taken = lessons.gains[slots], np.ones(len(slots)), np.ones(len(slots), bool)
    if len(slots) > MOST:
        slots = slots[np.lexsort((rrf_scores(r)[slots], gains, parents(r.slot_ptr)[slots]))]
        gaining = lessons.gains[slots] > 0
        room = min(int(gaining.sum()), max(MOST // 2, MOST - int((~gaining).sum())))
        for kind, most in ((gaining, room), (~gaining, MOST - room)):
            here = np.flatnonzero(kind)
            taken[here] = False
            taken[rng.choice(here, min(most, len(here)), replace=False)] = True
            share[here] = min(most, len(here)) / max(len(here), 1)
    order = np.argsort(slots[taken])
    return slots[taken][order], share[taken][order]


def blocks(data: Dataset, to_columns: ToColumns) -> Iterator[tuple[int, int, Floats]]:
    """The columns of some queries at a time, as many as fit in memory: first slot, last slot, columns."""
    ptr = data.rankings.slot_ptr
    most = max(1, CELLS_AT_ONCE // (2 * max(len(data.experts), 1)))
    bounds = np.unique([0, *np.searchsorted(ptr, np.arange(most, ptr[-1], most)), len(ptr) - 1])
    for first, last in pairwise(bounds.tolist() if ptr[-1] else []):
        part = data if last - first == len(data) else data.take(np.arange(first, last))
        yield int(ptr[first]), int(ptr[last]), to_columns(part)


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Between the rows of two matrices."""
    found: Floats = np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * product(a, b.T), 0.0)
    return found
