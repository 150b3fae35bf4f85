"""Methods that learn a curve over positions for every expert, from statistics that add up."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from juryrank.data import Consensus, Dataset, Rankings, as_dataset
from juryrank.data.rankings import Floats, Ints
from juryrank.errors import ParameterError
from juryrank.methods.base import Aggregator, others_key
from juryrank.methods.learned_fields import Array, Names, Number, Sizes, learned
from juryrank.methods.points import PositionPoints
from juryrank.metrics import Truth, parse_metric
from juryrank.params import param
from juryrank.training.gains import truth_of
from juryrank.training.lessons import Lessons, lessons_of, lessons_or_error, rrf_scores, sum_of_points
from juryrank.training.panel import Panel, experts_param, heard, threshold_param
from juryrank.training.position_curves import Solver, Statistics, Tally, learned_curves


def unjudged_param() -> Any:
    """The parameter ``unjudged``, the same wherever labels teach."""
    doc = "irrelevant: an unjudged item has label 0, and counts less the lower RRF has it; ignore: it says nothing"
    return param("irrelevant", doc, choices=("irrelevant", "ignore"))


@dataclass(kw_only=True)
class Curves(Aggregator):
    """Score = sum over the experts that ranked the item of a learned curve at its rank."""

    supervised = True
    n_curves: ClassVar[int]
    curve_names: ClassVar[tuple[str, ...]]

    experts: str = experts_param()
    threshold: int = threshold_param()
    unjudged: str = unjudged_param()
    target: str = param("nDCG@10", "the metric by which left-out queries are compared with RRF")  # type: ignore[misc]

    own_: list[str] = learned(Names("own"))  # experts with a curve of their own
    pooled_: list[str] = learned(Names("pooled"))  # experts who share one
    curves_: Floats = learned(Array("own", "curves"))
    stranger_: Floats = learned(Array("curves"))  # for pooled and unknown experts
    n_queries_: int = learned(Number(whole=True, at_least=0))  # that taught something
    seen_: Ints = learned(Array("experts", whole=True, at_least=0))  # queries with a list of each expert
    gram_: Floats = learned(Array("triangle"))  # upper triangle of the sum of Gram matrices
    held_out_: Floats = learned(Array(5))  # queries left out: count, sum of gain, of gain², of own metric, of RRF's

    def _sizes(self) -> Sizes:
        width = (len(self.own_) + bool(self.pooled_)) * self.n_curves + 1
        sizes = {"curves": self.n_curves, "experts": len(self.own_) + len(self.pooled_)}
        return {**sizes, "triangle": width * (width + 1) // 2}

    def _fault(self) -> str | None:
        if fault := super()._fault():
            return fault
        both = sorted(set(self.own_) & set(self.pooled_))
        return f"own_ and pooled_ must not share names, found {both[0]!r} in both" if both else None

    @abstractmethod
    def _solver(self) -> Solver:
        """What turns the statistics into curves."""

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        lessons = lessons_or_error(self.name, data, self.unjudged)
        own, pooled = self._sharing(lessons)
        self._add(lessons, Statistics.empty(self.n_curves, own, pooled), Statistics.empty(self.n_curves), np.zeros(5))

    def partial_fit(self, data: Dataset | Rankings, y: object = None) -> Self:
        """Learn from more labelled queries; the same as one fit of all, if each query is given once.

        Left-out values of earlier queries stay as they were. With ``hybrid``, new experts are pooled.
        """
        if not self.is_fitted:
            return self.fit(data)
        lessons = lessons_of(as_dataset(data), self.unjudged)
        known = set(self.own_)
        own, pooled = self._sharing(lessons)
        if self.experts == "hybrid":
            present = [*own, *pooled]
            own, pooled = [e for e in present if e in known], [e for e in present if e not in known]
        self._add(lessons, Statistics.empty(self.n_curves, own, pooled), self._statistics(), self.held_out_)
        return self

    def merge(self, other: Self) -> Self:
        """A model of the queries of both, as if fitted on all of them; they may know different experts."""
        if type(other) is not type(self) or other.params() != self.params():
            raise ParameterError(f"only models of {self.name} with the same parameters can be merged")
        merged = copy(self)
        merged._keep(self._statistics().plus(other._statistics()), self.held_out_ + other.held_out_)
        return merged

    def report(self) -> str:
        """What was learned, and what the left-out queries say about it."""
        n_experts, n_queries = len(self.own_) + len(self.pooled_), self.n_queries_
        told = f"{self.name}: learned from {n_queries} queries and {n_experts} experts. "
        count, gain, error = self.gain_over_rrf()
        if count < 2:
            return told + "Too few queries to leave one out and look how good it is."
        own, rrf = self.held_out_[3:] / count
        means = f"{self.target} {own:.4f}, RRF {rrf:.4f}"
        return told + f"On queries left out: {means}, gain {gain:+.4f} ± {error:.4f} (standard error)."

    def gain_over_rrf(self) -> tuple[int, float, float]:
        """How many queries were left out, and the gain of the target metric over RRF there: mean, standard error.

        The mean is NaN without such queries, the error with fewer than two.
        """
        n, total, squares = int(self.held_out_[0]), float(self.held_out_[1]), float(self.held_out_[2])
        if not n:
            return 0, np.nan, np.nan
        variance = max(squares - total**2 / n, 0.0) / (n - 1) if n > 1 else np.nan
        return n, total / n, float(np.sqrt(variance / n))

    def as_points(self) -> PositionPoints:
        """The curve of each expert at each rank."""
        return PositionPoints(("rank",), self._points)

    def _points(self, expert: str, ranks: Floats) -> Floats:
        curve = self.curves_[self.own_.index(expert)] if expert in self.own_ else self.stranger_
        points: Floats = (self._solver().curves(np.asarray(ranks, np.float64)) * curve).sum(axis=1)  # as in _scores
        return points

    def experts_seen(self) -> frozenset[str]:
        """All experts of the lessons; none where everybody shares one curve."""
        return frozenset() if self.experts == "shared" else frozenset((*self.own_, *self.pooled_))

    @property
    def others_key(self) -> str:
        return others_key((*self.own_, *self.pooled_))

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """The weights of each expert's curves; those of pooled and unknown experts under ``others_key``."""
        rows = zip([*self.own_, self.others_key], np.vstack([self.curves_, self.stranger_]).tolist(), strict=True)
        return {name: dict(zip(self.curve_names, row, strict=True)) for name, row in rows}

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        curve = np.vstack([self.curves_, self.stranger_])[r.places_in(self.own_)]  # -1 is the stranger
        by_entry = np.repeat(curve[r.list_expert], r.list_size, axis=0)
        out += sum_of_points(r, (self._solver().curves(r.entry_rank) * by_entry).sum(axis=1))

    def _sharing(self, lessons: Lessons) -> tuple[list[str], list[str]]:
        """The experts of the lessons: those with columns of their own, and the pooled."""
        r = lessons.data.rankings
        own = Panel.choose(r, self.experts, self.threshold).names
        present = [name for name, found in zip(r.experts, heard(r), strict=True) if found]
        return list(own), [name for name in present if name not in set(own)]

    def _add(self, lessons: Lessons, layout: Statistics, before: Statistics, held_out: Floats) -> None:
        """Add the lessons to what was known before, and compare with RRF on each of them left out."""
        solver = self._solver()
        if len(lessons):
            tally = Tally(lessons, solver, before.bare().plus(layout))
            before = before.plus(tally.total())
            held_out = held_out + self._compared(lessons, tally.held_out_scores(before, solver))
        self._keep(before, held_out)

    def _compared(self, lessons: Lessons, scores: Floats) -> Floats:
        """Count, gain over RRF, its square, own metric and RRF's, summed over the queries of the lessons."""
        truth, r = Truth(truth_of(lessons.data, lessons.gains)), lessons.data.rankings
        metric = parse_metric(self.target)
        own, rrf = (metric.per_query(truth.judge(Consensus(r, s))) for s in (scores, rrf_scores(r)))
        known = ~np.isnan(own - rrf)
        gain = (own - rrf)[known]
        return np.array([len(gain), gain.sum(), (gain**2).sum(), own[known].sum(), rrf[known].sum()])

    def _keep(self, whole: Statistics, held_out: Floats) -> None:
        curves, unknown = learned_curves(whole, self._solver())
        self.own_, self.pooled_ = list(whole.own), list(whole.pooled)
        self.curves_, self.stranger_ = curves, unknown
        self.n_queries_, self.seen_ = whole.n_queries, whole.seen
        self.gram_ = whole.gram[np.triu_indices(len(whole.gram))]
        self.held_out_ = held_out

    def _statistics(self) -> Statistics:
        width = (len(self.own_) + bool(self.pooled_)) * len(self.stranger_) + 1
        gram = np.zeros((width, width))
        gram[np.triu_indices(width)] = self.gram_
        gram += np.triu(gram, 1).T
        return Statistics(
            own=tuple(self.own_), pooled=tuple(self.pooled_), seen=self.seen_, n_queries=self.n_queries_, gram=gram
        )
