"""From lists in order to Rankings: slots, ranks and ties, in several threads if there is much to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Codes, Floats, Ints
from juryrank.kernels.slots import fill_slots


class Team:
    """This thread and ``n_threads - 1`` others, which start when they are first needed and wait in between."""

    def __init__(self, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self.others = ThreadPoolExecutor(n_threads - 1) if n_threads > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.others is not None:
            self.others.shutdown()

    def call(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
        """The results of the calls, of which this thread makes the first."""
        if self.others is None or not calls:
            return [call() for call in calls]
        later = [self.others.submit(call) for call in calls[1:]]
        return [calls[0](), *(each.result() for each in later)]


def rankings_of_lists(
    names: tuple[Sequence[str], Sequence[str], Any],
    list_ptr: Ints,
    list_expert: Ints,
    entry_ptr: Ints,
    entry_item: Codes,
    worth: Floats,
    values: Mapping[str, Floats],
    team: Team | None = None,
) -> Rankings | None:
    """The Rankings of lists without weights, best entry first; None where one rises in worth or repeats an item.

    ``names`` are those of queries, experts and items. ``worth`` falls from the best entry of a list to the worst and is
    equal where entries tie; ``values`` are the rank of each entry, unless ``worth`` gives it, and the score.
    """
    queries, experts, items = names
    entry_slot, entry_rank = np.empty(len(entry_item), np.int32), np.empty(len(entry_item))
    slots = _slots(len(items), list_ptr, entry_ptr, entry_item, worth, entry_slot, entry_rank, team or Team())
    if slots is None:
        return None
    slot_ptr, slot_item = slots
    return Rankings(
        queries=tuple(queries),
        experts=tuple(experts),
        items=items,
        slot_ptr=slot_ptr,
        slot_item=slot_item,
        list_ptr=list_ptr,
        list_expert=list_expert.astype(np.int32),
        list_weight=np.ones(len(list_expert)),
        entry_ptr=entry_ptr,
        entry_slot=entry_slot,
        entry_rank=values.get("rank", entry_rank),
        entry_score=values.get("score"),
    )


def _slots(
    n_items: int, list_ptr: Ints, entry_ptr: Ints, item: Codes, worth: Floats, slot: Codes, rank: Floats, team: Team
) -> tuple[Ints, Codes] | None:
    """The slots of each query and their items; writes slot and rank of each entry."""
    start = entry_ptr[list_ptr]  # of the entries of each query
    inner = np.searchsorted(start, len(item) * np.arange(1, team.n_threads) / team.n_threads).tolist()
    cuts = [0, *inner, len(list_ptr) - 1]
    blocks = [(first, last) for first, last in pairwise(cuts) if first < last]
    slot_ptr, slot_item = np.zeros(len(list_ptr), np.int64), np.empty(len(item), np.int32)

    def fill(first: int, last: int) -> Ints | None:
        """The slots of the queries first:last, counted from 0; their items go where the entries begin."""
        seen, ptr = np.full(n_items, -1, np.int32), np.empty(last - first + 1, np.int64)
        here, lists = slot_item[start[first] : start[last]], list_ptr[first : last + 1]
        return ptr if fill_slots(lists, entry_ptr, item, worth, seen, ptr, here, slot, rank) else None

    parts, n_slots = [], 0
    for (first, last), ptr in zip(blocks, team.call([partial(fill, *b) for b in blocks]), strict=True):
        if ptr is None:
            return None
        slot_ptr[first : last + 1] = ptr + n_slots
        slot[start[first] : start[last]] += n_slots
        parts.append(slot_item[start[first] : start[first] + ptr[-1]])
        n_slots += int(ptr[-1])
    return slot_ptr, np.concatenate(parts) if parts else slot_item
