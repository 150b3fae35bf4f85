"""The entries of a Parquet table in blocks of rows, which are decoded once if they are read in order."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.data.entries import codes
from juryrank.data.names import sort_naturally
from juryrank.polars import pl
from juryrank.scan.query_file import Extents, merge_extents

KEPT = 3  # blocks of a table in memory: batches that are read at the same time are near each other
UNUSUAL = (b"\0", b"\n", b"\r")  # in names: kernels treat these in another way


class Entries(NamedTuple):
    """Rows of a table that are all entries."""

    text: bytes  # the names of their items, one after the other
    offset: Ints  # where each begins in the text, and where the last one ends
    expert: Ints  # which of the experts
    experts: Sequence[str]
    values: Mapping[str, Floats]  # rank or score, or both

    @classmethod
    def of(cls, rows: pl.DataFrame, expert: str) -> Entries | None:
        """Those of rows with item, rank or score, and perhaps expert; None where a cell is empty or a name unusual."""
        if any(column.null_count() for column in rows):
            return None
        words = [word for word in rows.columns if word in ("rank", "score")]
        values: dict[str, Floats] = {word: rows[word].cast(pl.Float64).to_numpy() for word in words}
        if not all(np.isfinite(value).all() for value in values.values()):
            return None
        text, size = rows["item"].str.join("").item().encode(), rows["item"].str.len_bytes().to_numpy()
        rank = values.get("rank", size)
        if (
            not size.all()
            or any(byte in text for byte in UNUSUAL)
            or (rank < 1).any()
            or (rank != np.floor(rank)).any()
        ):
            return None
        offset = np.append(0, np.cumsum(size, dtype=np.int64))
        if "expert" not in rows.columns:
            return cls(text, offset, np.zeros(rows.height, np.int64), [expert], values)
        experts = sort_naturally(rows["expert"])
        return cls(text, offset, codes(rows["expert"], experts), experts.to_list(), values)

    def part(self, first: int, last: int) -> Entries:
        """Some rows."""
        offset = self.offset[first : last + 1]
        values = {word: value[first:last] for word, value in self.values.items()}
        text = self.text[offset[0] : offset[-1]]
        return Entries(text, offset - offset[0], self.expert[first:last], self.experts, values)

    def renamed(self, expert: str) -> Entries:
        """The same entries, of one expert."""
        return self._replace(expert=np.zeros(len(self.expert), np.int64), experts=[expert])


class EntryBlocks:
    """The entries of a table, decoded in blocks by ``decode(start, stop)``; the last few blocks stay in memory."""

    def __init__(self, bounds: Sequence[int], decode: Callable[[int, int], Entries | None]) -> None:
        self.bounds, self.decode = bounds, decode
        self.kept: dict[int, Entries | None] = {}
        self.lock = threading.Lock()

    def read(self, extents: Extents) -> list[Entries] | None:
        """The entries at some places, in the order of the table; None where a row is no complete entry."""
        out = []
        for first, stop in merge_extents(extents):
            start = first
            while start < stop:
                n = bisect_right(self.bounds, start) - 1
                last = min(stop, self.bounds[n + 1])
                if (block := self._block(n)) is None:
                    return None
                out.append(block.part(start - self.bounds[n], last - self.bounds[n]))
                start = last
        return out

    def _block(self, n: int) -> Entries | None:
        with self.lock:  # a second thread that needs the same block waits for it
            if n not in self.kept:
                while len(self.kept) >= KEPT:
                    del self.kept[next(iter(self.kept))]
                self.kept[n] = self.decode(self.bounds[n], self.bounds[n + 1])
            return self.kept[n]


def block_bounds(groups: Sequence[int], most: int) -> list[int]:
    """Where blocks of at most about ``most`` rows begin and end: some row groups each, or equal parts of a large one.

    >>> block_bounds([0, 10, 20, 30, 100], 25), block_bounds([0], 25)
    ([0, 20, 30, 53, 77, 100], [0])
    """
    out = [0]
    for start, stop in pairwise(groups):
        if stop - out[-1] > most and start > out[-1]:
            out.append(start)
        if stop - start > most:
            parts = -(-(stop - start) // most)
            out += [start + round((stop - start) * n / parts) for n in range(1, parts)]
            out.append(stop)
    return out if out[-1] == groups[-1] else [*out, groups[-1]]
