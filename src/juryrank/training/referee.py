"""Referee: what a metric says of scores on queries that were not learned from."""

from __future__ import annotations

import numpy as np

from juryrank.data import Consensus
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.ragged import children
from juryrank.metrics import Truth
from juryrank.training.gains import truth_of
from juryrank.training.lessons import Lessons
from juryrank.training.target import listwise

SPLIT_FROM = 5  # labelled queries; with fewer, choices are made on the queries that were learned from


class Referee:
    """The mean of the target metric over labelled queries; of items with equal scores the worst comes first."""

    def __init__(self, lessons: Lessons, target: str) -> None:
        self.rankings, self.gains = lessons.data.rankings, lessons.gains
        self.metric = listwise(target)
        self.truth = Truth(truth_of(lessons.data, lessons.gains))

    def value(self, scores: Floats) -> float:
        """The mean over queries, higher is better."""
        place = np.empty(len(scores))
        place[np.lexsort((self.gains, -scores))] = np.arange(len(scores))
        return float(np.nanmean(self.metric.per_query(self.truth.judge(Consensus(self.rankings, -place)))))


def part(lessons: Lessons, queries: Ints) -> Lessons:
    """The lessons of some queries."""
    slots = children(lessons.data.rankings.slot_ptr, queries)
    return Lessons(lessons.data.take(queries), lessons.gains[slots], lessons.weights[slots])


def split_off(lessons: Lessons, seed: int) -> tuple[Lessons, Lessons]:
    """Lessons to learn from and a fifth to choose on; both are all of them where there are few."""
    if len(lessons) < SPLIT_FROM:
        return lessons, lessons
    order = np.random.default_rng([seed, 1]).permutation(len(lessons))
    held = np.sort(order[: len(order) // 5])
    return part(lessons, np.setdiff1d(order, held)), part(lessons, held)
