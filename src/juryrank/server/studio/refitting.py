"""The learned model, fitted again after each judgement in the time of one query.

``jury`` is a sum of statistics over queries, and models can be merged exactly. So there is a tree of models over the
queries: a node is the merge of its two children, and a leaf is fitted to one query, or to a block of neighbours until
the labels of one of them change. Then only that query is fitted and the nodes above it are merged again. The curves
are those of a fit of all queries; held-out values are not, as every part was fitted alone: a verdict needs a whole fit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Ints
from juryrank.data.long_table import labels_from_dict
from juryrank.judging.advice import UNJUDGED
from juryrank.methods.learned.jury import Jury
from juryrank.server.studio.current_labels import CurrentLabels
from juryrank.training.labelled_queries import LabelledQueries

BLOCK_ENTRIES = 50_000  # of the queries of a block: the first judgement of one of them waits for the others

Node = tuple[int, int]  # level and position: the queries position · 2^level up to the next


class RefittedJury:
    """The model of the present labels."""

    def __init__(self, data: Dataset, block_entries: int = BLOCK_ENTRIES) -> None:
        self._data = replace(data, labels=None)
        mean_entries = max(1.0, data.rankings.n_entries / max(1, len(data)))
        self._root = (max(0, len(data) - 1).bit_length(), 0)
        self._block_level = max(0, int(block_entries / mean_entries).bit_length() - 1)
        self._models: dict[Node, Jury | None] = {}  # None where there is nothing to learn from
        self._split: set[Node] = set()  # nodes above a query that has changed
        self._alone: dict[int, Dataset] = {}  # queries that have changed

    @property
    def model(self) -> Jury | None:
        """The model; None while there is no query to learn from."""
        return self._models.get(self._root)

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
                self._models.pop(node, None)
                self._split.add(node)
        self._model(self._root, labels)

    def _model(self, node: Node, labels: CurrentLabels) -> Jury | None:
        if node not in self._models:
            level, n = node
            if level == 0 or (level <= self._block_level and node not in self._split):
                self._models[node] = self._fit(node, labels)
            else:
                parts = [self._model((level - 1, child), labels) for child in (2 * n, 2 * n + 1)]
                known = [part for part in parts if part is not None]
                self._models[node] = known[0].merge(known[1]) if len(known) == 2 else next(iter(known), None)
        return self._models[node]

    def _fit(self, node: Node, labels: CurrentLabels) -> Jury | None:
        """The model of the queries of a node; None if nothing can be learned from them."""
        level, n = node
        last = min((n + 1) << level, len(self._data))
        queries = [q for q in range(n << level, last) if labels.counts.get(self._data.queries[q])]
        if not queries:
            return None
        if level == 0:
            part = self._alone.get(queries[0]) or _part(self._data, np.array(queries))
            self._alone[queries[0]] = part
        else:
            part = _part(self._data, np.array(queries))
        found = labels_from_dict({query: labels.of_query(query) for query in part.queries})
        labelled = replace(part, labels=found)
        return Jury(unjudged=UNJUDGED).fit(labelled) if len(LabelledQueries.of(labelled, UNJUDGED)) else None


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
    model = Jury(unjudged=UNJUDGED).fit(replace(one, labels=labels_from_dict({one.queries[0]: labels})))
    model.merge(model).predict(one)
