"""From rows with names to flat arrays: lists, slots, duplicates and the order of entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, warn_about_data
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.polars import pl, threads_are_lost

MANY_NAMES = 100_000  # with more, a join with several threads is faster


def codes(column: pl.Series, names: pl.Series) -> Ints:
    """The position of each value among distinct ``names``; -1 if it is not among them."""
    if (len(names) <= MANY_NAMES or threads_are_lost()) and column.dtype == names.dtype == pl.String:
        place = column.cast(pl.Enum(names), strict=False).to_physical().to_numpy()  # NaN if it is not among them
        places: Ints = np.nan_to_num(place, nan=-1.0).astype(np.int64)
        return places
    table = pl.DataFrame({"name": names, "code": np.arange(len(names))})
    found = column.to_frame("name").join(table, on="name", how="left", maintain_order="left")["code"]
    return found.fill_null(-1).to_numpy().astype(np.int64)


def floats(frame: pl.DataFrame, name: str) -> Floats | None:
    """A column as numbers, if it exists."""
    return frame[name].cast(pl.Float64).to_numpy() if name in frame.columns else None


def ranks_from_scores(list_code: Ints, score: Floats) -> Floats:
    """Rank of each entry in its list by score, largest first; equal scores share the smaller rank (1, 2, 2, 4)."""
    order = sorted_order(list_code, -score)
    sorted_list, sorted_score = list_code[order], score[order]
    at = np.arange(len(order))
    new_list = np.ones(len(order), bool)
    new_list[1:] = sorted_list[1:] != sorted_list[:-1]
    new_value = new_list.copy()
    new_value[1:] |= sorted_score[1:] != sorted_score[:-1]
    start = np.maximum.accumulate(np.where(new_list, at, 0))
    tied_from = np.maximum.accumulate(np.where(new_value, at, 0))
    out = np.empty(len(order))
    out[order] = tied_from - start + 1
    return out


class Lists:
    """The lists of a Rankings and, for each entry, its list."""

    def __init__(self, code: Ints, query: Ints, expert: Ints, weight: Floats) -> None:
        self.code, self.query, self.expert, self.weight = code, query, expert, weight

    def keep(self, kept: Ints) -> Lists:
        return Lists(self.code[kept], self.query, self.expert, self.weight)


def lists_of(query: Ints, expert: Ints, entries: pl.DataFrame, source: str) -> Lists:
    key = query * (int(expert.max(initial=0)) + 1) + expert
    if "list" in entries.columns:
        several = codes(entries["list"], entries["list"].unique(maintain_order=True))
        key = key * (int(several.max(initial=0)) + 1) + several
    first, code = distinct_keys(key)
    weight = floats(entries, "weight")
    if weight is None:
        weight = np.ones(len(query))
    if (wrong := np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))).size:
        row, found = entries.row(int(wrong[0]), named=True), float(weight[wrong[0]])
        raise DataError(
            f"{source}: the weight of a list must be a finite number >= 0, but that of expert {row['expert']!r} "
            f"in query {row['query']!r} is {found}"
        )
    list_weight = weight[first]
    if (differs := np.flatnonzero(list_weight[code] != weight)).size:
        row = entries.row(int(differs[0]), named=True)
        raise DataError(
            f"{source}: a list has one weight, but the entries of expert {row['expert']!r} "
            f"in query {row['query']!r} have several"
        )
    return Lists(code, query[first], expert[first], list_weight)


def distinct_keys(key: Ints) -> tuple[Ints, Ints]:
    """The first position of each distinct key, in sorted order, and the number of every key among them."""
    size = int(key.max(initial=-1)) + 1
    if size > 4 * len(key) + 1000:
        _, first, code = np.unique(key, return_index=True, return_inverse=True)
        return first, code
    first = np.full(size, -1)
    first[key[::-1]] = np.arange(len(key))[::-1]  # of equal keys, the first is written last
    present = first >= 0
    return first[present], (np.cumsum(present) - 1)[key]


def slots_of(
    query: Ints, item: Ints, candidates: pl.DataFrame | None, queries: pl.Series, items: pl.Series, keep_order: bool
) -> tuple[Ints, Ints, Ints]:
    """The offsets of the slots of each query, the item of each slot, and the slot of each entry."""
    width = max(len(items), 1)
    key = query * width + item
    if candidates is not None:
        extra = codes(candidates["query"], queries) * width + codes(candidates["item"], items)
        key = np.concatenate([extra, key])
    slots, first, slot = np.unique(key, return_index=True, return_inverse=True)
    if keep_order:
        order = np.lexsort((first, slots // width))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        slots, slot = slots[order], place[slot]
    slot_ptr = sizes_to_ptr(np.bincount(slots // width, minlength=len(queries)))
    return slot_ptr, slots % width, slot[len(key) - len(query) :]


def rank_by_score(entries: pl.DataFrame, keys: Sequence[str]) -> pl.Series:
    """The rank of each row's item among the items of its list (rows with the same ``keys``) by their best scores."""
    lists = np.zeros(entries.height, np.int64)
    for name in keys:
        _, lists = distinct_keys(_pair_codes(lists, entries[name]))
    first, code = distinct_keys(_pair_codes(lists, entries["item"]))
    best = np.full(len(first), -np.inf)
    np.fmax.at(best, code, entries["score"].cast(pl.Float64).to_numpy())
    rank = np.where(np.isfinite(best), ranks_from_scores(lists[first], best), np.nan)
    return pl.Series(rank[code], nan_to_null=True)


def _pair_codes(code: Ints, column: pl.Series) -> Ints:
    """A number for each pair of code and value."""
    values = column.unique()
    return code * len(values) + codes(column, values)


def best_of_duplicates(lists: Ints, slot: Ints, rank: Floats | None, score: Floats | None, source: str) -> Ints | None:
    """The positions of the entries to keep, the best of each item in a list; None if no item is repeated."""
    key = lists * (int(slot.max(initial=0)) + 1) + slot
    worth = -rank if rank is not None else score
    assert worth is not None
    order = np.argsort(key, kind="stable") if len(key) > 1 and not (key[1:] > key[:-1]).all() else np.arange(len(key))
    again = np.zeros(len(key), bool)
    again[1:] = key[order][1:] == key[order][:-1]
    if not again.any():
        return None
    warn_about_data(f"{source}: {int(again.sum())} entries repeat an item of their list; the best is kept")
    order = np.lexsort((np.arange(len(key)), -worth, key))
    first = np.ones(len(key), bool)
    first[1:] = key[order][1:] != key[order][:-1]
    return np.sort(order[first])


def sorted_order(lists: Ints, *keys: NDArray[Any]) -> Ints:
    """Positions sorted by list, then by each key; lists that are sorted already, as in most files, cost little."""
    few = len(lists) > 0 and int(lists.max()) < 1 << 16  # numpy sorts 16 bits by radix
    order = np.argsort(lists.astype(np.uint16) if few else lists, kind="stable")
    sorted_lists = lists[order]
    equal = sorted_lists[1:] == sorted_lists[:-1]
    falls = np.zeros(len(equal), bool)
    for key in keys:
        value = key[order]
        falls |= equal & (value[1:] < value[:-1])
        equal &= value[1:] == value[:-1]
    if falls.any():
        unsorted = np.zeros(int(lists.max()) + 1, bool)
        unsorted[sorted_lists[1:][falls]] = True
        places = np.flatnonzero(unsorted[sorted_lists])
        part = order[places]
        order[places] = part[np.lexsort((*(key[part] for key in reversed(keys)), lists[part]))]
    return order
