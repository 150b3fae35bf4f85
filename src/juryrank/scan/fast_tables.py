"""The fast path for Parquet tables, from blocks of entries to a Dataset; ``tables`` reads what it does not cover.

Covered: rows that are complete entries, without weights and labels, and no item twice in a list. For these, both give
the same Dataset, and this one takes a fifth of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Codes, Floats, Ints
from juryrank.data.entries import sorted_order
from juryrank.data.names import sorted_naturally
from juryrank.io.list_rankings import rankings_of_lists
from juryrank.io.runs import in_order
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.kernels.slots import gather_lists
from juryrank.kernels.trec import Names
from juryrank.scan.entry_blocks import Entries


class Part(NamedTuple):
    """Entries of a table, and the query of each, counted from 0."""

    entries: Entries
    query: Ints


def read(parts: Sequence[Part], queries: Sequence[str]) -> Dataset | None:
    """The Dataset of these entries of these queries, or None where they are not covered."""
    items, item, place = _number_items([part.entries for part in parts])
    experts = sorted_naturally({name for part in parts for name in part.entries.experts})
    number = {name: n for n, name in enumerate(experts)}
    key = np.concatenate(
        [
            part.query * len(experts)
            + np.array([number[name] for name in part.entries.experts], np.int64)[part.entries.expert]
            for part in parts
        ]
    )
    values = {word: np.concatenate([part.entries.values[word] for part in parts]) for word in parts[0].entries.values}
    lists, entry_ptr, item, values = _by_list(key, item, place, values)
    if "rank" in values and "score" in values and not _agree(entry_ptr, values["rank"], values["score"]):
        return None
    list_ptr = sizes_to_ptr(np.bincount(lists // len(experts), minlength=len(queries)))
    expert = lists % len(experts)
    rankings = rankings_of_lists((queries, experts, items), list_ptr, expert, entry_ptr, item, _worth(values), values)
    return None if rankings is None else Dataset(rankings=rankings)


def _number_items(parts: Sequence[Entries]) -> tuple[Any, Codes, Codes]:
    """The distinct items in order, the number of each entry's item, and the place of each number among them."""
    names = Names()
    sizes = np.concatenate([np.diff(part.offset) for part in parts])
    number = names.number_all(b"".join(part.text for part in parts), sizes)
    items, place = in_order(names)
    return items, number, place


def _by_list(
    key: Ints, item: Codes, place: Codes, values: dict[str, Floats]
) -> tuple[Ints, Ints, Codes, dict[str, Floats]]:
    """The distinct keys in order, their offsets, and items (their places) and values of each, the best first."""
    start = np.flatnonzero(np.diff(key, prepend=-1))
    order = np.argsort(key[start], kind="stable")
    if (np.diff(key[start][order]) == 0).any():  # the entries of a list are not adjacent
        rows = np.argsort(key, kind="stable")
        key, item, values = key[rows], item[rows], {word: value[rows] for word, value in values.items()}
        start = np.flatnonzero(np.diff(key, prepend=-1))
        order = np.arange(len(start))
    entry_ptr = sizes_to_ptr(np.diff(np.append(start, len(key)))[order])
    gathered, here = dict[str, Floats](), np.empty(len(item), np.int32)
    for word, value in values.items():
        gathered[word] = np.empty(len(item))
        gather_lists(order, np.int64(0), start, entry_ptr, item, place, value, here, gathered[word])
    worth = _worth(gathered)
    if _rises(entry_ptr, worth).any():
        rows = sorted_order(parents(entry_ptr), -worth)
        here, gathered = here[rows], {word: value[rows] for word, value in gathered.items()}
    return key[start][order], entry_ptr, here, gathered


def _worth(values: Mapping[str, Floats]) -> Floats:
    """Numbers that fall from the best entry of a list to the worst; ranks decide where there are ranks."""
    return -values["rank"] if "rank" in values else values["score"]


def _rises(entry_ptr: Ints, worth: Floats) -> Ints:
    """The positions of entries that are worth more than the one before them in their list."""
    rises = worth[1:] > worth[:-1]
    rises[entry_ptr[1:-1] - 1] = False
    return np.flatnonzero(rises)


def _agree(entry_ptr: Ints, rank: Floats, score: Floats) -> bool:
    """Whether no two entries of a list have the same rank, and scores never rise where ranks do."""
    tied = rank[1:] == rank[:-1]
    tied[entry_ptr[1:-1] - 1] = False
    return not tied.any() and not len(_rises(entry_ptr, score))
