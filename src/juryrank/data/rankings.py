"""Rankings: the lists of all experts, as flat arrays.

A *slot* is one item of one query; a *list* is what one expert ranked for one query; an
*entry* is one slot at one rank of one list. ``x_ptr[i]:x_ptr[i+1]`` are the x's of parent ``i``. An item that nobody
ranked has a slot but no entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Codes, Floats, Ints, LazyNames, freeze
from juryrank.data.by_query import ByQuery
from juryrank.kernels.positional import places
from juryrank.kernels.ragged import children, parents, sizes_to_ptr
from juryrank.polars import pl


@dataclass(frozen=True, eq=False, kw_only=True)
class Rankings(ByQuery):
    """Lists of many experts over the items of many queries; frozen, flat and ragged.

    Build it with ``juryrank.read`` or one of ``juryrank.from_…``. The entries of a list are sorted by rank.
    """

    queries: tuple[str, ...]
    experts: tuple[str, ...]
    items: LazyNames = LazyNames()  # noqa: RUF009 (no default: see there); names that slot_item points into
    slot_ptr: Ints  # [n_queries + 1]
    slot_item: Codes  # [n_slots]
    list_ptr: Ints  # [n_queries + 1]
    list_expert: Codes  # [n_lists]
    list_weight: Floats  # [n_lists] a list of weight 2 counts as two
    entry_ptr: Ints  # [n_lists + 1]
    entry_slot: Codes  # [n_entries] numbered over all queries
    entry_rank: Floats  # [n_entries] 1 is best; equal ranks are ties
    entry_score: Floats | None = None  # [n_entries] higher is better, where the lists carry scores

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def n_slots(self) -> int:
        return len(self.slot_item)

    @property
    def n_lists(self) -> int:
        return len(self.list_expert)

    @property
    def n_entries(self) -> int:
        return len(self.entry_slot)

    def __repr__(self) -> str:
        return (
            f"Rankings({len(self)} queries, {self.n_slots} slots, {len(self.experts)} experts, "
            f"{self.n_lists} lists, {self.n_entries} entries)"
        )

    def names_of(self, item: Codes) -> pl.Series:
        """The names of items as a polars series; each name is converted once."""
        names = vars(self)["items"]
        if not isinstance(names, np.ndarray):
            return names.gather(item)  # type: ignore[no-any-return]
        used, at = np.unique(item, return_inverse=True)
        return pl.Series(names[used], dtype=pl.String).gather(at)

    @cached_property
    def entry_place(self) -> Floats:
        """Place of each entry in its list: the rank without gaps, 1 is best, ties share a place."""
        out = np.empty(self.n_entries)
        places(self.list_ptr, self.entry_ptr, self.entry_rank, out)
        return out

    @cached_property
    def unit_weights(self) -> bool:
        """Whether every list has weight 1."""
        return bool((self.list_weight == 1.0).all())

    @cached_property
    def slot_lists(self) -> Ints:
        """How many lists rank each slot."""
        counts: Ints = np.bincount(self.entry_slot, minlength=self.n_slots)
        return counts

    @cached_property
    def items_sorted(self) -> bool:
        """Whether the names of items are sorted, as in data that was built from names."""
        return bool(np.all(self.items[1:] > self.items[:-1]))

    @cached_property
    def slots_by_name_descending(self) -> Ints:
        """Slots of each query in descending order of their items' names."""
        if self.items_sorted and self._slots_sorted():  # each query reversed
            ends = self.slot_ptr[:-1] + self.slot_ptr[1:] - 1
            turned: Ints = np.repeat(ends, self.query_size) - np.arange(self.n_slots)
            return turned
        place = np.arange(len(self.items))
        if not self.items_sorted:
            place[np.argsort(self.items)] = np.arange(len(self.items))
        return np.argsort(parents(self.slot_ptr) * len(place) - place[self.slot_item], kind="stable")

    def _slots_sorted(self) -> bool:
        """Whether the slots of each query are sorted by the codes of their items."""
        rising = self.slot_item[1:] > self.slot_item[:-1]
        starts = self.slot_ptr[1:-1]
        rising[starts[(starts > 0) & (starts < self.n_slots)] - 1] = True
        return bool(rising.all())

    @cached_property
    def list_query(self) -> Ints:
        query: Ints = parents(self.list_ptr)
        return query

    @cached_property
    def list_size(self) -> Ints:
        return np.diff(self.entry_ptr)

    @cached_property
    def query_size(self) -> Ints:
        """Items of each query."""
        return np.diff(self.slot_ptr)

    def positions_in(self, experts: Sequence[str]) -> Ints:
        """The position of each expert in ``experts``; -1 where it is not there."""
        place = {name: n for n, name in enumerate(experts)}
        return np.array([place.get(name, -1) for name in self.experts], np.int64)

    def take(self, chosen: Ints) -> Rankings:
        """The chosen queries, in that order; experts and item names stay."""
        slots = children(self.slot_ptr, chosen)
        lists = children(self.list_ptr, chosen)
        entries = children(self.entry_ptr, lists)
        slot_ptr = sizes_to_ptr(self.query_size[chosen])
        list_ptr = sizes_to_ptr(np.diff(self.list_ptr)[chosen])
        moved = slot_ptr[:-1] - self.slot_ptr[chosen]
        per_entry = np.repeat(np.repeat(moved, np.diff(list_ptr)), self.list_size[lists])
        return Rankings(
            queries=tuple(self.queries[q] for q in chosen),
            experts=self.experts,
            items=self.items,
            slot_ptr=slot_ptr,
            slot_item=self.slot_item[slots],
            list_ptr=list_ptr,
            list_expert=self.list_expert[lists],
            list_weight=self.list_weight[lists],
            entry_ptr=sizes_to_ptr(self.list_size[lists]),
            entry_slot=(self.entry_slot[entries] + per_entry).astype(np.int32),
            entry_rank=self.entry_rank[entries],
            entry_score=None if self.entry_score is None else self.entry_score[entries],
        )

    def keep_lists(self, kept: NDArray[np.bool_]) -> Rankings:
        """The same queries and slots with the chosen lists only."""
        entries = children(self.entry_ptr, np.flatnonzero(kept))
        return replace(
            self,
            list_ptr=sizes_to_ptr(np.bincount(self.list_query[kept], minlength=len(self))),
            list_expert=self.list_expert[kept],
            list_weight=self.list_weight[kept],
            entry_ptr=sizes_to_ptr(self.list_size[kept]),
            entry_slot=self.entry_slot[entries],
            entry_rank=self.entry_rank[entries],
            entry_score=None if self.entry_score is None else self.entry_score[entries],
        )
