"""Methods that learn a curve over positions for every expert, from statistics that can be added."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import astuple, dataclass
from typing import Any, ClassVar, Self

import numpy as np

from juryrank.data import Consensus, Dataset, Rankings, as_dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import ParameterError, warn_about_data
from juryrank.learning.baseline import sum_of_points
from juryrank.learning.curves import QueryParts, Solver, Statistics, solve_curves
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.learning.held_out import EXPERTS, HeldOutValues
from juryrank.learning.label_survey import LabelSurvey, Treatment
from juryrank.learning.labelled import AUTO, LabelledQueries
from juryrank.learning.verdict import Verdict
from juryrank.methods.formula import Formula
from juryrank.methods.learned._base import GroupedExperts
from juryrank.methods.learned_fields import Array, Names, Number, Sizes, learned
from juryrank.methods.weighting import others_key
from juryrank.metrics import parse_metric
from juryrank.params import param

NO_VERDICT = "No verdict: the model is of an earlier version, which did not evaluate single experts; fit it again."


@dataclass(kw_only=True)
class PositionCurves(GroupedExperts):
    """Score = sum over the experts that ranked the item of a learned curve at its rank."""

    validates = False
    uses_label_weights = True
    curve_names: ClassVar[tuple[str, ...]]

    target: str = param("nDCG@10", "metric for the held-out gain over RRF")  # type: ignore[misc]

    own_: list[str] = learned(Names("own"))  # experts with a curve of their own
    pooled_: list[str] = learned(Names("pooled"))  # experts that share one
    curves_: Floats = learned(Array("own", "curves"))
    stranger_: Floats = learned(Array("curves"))  # for pooled and unknown experts
    n_queries_: int = learned(Number(whole=True, at_least=0))  # learned from
    seen_: Ints = learned(Array("experts", whole=True, at_least=0))  # queries with a list of each expert
    gram_: Floats = learned(Array("triangle"))  # upper triangle of the sum of Gram matrices
    labels_: Ints = learned(Array(4, whole=True, at_least=0))  # LabelSurvey.counts of all that was given to fit
    treatment_: Floats = learned(Array(2, at_least=0, at_most=1))  # with unjudged="auto": complete, positives only
    fill_: Floats = learned(Array(2, at_least=0))  # shares of filled ranks, summed over the lists; number of lists
    held_out_: Floats = learned(Array(5))  # held-out queries: count, sum of gain, of gain², of own metric, of RRF's
    row_counts_: Floats = learned(Array("rows", above=0))  # held-out queries of each row of row_values_
    row_values_: Floats = learned(Array("rows", "alternatives"))  # target metric of the model, of RRF, of each expert
    judged_: Floats = learned(Array("alternatives", at_least=0))  # Judged@10 of the same, summed over these queries
    condensed_: int = learned(Number(whole=True, at_least=0))  # of these queries, those with values of condensed lists

    @property
    def n_curves(self) -> int:
        """How many curves ``fit`` gives to each expert."""
        return len(self.curve_names)

    def _sizes(self) -> Sizes:
        width = (len(self.own_) + bool(self.pooled_)) * self.n_curves + 1
        sizes = {"curves": self.n_curves, "experts": len(self.own_) + len(self.pooled_)}
        return {**sizes, "triangle": width * (width + 1) // 2, "alternatives": EXPERTS + sizes["experts"]}

    @classmethod
    def _complete(cls, learned: Mapping[str, Any]) -> Mapping[str, Any]:
        """Models of earlier versions have no values of single experts, and counted neither labels nor filled ranks."""
        names = [name for key in ("own_", "pooled_") if isinstance(names := learned.get(key), list) for name in names]
        none = HeldOutValues.empty(names)
        rows = {"row_counts_": none.counts, "row_values_": none.values, "judged_": none.judged}
        unknown = {"labels_": LabelSurvey().counts, "treatment_": np.zeros(2), "fill_": np.zeros(2)}
        return {**unknown, "condensed_": 0, **rows, **learned}

    def _fault(self) -> str | None:
        if fault := super()._fault():
            return fault
        both = sorted(set(self.own_) & set(self.pooled_))
        return f"own_ and pooled_ must not share names, found {both[0]!r} in both" if both else None

    @abstractmethod
    def _solver(self) -> Solver:
        """Turns the statistics into curves."""

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self._count_labels(LabelSurvey.of(data))
        queries = LabelledQueries.of(data, self.unjudged, self.treatment).require(self.name, data)
        own, pooled = self._own_and_pooled(queries)
        layout = Statistics.empty(self.n_curves, own, pooled)
        self._add(queries, layout, Statistics.empty(self.n_curves), np.zeros(5), HeldOutValues.empty(()))

    def partial_fit(self, data: Dataset | Rankings, y: object = None) -> Self:
        """Learn from more labelled queries; the same as one fit of all, if each query is given once.

        With ``unjudged="auto"``, the kind of labels of the first fit decides about the weights of items, and all labels
        about ``shrink``. Held-out values of earlier queries stay as they are; with ``hybrid``, new experts are pooled.
        """
        if not self.is_fitted:
            return self.fit(data)
        self._check_curves()
        data = as_dataset(data)
        survey = LabelSurvey.of(data)
        treatment = self.treatment if self.survey.n_labels else survey.treatment
        queries = LabelledQueries.of(data, self.unjudged, treatment)
        self._count_labels(self.survey.add(survey), treatment)
        known = set(self.own_)
        own, pooled = self._own_and_pooled(queries)
        if self.experts == "hybrid":
            present = [*own, *pooled]
            own, pooled = [e for e in present if e in known], [e for e in present if e not in known]
        layout = Statistics.empty(self.n_curves, own, pooled)
        self._add(queries, layout, self._statistics(), self.held_out_, self._held_out_values())
        return self

    def merge(self, other: Self) -> Self:
        """A model of the queries of both, as if fitted on all of them; they may know different experts.

        With ``unjudged="auto"`` and labels of different kinds, the items of each keep their weights, with a warning.
        """
        if type(other) is not type(self) or other.params() != self.params():
            raise ParameterError(f"only models of {self.name} with the same parameters can be merged")
        self._check_curves()
        other._check_curves()
        merged = copy(self)
        merged._count_labels(self.survey.add(other.survey), self._treatment_with(other))
        whole = self._statistics().add(other._statistics())
        rows = self._held_out_values().add(other._held_out_values(), whole.names)
        merged._set_learned(whole, self.held_out_ + other.held_out_, rows)
        return merged

    def _check_curves(self) -> None:
        if len(self.stranger_) != self.n_curves:
            raise ParameterError(f"the parameters of {self.name} that choose its curves have changed; call fit(data)")

    def verdict(self) -> Verdict | None:
        """Use the model, stay with RRF, or use one expert alone; None if the model was saved by an earlier version."""
        if len(self.row_counts_) < 1 <= self.held_out_[0]:
            return None
        return self._held_out_values().verdict(self.name, self.target, self.survey.kind)

    def report(self) -> str:
        """How much was learned from, the held-out gain over RRF, and the verdict."""
        verdict = self.verdict()
        return f"{self._summary()}\n{NO_VERDICT if verdict is None else verdict.text}"

    def _summary(self) -> str:
        n_experts, n_queries = len(self.own_) + len(self.pooled_), self.n_queries_
        text = f"{self.name}: learned from {n_queries} queries and {n_experts} experts. {self._label_summary()}"
        count, gain, error = self.gain_over_rrf()
        if count < 2:
            return text + "Too few queries for held-out evaluation."
        own, rrf = self.held_out_[3:] / count
        means = f"{self.target} {own:.4f}, RRF {rrf:.4f}"
        where = "On held-out queries, without their unjudged items" if self.condensed_ else "On held-out queries"
        return text + f"{where}: {means}, gain {gain:+.4f} ± {error:.4f} (standard error)."

    def _label_summary(self) -> str:
        """The kind of labels, and what was done with unjudged items, if that follows from it."""
        if self.unjudged != AUTO or not self.survey.n_labels:
            return ""
        return f"Labels: {self.survey.text}, so {self.treatment}. "

    @property
    def survey(self) -> LabelSurvey:
        """What kind of labels it was learned from."""
        return LabelSurvey.from_counts(self.labels_)

    @property
    def treatment(self) -> Treatment:
        """What is done with unjudged items, with ``unjudged="auto"``."""
        complete, positives_only = self.treatment_.tolist()
        return Treatment(complete > 0, positives_only)

    def _count_labels(self, survey: LabelSurvey, treatment: Treatment | None = None) -> None:
        """Set what there is to know of labels; without a ``treatment``, they decide about it."""
        self.labels_ = survey.counts
        self.treatment_ = np.array(astuple(treatment or survey.treatment), np.float64)

    def _treatment_with(self, other: Self) -> Treatment:
        """The treatment of unjudged items in a model of the queries of both."""
        known = [model.treatment for model in (self, other) if model.survey.n_labels]
        both = self.survey.add(other.survey)
        if len(set(known)) < 2:
            return known[0] if known else both.treatment
        if self.unjudged == AUTO and self.survey.kind != other.survey.kind:
            warn_about_data(
                f"{self.name}: labels of the merged models are of different kinds: {self.survey.text} and "
                f"{other.survey.text}; with unjudged=auto the items of each keep the weights that its kind gave them, "
                "which one fit of all would not; fit one model to all data, or choose unjudged"
            )
        return both.treatment

    @property
    def _strength(self) -> float:
        """The factor of ``shrink``."""
        known = self.unjudged == AUTO and "labels_" in vars(self)
        return self.survey.strength(self.treatment) if known else 1.0

    def gain_over_rrf(self) -> tuple[int, float, float]:
        """The number of held-out queries, and the gain of the target metric over RRF there: mean, standard error.

        The mean is NaN without such queries, the error with fewer than two.
        """
        n, total, squares = int(self.held_out_[0]), float(self.held_out_[1]), float(self.held_out_[2])
        if not n:
            return 0, np.nan, np.nan
        variance = max(squares - total**2 / n, 0.0) / (n - 1) if n > 1 else np.nan
        return n, total / n, float(np.sqrt(variance / n))

    def formula(self) -> Formula | None:
        """The curve of each expert at each rank."""
        return Formula(depends_on=("rank",), points=self._points)

    def _points(self, expert: str, ranks: Floats) -> Floats:
        curve = self.curves_[self.own_.index(expert)] if expert in self.own_ else self.stranger_
        values = self._solver().curves(np.asarray(ranks, np.float64))[:, : len(curve)]
        points: Floats = (values * curve).sum(axis=1)  # as in _scores
        return points

    def experts_seen(self) -> frozenset[str]:
        """All experts of the training queries; none where all share one curve."""
        return frozenset() if self.experts == "shared" else frozenset((*self.own_, *self.pooled_))

    @property
    def others_key(self) -> str:
        return others_key((*self.own_, *self.pooled_))

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """The weights of each expert's curves; those of pooled and unknown experts under ``others_key``."""
        rows = zip([*self.own_, self.others_key], np.vstack([self.curves_, self.stranger_]).tolist(), strict=True)
        return {name: dict(zip(self.curve_names, row, strict=False)) for name, row in rows}

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        curve = np.vstack([self.curves_, self.stranger_])[r.positions_in(self.own_)]  # -1 is an unknown expert
        by_entry = np.repeat(curve[r.list_expert], r.list_size, axis=0)
        out += sum_of_points(r, (self._entry_curves(r, len(self.stranger_)) * by_entry).sum(axis=1))

    def _survey_lists(self, queries: LabelledQueries) -> Mapping[str, Floats]:
        """What ``_use_lists`` needs to know of a batch of queries before statistics are computed, by expert."""
        return {}

    def _use_lists(self, found: Mapping[str, Floats]) -> None:
        """Learn from the lists of all queries what the curves need."""

    def _entry_curves(self, rankings: Rankings, n_curves: int) -> Floats:
        """The first curves at each entry, [n_entries, n_curves]."""
        return self._solver().curves(rankings.entry_rank)[:, :n_curves]

    def _own_and_pooled(self, queries: LabelledQueries) -> tuple[list[str], list[str]]:
        """The experts of the queries: those with columns of their own, and the pooled."""
        groups = ExpertGroups.choose(queries.rankings, self.experts, self.threshold, self.threshold_of)
        return list(groups.names), [name for name in queries.experts if name not in set(groups.names)]

    def _add(
        self,
        queries: LabelledQueries,
        layout: Statistics,
        before: Statistics,
        held_out: Floats,
        rows: HeldOutValues,
    ) -> None:
        """Add the queries to earlier statistics, and compare with RRF and each expert on each when it is held out."""
        solver = self._solver()
        if len(queries):
            curves = self._entry_curves(queries.rankings, self.n_curves)
            parts = QueryParts(queries, curves, before.without_queries().add(layout))
            before = before.add(parts.total())
            scores = parts.held_out_scores(before, solver)
            found = HeldOutValues.of(queries, scores, parse_metric(self.target), self.survey.kind)
            held_out, rows = held_out + found.sums(), rows.add(found, before.names)
        self._set_learned(before, held_out, rows)

    def query_parts(self, queries: LabelledQueries, layout: Statistics, offsets: Ints | None = None) -> QueryParts:
        """The queries in parts that can be held out, each query or as ``offsets`` say, with the columns of a layout."""
        return QueryParts(queries, self._entry_curves(queries.rankings, self.n_curves), layout, offsets=offsets)

    def held_out_scores(self, parts: QueryParts, whole: Statistics) -> Floats:
        """A score per slot of the queries, learned from all queries but the part of the slot."""
        return parts.held_out_scores(whole, self._solver())

    def held_out_consensus(self, data: Dataset) -> Consensus:
        """Each query of ``data``, ranked by a model of all others; the data are those that the model was fitted to.

        It has the queries that can be learned from, and its values are those of the verdict.
        """
        queries, whole = LabelledQueries.of(data, self.unjudged, self.treatment), self._statistics()
        scores = self.held_out_scores(self.query_parts(queries, whole.without_queries()), whole)
        return Consensus(queries.rankings, scores)

    def survey_lists(self, queries: LabelledQueries) -> Mapping[str, Floats]:
        """What ``with_survey`` needs to know of some of the queries before statistics are computed, by expert."""
        return self._survey_lists(queries)

    def with_survey(self, found: Mapping[str, Floats], labels: LabelSurvey) -> Self:
        """A copy that has learned from the lists of all queries what its curves need, and knows all labels."""
        model = copy(self)
        model._use_lists(found)
        model._count_labels(labels)
        return model

    def from_statistics(self, whole: Statistics, held_out: HeldOutValues) -> Self:
        """The fitted model of these sums over queries, and of the held-out values of the same queries."""
        model = copy(self)
        model._set_learned(whole, held_out.sums(), HeldOutValues.empty(()).add(held_out, whole.names))
        return self.from_learned(model.params(), model.learned())

    def _set_learned(self, whole: Statistics, held_out: Floats, rows: HeldOutValues) -> None:
        curves, unknown = solve_curves(whole, self._solver())
        self.own_, self.pooled_ = list(whole.own), list(whole.pooled)
        self.curves_, self.stranger_ = curves, unknown
        self.n_queries_, self.seen_ = whole.n_queries, whole.seen
        self.gram_ = whole.gram[np.triu_indices(len(whole.gram))]
        self.fill_ = whole.filled
        self.held_out_ = held_out
        self.row_counts_, self.row_values_, self.judged_ = rows.counts, rows.values, rows.judged
        self.condensed_ = rows.n_condensed

    def _held_out_values(self) -> HeldOutValues:
        names = (*self.own_, *self.pooled_)
        return HeldOutValues(
            experts=names,
            counts=self.row_counts_,
            values=self.row_values_,
            judged=self.judged_,
            n_condensed=self.condensed_,
        )

    def _statistics(self) -> Statistics:
        width = (len(self.own_) + bool(self.pooled_)) * len(self.stranger_) + 1
        gram = np.zeros((width, width))
        gram[np.triu_indices(width)] = self.gram_
        gram += np.triu(gram, 1).T
        names = {"own": tuple(self.own_), "pooled": tuple(self.pooled_)}
        return Statistics(**names, seen=self.seen_, n_queries=self.n_queries_, gram=gram, filled=self.fill_)
