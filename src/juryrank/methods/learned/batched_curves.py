"""Fitting position curves to batches of queries: the same model, bit by bit, as from all queries at once.

Three passes: what there is to learn from, the statistics, and the held-out values. Of each batch, only sums and a few
numbers per query are stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError
from juryrank.kernels.ragged import parents
from juryrank.learning.curves import Limits, QueryParts, Statistics, add_in_order, part_offsets
from juryrank.learning.expert_groups import ExpertGroups, preferences
from juryrank.learning.expert_lists import experts_with_several_lists, rising_by_expert
from juryrank.learning.gains import slot_gains
from juryrank.learning.held_out import HeldOutValues, JudgedAlternatives, are_condensed
from juryrank.learning.label_survey import LabelSurvey
from juryrank.learning.labelled import LabelledQueries, no_labels_differ
from juryrank.methods.finite import LIKELY_CAUSES, check_list_weights, refuse_arithmetic_errors
from juryrank.methods.learned.curves import PositionCurves
from juryrank.methods.learned_fields import learned_kinds
from juryrank.metrics import parse_metric
from juryrank.metrics.inputs import warn_of_rising_scores
from juryrank.scan.batches import Batch, Batches


def fit_batches(
    model: PositionCurves, batches: Batches, *, held_out: bool = True, limits: Limits | None = None
) -> None:
    """Fit the model to the queries of all batches; without ``held_out`` it has no held-out values and no verdict."""
    model.check()
    for name in learned_kinds(type(model)):
        vars(model).pop(name, None)
    with refuse_arithmetic_errors(model.name):
        _BatchedFit(model, batches, limits or Limits()).run(held_out=held_out)
    if fault := model._fault():
        raise DataError(f"{model.name}: {fault}; {LIKELY_CAUSES}")
    model._fitted = True


@dataclass(frozen=True, eq=False, kw_only=True)
class _Survey:
    """What there is to learn from in a batch."""

    experts: tuple[str, ...]  # all, with lists or without
    usable: Ints  # the numbers of the queries that can be learned from
    lists: Counter[str]  # by expert, as all that follows in the queries that can be learned from
    preferences: Counter[str]  # what the threshold counts; only if it matters
    several: set[str]  # experts with several lists in a query
    rising: Counter[str]  # entries by expert with a higher score than the entry above
    of_lists: Mapping[str, Floats]  # what the method wants to know
    labels: LabelSurvey
    n_queries: int
    n_slots: int
    n_judged: int

    @classmethod
    def of(cls, batch: Batch, model: PositionCurves) -> _Survey:
        data = batch.data
        check_list_weights(data.rankings)
        labels = LabelSurvey.of(data)
        queries = LabelledQueries.of(data, model.unjudged, labels.treatment)  # that of all labels uses the same items
        known, r = set(queries.data.queries), queries.rankings
        return cls(
            experts=data.experts,
            usable=batch.numbers[[name in known for name in data.queries]],
            lists=_by_expert(data.experts, np.bincount(r.list_expert, minlength=len(data.experts))),
            preferences=_by_expert(
                data.experts, preferences(r, model.threshold_of) if model.experts == "hybrid" else np.zeros(0)
            ),
            several=experts_with_several_lists(r),
            rising=rising_by_expert(r),
            of_lists=model._survey_lists(queries),
            labels=labels,
            n_queries=len(data),
            n_slots=data.rankings.n_slots,
            n_judged=int((~np.isnan(slot_gains(data))).sum()),
        )


def _by_expert(experts: tuple[str, ...], counts: NDArray[np.generic]) -> Counter[str]:
    return Counter(dict(zip(experts, counts.tolist(), strict=False)))


def _total(counts: Sequence[Counter[str]]) -> Counter[str]:
    total = Counter[str]()
    for part in counts:
        total.update(part)
    return total


class _BatchedFit:
    """The passes over the batches."""

    def __init__(self, model: PositionCurves, batches: Batches, limits: Limits) -> None:
        self.model, self.batches, self.limits = model, batches, replace(limits, cached=0)
        found = list(batches.map(lambda batch: _Survey.of(batch, model)))
        usable = np.zeros(batches.n_queries, bool)
        for part in found:
            usable[part.usable] = True
        if not usable.any():
            judged = sum(part.n_judged for part in found)
            n_slots, n_queries = (sum(getattr(part, name) for part in found) for name in ("n_slots", "n_queries"))
            raise no_labels_differ(model.name, n_slots, n_queries, judged)
        self.before = np.append(0, np.cumsum(usable))  # usable queries before each query
        lists, counts, rising = (
            _total([getattr(part, name) for part in found]) for name in ("lists", "preferences", "rising")
        )
        self.experts = [name for name in found[0].experts if lists[name]]
        self.several = set[str]().union(*(part.several for part in found))
        self.rising = sum(count for name, count in rising.items() if name not in self.several)
        own = ExpertGroups.of(self.experts, counts, model.experts, model.threshold).names
        self.layout = Statistics.empty(model.n_curves, own, [name for name in self.experts if name not in set(own)])
        of_lists = {name: [part.of_lists[name] for part in found if name in part.of_lists] for name in self.experts}
        model._count_labels(reduce(LabelSurvey.add, (part.labels for part in found)))
        model._use_lists({name: np.concatenate(values) for name, values in of_lists.items() if values})
        self.offsets = part_offsets(int(usable.sum()), len(self.layout.gram), limits)

    def run(self, *, held_out: bool) -> None:
        model = self.model
        whole = Statistics.empty(model.n_curves).add(self._total())
        rows, sums = HeldOutValues.empty(()), np.zeros(5)
        if held_out:
            found = self._held_out_values(whole)
            rows, sums = rows.add(found, whole.names), sums + found.sums()
        else:
            rows = rows.with_experts(whole.names)
        model._set_learned(whole, sums, rows)

    def _total(self) -> Statistics:
        """The statistics of all queries."""

        def statistics(batch: Batch) -> tuple[Ints, Floats, list[Floats]] | None:
            parts = self._parts(batch)
            return (
                None if parts is None else (parts.seen.sum(axis=0), parts.filled, [gram for _, gram in parts.grams()])
            )

        total = replace(self.layout, n_queries=int(self.before[-1]))
        for found in filter(None, self.batches.map(statistics, self._together())):
            seen, filled, grams = found
            gram = total.gram
            for block in grams:
                gram = add_in_order(gram, block)
            total = replace(total, seen=total.seen + seen, filled=add_in_order(total.filled, filled), gram=gram)
        return total

    def _held_out_values(self, whole: Statistics) -> HeldOutValues:
        """The values of all queries when they are held out."""
        metric, solver = parse_metric(self.model.target), self.model._solver()

        def values(batch: Batch) -> tuple[Floats, Floats, Floats] | None:
            if (parts := self._parts(batch)) is None:
                return None
            scores = parts.held_out_scores(whole, solver)
            judged = JudgedAlternatives.of(
                parts.queries, scores, self.experts, several=self.several, by_rank=self.rising > 0
            )
            return judged.shares(), judged.values(metric, condensed=False), judged.values(metric, condensed=True)

        if self.rising:
            warn_of_rising_scores(self.rising)
        found = list(filter(None, self.batches.map(values, self._together())))
        shares, plain, condensed = (np.concatenate(part, axis=1) for part in zip(*found, strict=True))
        few = are_condensed(shares, self.model.survey.kind)
        return HeldOutValues.from_queries(self.experts, shares, condensed if few else plain, few)

    def _parts(self, batch: Batch) -> QueryParts | None:
        """The queries of a batch that can be learned from; None without any."""
        first, last = self.before[[batch.numbers[0], batch.numbers[-1] + 1]] if len(batch.data) else (0, 0)
        if first == last:
            return None
        queries = LabelledQueries.of(batch.data, self.model.unjudged, self.model.treatment)
        curves = self.model._entry_curves(queries.rankings, self.model.n_curves)
        begin, end = np.searchsorted(self.offsets, (first, last))
        offsets = self.offsets[begin : end + 1] - first
        return QueryParts(queries, curves, self.layout, self.limits, offsets)

    def _together(self) -> Ints | None:
        """The number of the part that each query is in, if there are parts of several queries."""
        if len(self.offsets) - 1 == self.before[-1]:
            return None
        part: Ints = parents(self.offsets)[np.maximum(self.before[1:] - 1, 0)]
        return part
