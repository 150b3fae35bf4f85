"""Pass after pass over the labelled queries, and the pass chosen on others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.training.lessons import Lessons, lessons_of
from juryrank.training.referee import SPLIT_FROM, Referee, split_off
from juryrank.training.rows import Rows
from juryrank.training.target import Target

KEPT = 5  # passes whose weights are averaged: one alone is the luckiest on the validation queries
ToRows = Callable[[Rankings], Rows]


class Learner(Protocol):
    """What learns from rows by passes over queries."""

    @property
    def fan(self) -> int:
        """How many units each value of a row feeds; the weights of the rows come first."""

    def start(self, rows: Rows, rng: np.random.Generator) -> Floats:
        """The first weights."""

    def epoch(self, rows: Rows, target: Target, rng: np.random.Generator, weights: Floats) -> float:
        """One pass, which moves ``weights``."""

    def scores(self, rows: Rows, slot_ptr: Ints, weights: Floats) -> Floats:
        """One score per slot."""


@dataclass(frozen=True)
class Trained:
    """The mean of the weights after the best passes, and the numbers of these."""

    weights: Floats
    passes: tuple[int, ...]


@dataclass(frozen=True)
class Training:
    """How a learner is trained: the metric, the passes, the seed, and how lists become rows."""

    learner: Learner
    target: str
    epochs: int
    seed: int
    unjudged: str
    to_rows: ToRows
    scaled: bool = True  # whether the values of rows are first divided by their root mean square

    def run(self, lessons: Lessons, valid: Dataset | None) -> Trained:
        """Train on the lessons, choose passes on ``valid``; without it, on a fifth of the queries, and train on all."""
        chosen_on = None if valid is None else lessons_of(valid, self.unjudged)
        if chosen_on is not None and len(chosen_on):
            return self._descend(lessons, chosen_on)
        if len(lessons) < SPLIT_FROM:
            return self._descend(lessons, lessons)
        best = self._descend(*split_off(lessons, self.seed))
        return self._descend(lessons, passes=best.passes)

    def _descend(self, lessons: Lessons, chosen_on: Lessons | None = None, passes: tuple[int, ...] = ()) -> Trained:
        """Learn from the lessons; the passes are those that are best on other lessons, or known from before."""
        rng = np.random.default_rng(self.seed)
        rows = self.to_rows(lessons.data.rankings)
        scale = rows.scale() if self.scaled else np.ones(rows.width)
        rows = rows.divided(scale)
        weights = self.learner.start(rows, rng)
        rows, target = self._lined_up(lessons, rows, weights)
        watch = None if chosen_on is None else Watch(self, chosen_on, scale)
        best: list[tuple[float, int, Floats]] = []
        for epoch in range(1, max(passes, default=self.epochs) + 1):
            self.learner.epoch(rows, target, rng, weights)
            if watch is not None or epoch in passes:
                value = 0.0 if watch is None else watch.value(weights)
                best = sorted([*best, (-value, epoch, weights.copy())], key=itemgetter(0, 1))[:KEPT]
        mean = np.mean([kept for _, _, kept in best], axis=0)
        return Trained(of_raw_rows(mean, rows, scale, self.learner.fan), tuple(epoch for _, epoch, _ in best))

    def _lined_up(self, lessons: Lessons, rows: Rows, weights: Floats) -> tuple[Rows, Target]:
        """The slots that teach, in an order that no name can change: lowest gain first, then by the first score."""
        slot_ptr = lessons.data.rankings.slot_ptr
        query, score = parents(slot_ptr), self.learner.scores(rows, slot_ptr, weights)
        slots = np.lexsort((score, lessons.gains, query))
        slots = slots[lessons.weights[slots] > 0]
        ptr = sizes_to_ptr(np.bincount(query[slots], minlength=len(lessons)))
        return rows.take(slots), Target.of(self.target, ptr, lessons.gains[slots])


class Watch:
    """The value of weights on the validation queries."""

    def __init__(self, training: Training, lessons: Lessons, scale: Floats) -> None:
        self.learner, self.slot_ptr = training.learner, lessons.data.rankings.slot_ptr
        self.rows = training.to_rows(lessons.data.rankings).divided(scale)
        self.referee = Referee(lessons, training.target)

    def value(self, weights: Floats) -> float:
        """The mean of the target metric."""
        return self.referee.value(self.learner.scores(self.rows, self.slot_ptr, weights))


def of_raw_rows(weights: Floats, rows: Rows, scale: Floats, fan: int) -> Floats:
    """Weights for rows before they were divided by ``scale``; a last column that had no rows gets the experts' mean."""
    out = weights.copy()
    first = out[: rows.n_columns * rows.width * fan].reshape(rows.n_columns, rows.width, fan)
    first /= scale[:, None]
    if rows.n_columns > 1 and not (rows.column == rows.n_columns - 1).any():
        first[-1] = first[:-1].mean(axis=0)
    return out
