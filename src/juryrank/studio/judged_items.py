"""How many judgements there are: ranked items with a label, of the data or of judges; the one number of all views."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Ints
from juryrank.kernels.ragged import parents
from juryrank.studio.current_labels import CurrentLabels
from juryrank.tasks.judge.advice import judged_slots


class JudgedItems:
    """Counts the judged items of present labels; what the labels of the data say is looked at once."""

    def __init__(self, data: Dataset) -> None:
        self._data = data
        self._unjudged: dict[str, frozenset[str]] = {}  # by query with grades: ranked items that the data do not judge

    @cached_property
    def _place(self) -> dict[str, int]:
        return {query: q for q, query in enumerate(self._data.queries)}

    @cached_property
    def given(self) -> Ints:
        """By query, how many ranked items have a label in the data."""
        queries = parents(self._data.rankings.slot_ptr)[judged_slots(self._data)]
        return np.bincount(queries, minlength=len(self._data))

    def total(self, labels: CurrentLabels) -> int:
        """In all queries."""
        return int(self.given.sum()) + sum(self._added(query, labels) for query in labels.grades)

    def of_query(self, labels: CurrentLabels, query: str) -> int:
        """In one query."""
        return int(self.given[self._place[query]]) + self._added(query, labels)

    def by_query(self, labels: CurrentLabels) -> Ints:
        """In each query of the data."""
        counts = self.given.copy()
        for query in labels.grades:
            if query in self._place:
                counts[self._place[query]] += self._added(query, labels)
        return counts

    def _added(self, query: str, labels: CurrentLabels) -> int:
        """How many ranked items have a grade, and no label in the data."""
        if query not in labels.grades or query not in self._place:
            return 0
        if query not in self._unjudged:
            one = self._data.take(np.array([self._place[query]]))
            free = (one.rankings.slot_lists > 0) & ~judged_slots(one)
            self._unjudged[query] = frozenset(one.rankings.items[one.rankings.slot_item[free]].tolist())
        return len(labels.grades[query].keys() & self._unjudged[query])
