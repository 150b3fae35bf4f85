"""The learned model, fitted again after each judgement in the time of one query.

``jury`` follows from sums over queries. So there is a tree of sums over the queries: a node is the sum of its two
children, and a leaf is that of one query, or of a block of neighbours until the labels of one of them change. Then only
that query is read, the nodes above it are added again, and the curves are solved. They are those of a fit of all
queries; no query is held out, though, so that a verdict needs a whole fit.

The weights of items follow from the kind of all labels. Where that changes, as it may while nearly all labels are of
relevant items, all labelled queries are read again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Ints
from juryrank.data.long_table import labels_from_dict
from juryrank.learning.curves import Statistics
from juryrank.learning.label_survey import LabelSurvey, Treatment
from juryrank.methods.learned.jury import Jury, jury_of, statistics_of
from juryrank.studio.current_labels import CurrentLabels

BLOCK_ENTRIES = 50_000  # of the queries of a block: the first judgement of one of them waits for the others

Node = tuple[int, int]  # level and position: the queries position · 2^level up to the next


class RefittedJury:
    """The model of the present labels."""

    model: Jury | None  # None while there is no query to learn from

    def __init__(self, data: Dataset, block_entries: int = BLOCK_ENTRIES) -> None:
        self._data = replace(data, labels=None)
        mean_entries = max(1.0, data.rankings.n_entries / max(1, len(data)))
        self._root = (max(0, len(data) - 1).bit_length(), 0)
        self._block_level = max(0, int(block_entries / mean_entries).bit_length() - 1)
        self._sums: dict[Node, _Sums] = {}
        self._treatment: Treatment | None = None
        self._split: set[Node] = set()  # nodes above a query that has changed
        self._alone: dict[int, Dataset] = {}  # queries that have changed
        self.model = None

    @property
    def n_queries(self) -> int:
        """How many queries it has learned from: those in which a relevant item is known."""
        return 0 if self.model is None else self.model.n_queries_

    def update(self, labels: CurrentLabels, changed: list[str]) -> None:
        """Learn from the present labels, if since the last update those of these queries have changed."""
        place = {name: q for q, name in enumerate(self._data.queries)} if len(changed) > 1 else None
        for name in changed:
            q = self._data.queries.index(name) if place is None else place[name]
            for level in range(self._root[0] + 1):
                node = (level, q >> level)
                self._sums.pop(node, None)
                self._split.add(node)
        if self._treatment is None and labels.dataset is not None:  # so that all are read only once
            self._treatment = LabelSurvey.of(labels.dataset).treatment
        whole = self._sum(self._root, labels)
        if (treatment := whole.survey.treatment) != self._treatment:
            self._treatment = treatment
            self._sums.clear()
            whole = self._sum(self._root, labels)
        self.model = None if whole.statistics is None else jury_of(whole.statistics, whole.survey)

    def _sum(self, node: Node, labels: CurrentLabels) -> _Sums:
        if node not in self._sums:
            level, n = node
            if level == 0 or (level <= self._block_level and node not in self._split):
                self._sums[node] = self._read(node, labels)
            else:
                one, other = (self._sum((level - 1, child), labels) for child in (2 * n, 2 * n + 1))
                self._sums[node] = one.add(other)
        return self._sums[node]

    def _read(self, node: Node, labels: CurrentLabels) -> _Sums:
        """The sums over the queries of a node."""
        level, n = node
        last = min((n + 1) << level, len(self._data))
        queries = [q for q in range(n << level, last) if labels.counts.get(self._data.queries[q])]
        if not queries:
            return _Sums(None, LabelSurvey())
        if level == 0:
            part = self._alone.get(queries[0]) or _part(self._data, np.array(queries))
            self._alone[queries[0]] = part
        else:
            part = _part(self._data, np.array(queries))
        found = labels_from_dict({query: labels.of_query(query) for query in part.queries})
        part = replace(part, labels=found)
        return _Sums(statistics_of(part, self._treatment or Treatment()), LabelSurvey.of(part))


class _Sums(NamedTuple):
    """What ``jury`` learns from some queries, None if it is nothing, and their labels."""

    statistics: Statistics | None
    survey: LabelSurvey

    def add(self, other: _Sums) -> _Sums:
        known = [each.statistics for each in (self, other) if each.statistics is not None]
        both = known[0].add(known[1]) if len(known) == 2 else next(iter(known), None)
        return _Sums(both, self.survey.add(other.survey))


def _part(data: Dataset, queries: Ints) -> Dataset:
    """Some queries, with the names of their own items only: labels are matched with all names."""
    part = data.take(queries)
    used, codes = np.unique(part.rankings.slot_item, return_inverse=True)
    own = replace(part.rankings, items=part.rankings.items[used], slot_item=codes.astype(np.int32))
    return replace(part, rankings=own)


def rehearse(data: Dataset) -> None:
    """Learn something that is thrown away, so that the first judgement does not wait until code is loaded."""
    ranked = np.flatnonzero(data.rankings.query_size > 1)
    if not len(ranked):
        return
    one = _part(data, ranked[:1])
    labels = {name: (float(n == 0), 1.0) for n, name in enumerate(one.rankings.items[:2].tolist())}
    one = replace(one, labels=labels_from_dict({one.queries[0]: labels}))
    if (found := statistics_of(one, Treatment())) is not None:
        jury_of(found.add(found), LabelSurvey.of(one)).predict(one, warn_unknown=False)
