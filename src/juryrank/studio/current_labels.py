"""The labels at present: those of the data, and in their place where there are such, the grades of the judges."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from juryrank.data import Dataset, Labels
from juryrank.data.long_table import labels_from_dict
from juryrank.kernels.ragged import parents
from juryrank.tasks.judge.judgements import Judgement, labels_of

OneQuery = dict[str, tuple[float, float]]  # label and weight of each item


@dataclass(frozen=True, eq=False)
class CurrentLabels:
    """Labels by query; those of a query with grades are merged when they are asked for."""

    data: Dataset  # with its own labels, if it has any
    grades: dict[str, OneQuery] = field(default_factory=dict)  # by query: what judges say

    @classmethod
    def of(cls, data: Dataset, answers: Iterable[Judgement]) -> CurrentLabels:
        """The labels of the data and the grades among the answers; several grades of an item are combined."""
        grades: dict[str, OneQuery] = {}
        graded = [each for each in answers if each.grade is not None]
        for each in graded:
            grades.setdefault(each.query, {})[each.item] = (each.grade or 0.0, 1.0)
        if sum(map(len, grades.values())) == len(graded):  # the usual case, in less time
            return cls(data, grades)
        return cls.with_grades(data, labels_of(graded))

    @classmethod
    def with_grades(cls, data: Dataset, graded: Labels | None) -> CurrentLabels:
        """The labels of the data and those of the judges."""
        return cls(data, {} if graded is None else _by_query(graded))

    def changed_only_in(self, queries: Iterable[str], before: CurrentLabels) -> CurrentLabels:
        """The labels before, but for those of some queries, which are the present ones."""
        grades = {**before.grades, **{query: self.grades.get(query, {}) for query in queries}}
        return CurrentLabels(self.data, {query: labels for query, labels in grades.items() if labels})

    def of_query(self, query: str) -> OneQuery:
        """The labels of one query."""
        return {**self._given(query), **self.grades.get(query, {})}

    def _given(self, query: str) -> OneQuery:
        labels = self.data.labels
        if labels is None or (q := self._place.get(query)) is None:
            return {}
        return _by_query(labels.take(np.array([q]))).get(query, {})

    @cached_property
    def _place(self) -> dict[str, int]:
        labels = self.data.labels
        return {} if labels is None else {query: q for q, query in enumerate(labels.queries)}

    def changed(self, before: CurrentLabels) -> list[str]:
        """The queries whose labels are not as they were."""
        ours, theirs = self.grades, before.grades
        return [query for query in {**ours, **theirs} if ours.get(query) != theirs.get(query)]

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many items have a label, by query; queries without a label are left out."""
        labels = self.data.labels
        found = {} if labels is None else dict(zip(labels.queries, np.diff(labels.label_ptr).tolist(), strict=True))
        found.update((query, len(self.of_query(query))) for query in self.grades)
        return {query: n for query, n in found.items() if n}

    @cached_property
    def whole(self) -> Labels | None:
        """All labels."""
        given = self.data.labels
        if not self.grades:
            return given
        graded = labels_from_dict({query: self.of_query(query) for query in self.grades})
        if given is None:
            return graded
        others = np.array([q for q, query in enumerate(given.queries) if query not in self.grades], np.int64)
        return _join(given.take(others), graded)

    @cached_property
    def dataset(self) -> Dataset | None:
        """The queries that have labels, with these; None without labels."""
        if self.whole is None:
            return None
        labelled = np.array([q for q, name in enumerate(self.data.queries) if self.counts.get(name)], np.int64)
        return replace(self.data.take(labelled), labels=self.whole) if len(labelled) else None


def _join(one: Labels, other: Labels) -> Labels:
    """The labels of both, which have no query in common."""
    both = (one, other)
    weights = [np.ones(len(each.label_value)) if each.label_weight is None else each.label_weight for each in both]
    return Labels(
        queries=one.queries + other.queries,
        items=np.concatenate([one.items, other.items]),
        label_ptr=np.append(one.label_ptr, one.label_ptr[-1] + other.label_ptr[1:]),
        label_item=np.append(one.label_item, other.label_item + np.int32(len(one.items))),
        label_value=np.append(one.label_value, other.label_value),
        label_weight=None if all(each.label_weight is None for each in both) else np.concatenate(weights),
    )


def _by_query(labels: Labels) -> dict[str, OneQuery]:
    queries = np.array(labels.queries, object)[parents(labels.label_ptr)]
    items, values = labels.items[labels.label_item], labels.label_value.tolist()
    weights = [1.0] * len(values) if labels.label_weight is None else labels.label_weight.tolist()
    found: dict[str, OneQuery] = {}
    for query, item, value, weight in zip(queries, items, values, weights, strict=True):
        found.setdefault(query, {})[item] = (value, weight)
    return found
