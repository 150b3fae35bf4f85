"""Labels: graded judgements by (query, item), also of items that no list has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Codes, Floats, Ints, Names, freeze, read_only_view
from juryrank.data.by_query import ByQuery
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError
from juryrank.kernels.ragged import children, descending_order, sizes_to_ptr
from juryrank.kernels.slots import spread_labels
from juryrank.params import LARGEST_WEIGHT

LARGEST_LABEL = 1e50  # sums and squares of labels stay finite


@dataclass(frozen=True, eq=False, kw_only=True)
class Labels(ByQuery):
    """Graded labels of items by query; higher is better.

    Labels are numbers, not only whole ones. A label may have a weight, how much it counts in learning: a judgement that
    is certain has weight 1, one that counts half as much has weight 0.5. Of weight 0, neither the label nor the item is
    used in learning. Metrics use all labels alike.
    """

    queries: tuple[str, ...]
    items: Names  # names that label_item points into
    label_ptr: Ints  # [n_queries + 1]
    label_item: Codes  # [n_labels]
    label_value: Floats  # [n_labels]
    label_weight: Floats | None = None  # [n_labels] finite, >= 0; None if all are 1

    def __post_init__(self) -> None:
        weight = self.label_weight
        if weight is not None and (weight.shape != self.label_value.shape or invalid_weights(weight).any()):
            raise DataError(
                f"label_weight must have one number for each label, at least 0 and at most {LARGEST_WEIGHT:g}"
            )
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
            label_weight=None if self.label_weight is None else self.label_weight[kept],
        )

    def ignore_weights(self) -> Labels:
        """The same labels, all of weight 1, except those of weight 0."""
        if self.label_weight is None or not self.has_partial_weights:
            return self
        used = self.label_weight > 0
        return replace(self, label_weight=None if used.all() else used.astype(np.float64))

    @property
    def has_partial_weights(self) -> bool:
        """Whether there are weights other than 0 and 1."""
        return self.label_weight is not None and bool(((self.label_weight != 0) & (self.label_weight != 1)).any())

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
            label_weight=None if self.label_weight is None else self.label_weight[kept],
        )

    def by_slot(self, rankings: Rankings) -> Floats:
        """The label of each slot of ``rankings``; NaN if it is unjudged."""
        here = self.align_to(rankings)
        return here._spread(here.label_value, rankings)

    def weights_by_slot(self, rankings: Rankings) -> Floats:
        """The weight of the label of each slot of ``rankings``; NaN if it is unjudged."""
        here = self.align_to(rankings)
        return here._spread(
            np.ones(len(here.label_value)) if here.label_weight is None else here.label_weight, rankings
        )

    def _spread(self, values: Floats, rankings: Rankings) -> Floats:
        """Values of the labels, for the slots of the rankings that the labels are aligned to."""
        out = np.full(rankings.n_slots, np.nan)
        place = np.full(len(self.items), -1, np.int64)
        spread_labels(
            rankings.slot_ptr, rankings.slot_item, self.label_ptr, self.label_item, read_only_view(values), place, out
        )
        return out


def invalid_weights(weight: Floats) -> NDArray[np.bool_]:
    """Which numbers cannot be weights of labels."""
    wrong: NDArray[np.bool_] = ~((weight >= 0) & (weight <= LARGEST_WEIGHT))
    return wrong
