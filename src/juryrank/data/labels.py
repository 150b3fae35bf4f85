"""Labels: graded judgements by (query, item); they need not be about items that anybody ranked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data.rankings import ByQuery, Codes, Floats, Ints, Names, Rankings, freeze
from juryrank.kernels.ragged import children, parents, sizes_to_ptr


@dataclass(frozen=True, eq=False, kw_only=True)
class Labels(ByQuery):
    """Graded labels, higher is better, of some items of some queries."""

    queries: tuple[str, ...]
    items: Names  # names that label_item points into
    label_ptr: Ints  # [n_queries + 1]
    label_item: Codes  # [n_labels]
    label_value: Floats  # [n_labels]

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        return f"Labels({len(self)} queries, {len(self.label_value)} labels)"

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

    def to_names_of(self, rankings: Rankings) -> Labels:
        """The same labels for the queries of ``rankings``, in its order and with its item codes.

        Items that ``rankings`` does not know get codes past its names; queries it does not know are left out.
        """
        if self.queries == rankings.queries and self.items is rankings.items:
            return self
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
        """The label of each slot of ``rankings``; NaN where it is not judged."""
        here = self.to_names_of(rankings)
        width = max(len(here.items), 1)
        slot_key = parents(rankings.slot_ptr) * width + rankings.slot_item
        label_key = parents(here.label_ptr) * width + here.label_item
        out = np.full(rankings.n_slots, np.nan)
        if not len(slot_key) or not len(label_key):
            return out
        sorter = None if np.all(slot_key[1:] > slot_key[:-1]) else np.argsort(slot_key, kind="stable")
        at = np.searchsorted(slot_key, label_key, sorter=sorter)
        slot = np.minimum(at, len(slot_key) - 1) if sorter is None else sorter[np.minimum(at, len(slot_key) - 1)]
        hit = slot_key[slot] == label_key
        out[slot[hit]] = here.label_value[hit]
        return out
