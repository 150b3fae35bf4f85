"""Methods trained by passes (epochs) over the labelled queries; the best passes are chosen on validation queries."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import ClassVar, Protocol

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.target import Target, check_truth, target_param
from juryrank.learning.validation import FEWEST_TO_SPLIT, PessimisticValidation, split_validation
from juryrank.methods.learned._base import GroupedExperts
from juryrank.methods.learned.sparse_rows import SparseRows
from juryrank.methods.learned_fields import Array, ListOf, Names, Number, Sizes, learned
from juryrank.params import param

AVERAGED = 5  # best passes whose weights are averaged: a single one overfits the validation queries
ToRows = Callable[[Rankings], SparseRows]


class Learner(Protocol):
    """Learns from rows by passes over queries."""

    @property
    def fan(self) -> int:
        """The number of units connected to each value of a row; the weights of the rows come first."""

    def start(self, rows: SparseRows, rng: np.random.Generator) -> Floats:
        """The initial weights."""

    def epoch(self, rows: SparseRows, target: Target, rng: np.random.Generator, weights: Floats) -> None:
        """One pass, which updates ``weights``."""

    def scores(self, rows: SparseRows, slot_ptr: Ints, weights: Floats) -> Floats:
        """One score per slot."""


@dataclass(frozen=True)
class TrainedWeights:
    """The mean of the weights after the best passes, and the numbers of these passes."""

    weights: Floats
    passes: tuple[int, ...]


@dataclass(frozen=True)
class Training:
    """The settings of training: the metric, the passes, the seed, and the conversion of lists to rows."""

    learner: Learner
    target: str
    epochs: int
    seed: int
    unjudged: str
    to_rows: ToRows
    scaled: bool = True  # whether the values of rows are first divided by their root mean square

    def run(self, queries: LabelledQueries, valid: Dataset | None) -> TrainedWeights:
        """Train on the queries and choose passes on ``valid``; without it, on a fifth of them, then train on all."""
        validation = None if valid is None else LabelledQueries.of(valid, self.unjudged)
        if validation is not None and len(validation):
            return self._descend(queries, validation)
        if len(queries) < FEWEST_TO_SPLIT:
            return self._descend(queries, queries)
        best = self._descend(*split_validation(queries, self.seed))
        return self._descend(queries, passes=best.passes)

    def _descend(
        self, queries: LabelledQueries, validation: LabelledQueries | None = None, passes: tuple[int, ...] = ()
    ) -> TrainedWeights:
        """Train on the queries; the passes are the best on the validation queries, or those given."""
        rng = np.random.default_rng(self.seed)
        rows = self.to_rows(queries.rankings)
        scale = rows.scale() if self.scaled else np.ones(rows.width)
        rows = rows.divide(scale)
        weights = self.learner.start(rows, rng)
        rows, target = self._sorted_rows(queries, rows, weights)
        monitor = None if validation is None else Monitor(self, validation, scale)
        best: list[tuple[float, int, Floats]] = []
        for epoch in range(1, max(passes, default=self.epochs) + 1):
            self.learner.epoch(rows, target, rng, weights)
            if monitor is not None or epoch in passes:
                value = 0.0 if monitor is None else monitor.value(weights)
                best = sorted([*best, (-value, epoch, weights.copy())], key=itemgetter(0, 1))[:AVERAGED]
        mean = np.mean([weights for _, _, weights in best], axis=0)
        return TrainedWeights(unscale(mean, rows, scale, self.learner.fan), tuple(epoch for _, epoch, _ in best))

    def _sorted_rows(self, queries: LabelledQueries, rows: SparseRows, weights: Floats) -> tuple[SparseRows, Target]:
        """The slots in use, in an order that does not depend on names: lowest gain first, then by the first score."""
        slot_ptr = queries.rankings.slot_ptr
        query, score = parents(slot_ptr), self.learner.scores(rows, slot_ptr, weights)
        slots = np.lexsort((score, queries.gains, query))
        slots = slots[queries.weights[slots] > 0]
        ptr = sizes_to_ptr(np.bincount(query[slots], minlength=len(queries)))
        return rows.take(slots), Target.of(self.target, ptr, queries.gains[slots])


class Monitor:
    """The value of weights on the validation queries."""

    def __init__(self, training: Training, queries: LabelledQueries, scale: Floats) -> None:
        self.learner, self.slot_ptr = training.learner, queries.rankings.slot_ptr
        self.rows = training.to_rows(queries.rankings).divide(scale)
        self.validation = PessimisticValidation(queries, training.target)

    def value(self, weights: Floats) -> float:
        """The mean of the target metric."""
        return self.validation.mean(self.learner.scores(self.rows, self.slot_ptr, weights))


def unscale(weights: Floats, rows: SparseRows, scale: Floats, fan: int) -> Floats:
    """The weights for rows that are not divided by ``scale``; a last column without rows gets the experts' mean."""
    out = weights.copy()
    first = out[: rows.n_columns * rows.width * fan].reshape(rows.n_columns, rows.width, fan)
    first /= scale[:, None]
    if rows.n_columns > 1 and not (rows.column == rows.n_columns - 1).any():
        first[-1] = first[:-1].mean(axis=0)
    return out


@dataclass(kw_only=True)
class EpochTrained(GroupedExperts):
    """Score = a net over values of the item's entries in the lists; the passes are chosen on validation queries."""

    scaled: ClassVar[bool] = True
    weighted: ClassVar[bool] = True  # whether values of entries are multiplied by the weights of their lists

    target: str = target_param()  # type: ignore[misc]
    epochs: int = param(100, "passes over the labelled queries", at_least=1)
    seed: int = param(0, "random seed of the order of the queries and of the initial weights", at_least=0)

    experts_: list[str] = learned(Names("experts"))  # with weights of their own, in the order of these
    weights_: Floats = learned(Array("weights"))
    passes_: list[int] = learned(ListOf(Number(whole=True, at_least=1)))  # best on the validation queries, best first

    def experts_seen(self) -> frozenset[str]:
        """The experts with weights of their own; none where weights are shared."""
        return frozenset(self.experts_) if self.experts == "individual" else frozenset()

    @abstractmethod
    def _values(self, rankings: Rankings, groups: ExpertGroups) -> Floats:
        """The values of each entry of a list: vectors of one length."""

    @abstractmethod
    def _n_weights(self) -> int:
        """How many weights the learner has, for the experts with weights of their own and one more."""

    def _sizes(self) -> Sizes:
        return {"weights": self._n_weights()}

    @abstractmethod
    def _learner(self) -> Learner:
        """The learner of the weights."""

    def _rows(self, rankings: Rankings, groups: ExpertGroups) -> SparseRows:
        values = self._values(rankings, groups)
        return SparseRows.of_entries(rankings, groups, values, weighted=self.weighted)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        check_truth(self.name, self.target, data)
        queries = LabelledQueries.of(data, self.unjudged).require(self.name, data)
        groups = ExpertGroups.choose(queries.rankings, self.experts, self.threshold, self.threshold_of)
        training = Training(
            learner=self._learner(),
            target=self.target,
            epochs=self.epochs,
            seed=self.seed,
            unjudged=self.unjudged,
            to_rows=lambda rankings: self._rows(rankings, groups),
            scaled=self.scaled,
        )
        best = training.run(queries, valid)
        self.experts_, self.weights_, self.passes_ = list(groups.names), best.weights, list(best.passes)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        rows = self._rows(rankings, ExpertGroups(tuple(self.experts_)))
        out += self._learner().scores(rows, rankings.slot_ptr, self.weights_)
