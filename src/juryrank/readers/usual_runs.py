"""TREC runs as they usually are, straight from bytes to a Dataset; whatever is unusual is left to ``trec_run``.

Usual: one blank or one tab between words, lists that stand together and fall in score, no item twice in a list, no
name shared by two files. There the two ways give the same Dataset, and this one takes a fifth of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings
from juryrank.data.names import natural_key
from juryrank.data.rankings import Codes, Floats, Ints
from juryrank.kernels.ragged import children, sizes_to_ptr
from juryrank.kernels.run_lines import CAREFUL, ENTRY, EXPERT, ITEM, LIST, QUERY, WORDS, scan_runs
from juryrank.kernels.slots import fill_slots
from juryrank.readers.source import Source
from juryrank.readers.words import first_words, separator_of

WORTHWHILE = 500_000  # bytes; below, loading compiled code takes longer than the careful way


def read(sources: Sequence[Source], pieces: Sequence[tuple[int, int, int]] | None = None) -> Dataset | None:
    """The Dataset of these runs, or None where a line is unusual.

    ``pieces`` (source, from, to) gives the order in which they are read: when the lists of a query come one after the
    other, names are still at hand. Each piece ends with a line.
    """
    n_words = [len(first_words(source)) for source in sources]
    if not set(n_words) <= {WORDS, WORDS - 1}:
        return None
    texts = [source.data if source.data.endswith(b"\n") else source.data + b"\n" for source in sources]
    if pieces is None:
        pieces = [(n, 0, len(text)) for n, text in enumerate(texts)]
    which = np.array([n for n, _, _ in pieces])
    ptr = sizes_to_ptr([stop - start for _, start, stop in pieces])
    separators = np.array([ord(separator_of(text)) for text in texts], np.uint8)
    views = [memoryview(text) for text in texts]
    data = b"".join([views[n][start:stop] for n, start, stop in pieces])
    lines = Lines(data, ptr, separators[which], np.array(n_words)[which])
    return lines.dataset() if lines.usual else None


class Lines:
    """All lines of some runs, as numbers of names."""

    def __init__(self, data: bytes, ptr: Ints, separators: NDArray[np.uint8], n_words: Ints) -> None:
        self.data = data
        room = data.count(b"\n")
        # Room for the worst case costs nothing until it is written to.
        self.books = tuple(np.empty((room, 3), np.int64) for _ in range(3))  # hash, start and stop of each name
        self.texts = tuple(np.empty(len(data), np.uint8) for _ in range(3))  # the names, a newline after each
        self.list_query, self.list_expert = np.empty(room, np.int32), np.empty(room, np.int32)
        self.list_start = np.empty(room, np.int64)
        self.item, self.score = np.empty(room, np.int32), np.empty(room)
        self.careful = np.empty(3 * room, np.int64)  # entry, start and stop of scores that need care
        self.counts = np.zeros(6, np.int64)
        self.usual = scan_runs(
            np.frombuffer(data, np.uint8), ptr, separators, n_words, self.books, self.texts, self.list_query,
            self.list_expert, self.list_start, self.item, self.score, self.careful, self.counts,
        ) and self._with_careful_scores()  # fmt: skip

    def _with_careful_scores(self) -> bool:
        """Read the scores that need care; False where one of them is not finite."""
        for entry, start, stop in self.careful[: self.counts[CAREFUL]].reshape(-1, 3).tolist():
            self.score[entry] = float(self.data[start:stop])
        return bool(np.isfinite(self.score[: self.counts[ENTRY]]).all())

    def names(self, kind: int) -> pl.Series:
        """The names of a kind, by number."""
        count = int(self.counts[kind])
        stop = int(self.books[kind][count - 1, 2]) if count else 0
        text = self.texts[kind][:stop].tobytes().decode()
        return pl.Series([text][:count]).cast(pl.String).str.split("\n").explode()

    def dataset(self) -> Dataset | None:
        """The Dataset, or None where lists are not as they usually are."""
        queries, query = _in_natural_order(self.names(QUERY).to_list())
        experts, expert = _in_natural_order(self.names(EXPERT).to_list())
        items, item = _in_order(self.names(ITEM))
        n_lists, n_entries = int(self.counts[LIST]), int(self.counts[ENTRY])
        list_query, list_expert = query[self.list_query[:n_lists]], expert[self.list_expert[:n_lists]]
        key = list_query * len(experts) + list_expert
        lists = np.argsort(key, kind="stable")
        if (np.diff(key[lists]) == 0).any():
            return None
        file_ptr = np.append(self.list_start[:n_lists], n_entries)
        entries = children(file_ptr, lists)
        list_ptr = sizes_to_ptr(np.bincount(list_query, minlength=len(queries)))
        entry_ptr = sizes_to_ptr(np.diff(file_ptr)[lists])
        score = self.score[entries]
        found = _slots(list_ptr, entry_ptr, item[self.item[entries]], score, len(items))
        if found is None:
            return None
        slot_ptr, slot_item, entry_slot, entry_rank = found
        rankings = Rankings(
            queries=tuple(queries),
            experts=tuple(experts),
            items=items,
            slot_ptr=slot_ptr,
            slot_item=slot_item,
            list_ptr=list_ptr,
            list_expert=list_expert[lists].astype(np.int32),
            list_weight=np.ones(n_lists),
            entry_ptr=entry_ptr,
            entry_slot=entry_slot,
            entry_rank=entry_rank,
            entry_score=score,
        )
        return Dataset(rankings=rankings)


def _slots(
    list_ptr: Ints, entry_ptr: Ints, item: NDArray[Any], score: Floats, n_items: int
) -> tuple[Ints, NDArray[np.int32], NDArray[np.int32], Floats] | None:
    slot_ptr, slot_item = np.empty(len(list_ptr), np.int64), np.empty(len(item), np.int32)
    entry_slot, entry_rank = np.empty(len(item), np.int32), np.empty(len(item))
    seen = np.full(n_items, -1, np.int32)
    if not fill_slots(list_ptr, entry_ptr, item, score, seen, slot_ptr, slot_item, entry_slot, entry_rank):
        return None
    return slot_ptr, slot_item[: slot_ptr[-1]].copy(), entry_slot, entry_rank


def _in_natural_order(names: list[str]) -> tuple[list[str], Ints]:
    """Names in natural order, and for each of ``names`` its place there."""
    ordered = sorted(names, key=natural_key)
    place = {name: n for n, name in enumerate(ordered)}
    return ordered, np.array([place[name] for name in names], np.int64)


def _in_order(names: pl.Series) -> tuple[pl.Series, Codes]:
    """Names in the order of their letters, and for each of ``names`` its place there."""
    order = names.arg_sort()
    place = np.empty(len(order), np.int32)
    place[order.to_numpy()] = np.arange(len(order), dtype=np.int32)
    return names.gather(order), place
