"""Learning position curves from queries in parts that are never in one place: sums, then held-out values.

The result is that of one ``fit`` on all queries: the sums of parts are added in the order of their queries, and what
``fit`` decides by looking at all queries (the experts with curves of their own, the scales of scores, which queries are
held out together, whether values are those of condensed lists) is decided from what the parts report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.data.names import natural_key, sorted_naturally
from juryrank.kernels.ragged import parents
from juryrank.learning.curves import Limits, Statistics, part_offsets
from juryrank.learning.expert_groups import ExpertGroups, preferences
from juryrank.learning.expert_lists import experts_with_several_lists, rising_by_expert
from juryrank.learning.held_out import EXPERTS, HeldOutValues, JudgedAlternatives, are_condensed
from juryrank.learning.label_survey import LabelSurvey
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods.finite import check_list_weights, refuse_arithmetic_errors
from juryrank.methods.learned.curves import PositionCurves
from juryrank.metrics import parse_metric


@dataclass(frozen=True, eq=False)
class PartSums:
    """What some queries add to the statistics of a model."""

    queries: tuple[str, ...]  # those that are learned from
    statistics: Statistics  # all experts have columns of their own, unless they share one
    preferences: Floats  # [n_experts] what the threshold counts
    several: frozenset[str]  # experts with several lists in a query
    rising: Counter[str]  # entries by expert with a higher score than the entry above

    def add(self, other: PartSums) -> PartSums:
        """The sums over the queries of both."""
        whole = self.statistics.add(other.statistics)
        counts = dict.fromkeys(whole.names, 0.0)
        for part in (self, other):
            for name, count in zip(part.statistics.names, part.preferences.tolist(), strict=True):
                counts[name] += count
        return PartSums(
            (*self.queries, *other.queries),
            whole,
            np.array(list(counts.values())),
            self.several | other.several,
            self.rising + other.rising,
        )

    @property
    def n_rising(self) -> int:
        """Entries of single experts that contradict their ranks; those with several lists are fused by rank anyway."""
        return sum(count for name, count in self.rising.items() if name not in self.several)

    @property
    def first(self) -> tuple[bool, int, str]:
        """The key of the order in which parts are added."""
        return min(map(natural_key, self.queries))


@dataclass(frozen=True, eq=False)
class PartValues:
    """Held-out values of some queries: a column for the model, for RRF and for each expert alone."""

    queries: tuple[str, ...]
    experts: tuple[str, ...]
    values: Floats  # [2, 2 + n_experts, n_queries]: of whole lists, and of condensed lists
    judged: Floats  # [2 + n_experts, n_queries] Judged@10


@dataclass(frozen=True, eq=False)
class PartSurvey:
    """What a model has to know of all queries first."""

    lists: Mapping[str, Floats]  # deviations of scores by expert, for a model that uses scores
    labels: LabelSurvey


def survey_of(model: PositionCurves, data: Dataset) -> PartSurvey:
    """The survey of some queries."""
    labels = LabelSurvey.of(data)
    queries = LabelledQueries.of(data, model.unjudged, labels.treatment)  # that of all labels uses the same items
    return PartSurvey(model.survey_lists(queries), labels)


def with_surveys(model: PositionCurves, parts: Iterable[PartSurvey]) -> PositionCurves:
    """A copy that knows the surveys of all parts; the order of the numbers does not matter, so they are sorted."""
    found, labels = dict[str, list[Floats]](), LabelSurvey()
    for part in parts:
        labels = labels.add(part.labels)
        for name, numbers in part.lists.items():
            found.setdefault(name, []).append(numbers)
    return model.with_survey({name: np.sort(np.concatenate(numbers)) for name, numbers in found.items()}, labels)


def sums_of(model: PositionCurves, data: Dataset) -> PartSums | None:
    """The sums over the labelled queries of ``data``; None if there are none."""
    check_list_weights(data.rankings)
    queries = LabelledQueries.of(data, model.unjudged, model.treatment)
    if not len(queries):
        return None
    names, r = queries.experts, queries.rankings
    layout = Statistics.empty(model.n_curves, *((), names) if model.experts == "shared" else (names, ()))
    with refuse_arithmetic_errors(model.name):
        statistics = model.query_parts(queries, layout).total()
    counts = dict(zip(r.experts, preferences(r, model.threshold_of).tolist(), strict=True))
    return PartSums(
        r.queries,
        statistics,
        np.array([counts[name] for name in statistics.names]),
        frozenset(experts_with_several_lists(r)),
        rising_by_expert(r),
    )


def add_sums(model: PositionCurves, parts: Sequence[PartSums]) -> PartSums:
    """The sums over all queries, with experts in natural order and pooled as ``fit`` pools them."""
    whole = reduce(PartSums.add, sorted(parts, key=lambda part: part.first))
    counts = dict(zip(whole.statistics.names, whole.preferences.tolist(), strict=True))
    names = sorted_naturally(counts)
    own = ExpertGroups.of(names, counts, model.experts, model.threshold).names
    pooled = [name for name in names if name not in set(own)]
    statistics = Statistics.empty(model.n_curves, own, pooled).add(whole.statistics)
    return replace(
        whole,
        queries=tuple(sorted_naturally(whole.queries)),
        statistics=statistics,
        preferences=np.array([counts[name] for name in statistics.names]),
    )


def held_out_groups(whole: PartSums, limits: Limits | None = None) -> dict[str, int] | None:
    """The number of the group that each query is held out with, in natural order; None if each is held out alone."""
    offsets = part_offsets(len(whole.queries), len(whole.statistics.gram), limits or Limits())
    if len(offsets) == len(whole.queries) + 1:
        return None
    return dict(zip(whole.queries, parents(offsets).tolist(), strict=True))


def values_of(
    model: PositionCurves,
    data: Dataset,
    whole: Statistics,
    groups: Mapping[str, int] | None = None,
    *,
    several: Collection[str],
    by_rank: bool,
) -> PartValues | None:
    """Held-out values of the labelled queries of ``data``, which has all queries of a group; None if there are none.

    ``several`` are the experts with several lists in any query, and ``by_rank`` says whether scores contradict the
    ranks of single experts anywhere, so that they are evaluated by rank.
    """
    queries = LabelledQueries.of(data, model.unjudged, model.treatment)
    if not len(queries):
        return None
    queries, offsets = _in_groups(queries, groups)
    parts = model.query_parts(queries, whole.without_queries(), offsets)
    with refuse_arithmetic_errors(model.name):
        scores = model.held_out_scores(parts, whole)
        alternatives = JudgedAlternatives.of(queries, scores, queries.experts, several=several, by_rank=by_rank)
    metric = parse_metric(model.target)
    values = np.array([alternatives.values(metric, condensed=condensed) for condensed in (False, True)])
    return PartValues(queries.rankings.queries, tuple(queries.experts), values, alternatives.shares())


def _in_groups(queries: LabelledQueries, groups: Mapping[str, int] | None) -> tuple[LabelledQueries, Ints]:
    """The queries sorted by group, and where each group begins."""
    if groups is None:
        return queries, np.arange(len(queries) + 1)
    group = np.array([groups[name] for name in queries.rankings.queries])
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    return queries.take(order), np.append(starts, len(order))


def whole_model(model: PositionCurves, whole: PartSums, parts: Iterable[PartValues]) -> PositionCurves:
    """The fitted model of all queries, given its sums and the held-out values of all parts."""
    names, place = whole.statistics.names, {name: n for n, name in enumerate(whole.queries)}
    values = np.zeros((2, EXPERTS + len(names), len(place)))
    judged = np.ones(values.shape[1:])
    rows = {name: EXPERTS + n for n, name in enumerate(names)}
    for part in parts:
        at = np.array([*range(EXPERTS), *(rows[name] for name in part.experts)])
        columns = np.array([place[name] for name in part.queries])
        values[:, at[:, None], columns] = part.values
        judged[at[:, None], columns] = part.judged
    condensed = are_condensed(judged, model.survey.kind)
    found = HeldOutValues.from_queries(names, judged, values[int(condensed)], condensed)
    return model.from_statistics(whole.statistics, found)
