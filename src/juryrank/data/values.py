"""What the numbers of lists are: scores (large is best), ranks (1 is best) or distances (small is best)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.data.shapes import ItemList, Key, as_item_list, by_name, without_iterators
from juryrank.errors import DataError
from juryrank.polars import pl

VALUES = ("score", "rank", "distance")
REMEDIES = ("values='score'", "values='distance'")


def demand_values(values: str) -> None:
    """A DataError for what numbers cannot be."""
    if values not in VALUES:
        raise DataError(f"values must be 'score', 'rank' or 'distance', got {values!r}")


def scores_of_distances(listed: ItemList) -> ItemList:
    """A list with distances as one with scores: the same numbers below zero."""
    return ItemList(listed.items, None if listed.numbers is None else [-number for number in listed.numbers])


def distances_as_scores(lists: Mapping[Any, Any] | Iterable[Any], key: Key) -> dict[str, ItemList]:
    """The lists of one query with distances, as lists with scores."""
    return {
        expert: scores_of_distances(as_item_list(listed, f"expert {expert!r}", key, "distance"))
        for expert, listed in without_iterators(by_name(lists)).items()
    }


def demand_ranks(entries: pl.DataFrame, source: str, remedies: Sequence[str] = REMEDIES) -> None:
    """A DataError for a column ``rank`` with a number below 1, or a fraction that is not the mean rank of tied items.

    ``remedies`` say how the numbers are read as scores, and as distances.
    """
    rank: Floats = entries["rank"].cast(pl.Float64).to_numpy()  # NaN where it is missing
    finite = np.isfinite(rank)
    wrong = finite & ((rank < 1) | (2 * rank != np.floor(2 * rank)))
    if not wrong.any() and (half := finite & (rank != np.floor(rank))).any():
        rows = np.flatnonzero(half)
        names = [name for name in ("query", "expert", "list", "rank") if name in entries.columns]
        keys = list(zip(*(entries[name].gather(rows).to_list() for name in names), strict=True))
        times = Counter(keys)  # a forked process has no threads for a query of polars
        wrong[rows[[times[key] < 2 for key in keys]]] = True
    if not wrong.any():
        return
    row = entries.row(int(np.argmax(wrong)), named=True)
    words = ["item", "expert", *(["query"] if entries["query"].n_unique() > 1 else [])]
    where = [f"{word} {row[word]!r}" for word in words]
    raise DataError(f"{source}: {_no_rank(float(row['rank']), remedies)} ({', '.join(where)})")


def are_ranks(numbers: Sequence[float]) -> bool:
    """Whether the numbers of one list can be ranks."""
    known = [number for number in numbers if isfinite(number)]
    if any(number < 1 or 2 * number % 1 for number in known):
        return False
    halves = Counter(number for number in known if number % 1)
    return all(count > 1 for count in halves.values())


def _no_rank(found: float, remedies: Sequence[str]) -> str:
    """What a number that is no rank may be, and what to do."""
    zero = "ranks that count from 0: add 1; " if found == 0 else ""
    return (
        f"ranks start at 1 (1 is best) and are whole, or halves that tied items share, got {found:g}; {zero}"
        f"scores (large is best): {remedies[0]}; other numbers of which small is best: {remedies[1]}"
    )
