"""Labels: graded judgements by (query, item), also of items that no list has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juryrank.data.arrays import Codes, Floats, Ints, Names, freeze
from juryrank.data.by_query import ByQuery
from juryrank.data.rankings import Rankings
from juryrank.kernels.ragged import children, descending_order, sizes_to_ptr
from juryrank.kernels.slots import spread_labels

LARGEST_LABEL = 1e50  # sums and squares of labels stay finite


@dataclass(frozen=True, eq=False, kw_only=True)
class Labels(ByQuery):
    """Graded labels of items by query; higher is better."""

    queries: tuple[str, ...]
    items: Names  # names that label_item points into
    label_ptr: Ints  # [n_queries + 1]
    label_item: Codes  # [n_labels]
    label_value: Floats  # [n_labels]

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        return f"Labels({len(self)} queries, {len(self.label_value)} labels)"

    @cached_property
    def descending_values(self) -> Floats:
        """The labels of each query, highest first."""
        order = np.empty(len(self.label_value), np.int64)
        descending_order(self.label_ptr, self.label_value, order)
        return self.label_value[order]

    def take(self, chosen: Ints) -> Labels:
        """The labels of the chosen queries, in that order."""
        kept = children(self.label_ptr, chosen)
        return Labels(
            queries=tuple(self.queries[q] for q in chosen),
            items=self.items,
            label_ptr=sizes_to_ptr(np.diff(self.label_ptr)[chosen]),
            label_item=self.label_item[kept],
            label_value=self.label_value[kept],
        )

    def align_to(self, rankings: Rankings) -> Labels:
        """The labels of the queries of ``rankings``, in its order and with its item codes.

        Items that are not in ``rankings`` get new codes after its own; queries that are not in it are left out.
        """
        if self.queries == rankings.queries and self.items is rankings.items:
            return self
        before = vars(self).get("_aligned")  # the experts of one dataset are evaluated one after the other
        if before is None or before[0] is not rankings.items or before[1] != rankings.queries:
            before = vars(self)["_aligned"] = (rankings.items, rankings.queries, self._align(rankings))
        aligned: Labels = before[2]
        return aligned

    def _align(self, rankings: Rankings) -> Labels:
        place = {name: q for q, name in enumerate(self.queries)}
        found = np.array([place.get(name, len(self)) for name in rankings.queries], np.int64)
        padded = np.append(self.label_ptr, self.label_ptr[-1:])  # one empty query for names without labels
        kept = children(padded, found)
        used, code = np.unique(self.label_item[kept], return_inverse=True)
        known = {name: i for i, name in enumerate(rankings.items.tolist())}
        names = self.items[used].tolist()
        new = [name for name in names if name not in known]
        known.update((name, len(rankings.items) + n) for n, name in enumerate(new))
        recoded = np.array([known[name] for name in names], np.int32)
        return Labels(
            queries=rankings.queries,
            items=np.append(rankings.items, np.array(new, dtype=object)) if new else rankings.items,
            label_ptr=sizes_to_ptr(np.diff(padded)[found]),
            label_item=recoded[code] if len(recoded) else np.empty(0, np.int32),
            label_value=self.label_value[kept],
        )

    def by_slot(self, rankings: Rankings) -> Floats:
        """The label of each slot of ``rankings``; NaN if it is unjudged."""
        here = self.align_to(rankings)
        out = np.full(rankings.n_slots, np.nan)
        place = np.full(len(here.items), -1, np.int64)
        spread_labels(
            rankings.slot_ptr, rankings.slot_item, here.label_ptr, here.label_item, here.label_value, place, out
        )
        return out
