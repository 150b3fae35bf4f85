"""Ridge regression inside queries on a Gaussian kernel, approximated by landmarks, plus a linear part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats, Ints
from juryrank.errors import DataError
from juryrank.kernels.ragged import parents
from juryrank.kernels.rbf import rbf_scores
from juryrank.learners.lessons import Lessons, lessons_of
from juryrank.learners.referee import SPLIT_FROM, Referee, split_off

WIDTHS = (1.0, 2.0)  # of the kernel, in root median distances between landmarks
RIDGES = (1e-3, 3e-3, 1e-2, 3e-2)  # penalties per query
NOISE = 1e-8  # eigenvalues of the kernel below this share of the largest are rounding
ToColumns = Callable[[Dataset], Floats]


@dataclass(frozen=True)
class Expansion:
    """A fitted model: score = x · linear + sum of coefficient × exp(-sharpness |x - landmark|²)."""

    landmarks: Floats  # [n_landmarks, n_columns]
    coefficient: Floats  # [n_landmarks]
    linear: Floats  # [n_columns]
    sharpness: float

    def scores(self, x: Floats, slot_ptr: Ints) -> Floats:
        """One score per slot."""
        out = np.zeros(len(x))
        rbf_scores(slot_ptr, x, self.landmarks, self.coefficient, self.linear, float(self.sharpness), out)
        return out


@dataclass(frozen=True)
class Nystroem:
    """How an expansion is fitted: width and penalty are chosen on validation queries."""

    target: str
    landmarks: int
    seed: int
    unjudged: str
    to_columns: ToColumns

    def run(self, data: Dataset, valid: Dataset | None) -> tuple[Expansion, float, float]:
        """The fitted expansion, its width and its penalty."""
        lessons = lessons_of(data, self.unjudged)
        if not len(lessons):
            raise DataError("no query has labels that differ, so there is nothing to learn; rrf needs no labels")
        chosen_on = None if valid is None else lessons_of(valid, self.unjudged)
        if chosen_on is not None and len(chosen_on):
            return self._best(lessons, chosen_on, WIDTHS, RIDGES)
        found = self._best(*split_off(lessons, self.seed), WIDTHS, RIDGES)
        if len(lessons) < SPLIT_FROM:
            return found
        return self._best(lessons, lessons, found[1:2], found[2:])

    def _best(
        self, lessons: Lessons, chosen_on: Lessons, widths: tuple[float, ...], ridges: tuple[float, ...]
    ) -> tuple[Expansion, float, float]:
        problem = Problem(lessons, self.to_columns(lessons.data), self.landmarks, self.seed)
        x, slot_ptr = self.to_columns(chosen_on.data), chosen_on.data.rankings.slot_ptr
        referee = Referee(chosen_on, self.target)
        tried = [(e, w, r) for w in widths for e, r in zip(problem.solve(w, ridges), ridges, strict=True)]
        if len(tried) == 1:
            return tried[0]
        return max(tried, key=lambda one: referee.value(one[0].scores(x, slot_ptr)))


class Problem:
    """The slots that teach, in an order that no name can change, and the landmarks among them."""

    def __init__(self, lessons: Lessons, x: Floats, n_landmarks: int, seed: int) -> None:
        query = parents(lessons.data.rankings.slot_ptr)
        order = np.lexsort((*x.T, lessons.gains, query))
        order = order[lessons.weights[order] > 0]
        self.n, self.query, self.weight = len(lessons), query[order], lessons.weights[order]
        self.x, gains = x[order], lessons.gains[order]
        distinct = np.unique(self.x, axis=0)
        chosen = np.random.default_rng(seed).permutation(len(distinct))[:n_landmarks]
        self.landmarks = distinct[np.sort(chosen)]
        self.gains = self._centred(gains[:, None])[:, 0]
        spread = np.sqrt(np.bincount(self.query, self.weight * self.gains**2, minlength=self.n))
        self.row_weight = np.sqrt(self.weight / spread[self.query])

    def solve(self, width: float, ridges: tuple[float, ...]) -> list[Expansion]:
        """One expansion per penalty."""
        between = squared_distances(self.landmarks, self.landmarks)
        apart = np.median(between[np.triu_indices(len(between), 1)]) if len(between) > 1 else 1.0
        sharpness = float(1.0 / (2.0 * width**2 * max(apart, NOISE)))
        value, vector = np.linalg.eigh(np.exp(-sharpness * between))
        kept = value > NOISE * value[-1]
        basis = vector[:, kept] / np.sqrt(value[kept])
        shrunk = 1.0 / np.sqrt(self.x.shape[1])
        kernel = np.exp(-sharpness * squared_distances(self.x, self.landmarks)) @ basis
        z = self._centred(np.hstack([kernel, shrunk * self.x])) * self.row_weight[:, None]
        value, vector = np.linalg.eigh(z.T @ z / self.n)
        turned = vector.T @ (z.T @ (self.gains * self.row_weight)) / self.n
        found = []
        for ridge in ridges:
            weights = vector @ (turned / (np.maximum(value, 0.0) + ridge))
            n = basis.shape[1]
            found.append(Expansion(self.landmarks, basis @ weights[:n], shrunk * weights[n:], sharpness))
        return found

    def _centred(self, z: Floats) -> Floats:
        """Columns less their weighted mean in each query; every query of a lesson has rows."""
        starts = np.flatnonzero(np.diff(self.query, prepend=-1))
        total = np.add.reduceat(self.weight, starts)
        means = np.add.reduceat(z * self.weight[:, None], starts) / total[:, None]
        centred: Floats = z - means[self.query]
        return centred


def squared_distances(a: Floats, b: Floats) -> Floats:
    """Between the rows of two matrices."""
    found: Floats = np.maximum((a * a).sum(1)[:, None] + (b * b).sum(1) - 2.0 * a @ b.T, 0.0)
    return found
