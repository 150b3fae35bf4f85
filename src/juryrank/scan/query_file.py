"""One file that is read query by query, and the positions of each query in it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.errors import DataError
from juryrank.io.rows import Rows
from juryrank.io.sources import Options
from juryrank.polars import pl

CHUNK = 1 << 21  # bytes, or rows times 8, that are scanned at a time
SCATTERED = 4  # stretches per query up to which a file counts as sorted

Extents = Sequence[tuple[int, int]]  # from and to


class Stretches(NamedTuple):
    """The places of queries in a file, in the order of the file."""

    query: pl.Series
    start: Ints
    stop: Ints


@dataclass
class QueryFile(ABC):
    """One file and the positions of each query in it."""

    path: Path
    options: Options
    chunk: int = CHUNK
    tag: str = ""  # the expert, if the file has only one
    experts: set[str] = field(default_factory=set)
    advice = ""
    weight = 1  # approximate bytes in memory for each unit of a stretch
    most = 1 << 28  # bytes of a batch above which larger batches are not faster
    columns: frozenset[str] = frozenset({"score"})  # of entries, in addition to their names
    lacks_scores = False  # whether an entry has no score

    @abstractmethod
    def chunks(self) -> Sequence[int]:
        """The starts of the parts that can be scanned in parallel."""

    @abstractmethod
    def stretches_in(self, chunk: int) -> Stretches:
        """The stretches that begin in a chunk; neighbours may belong to one query."""

    @abstractmethod
    def settle_experts(self) -> None:
        """Decide what depends on the whole file, once all chunks have been scanned."""

    @abstractmethod
    def rows(self, extents: Extents) -> Rows:
        """The rows at some places."""

    def stretches(self, chunks: Iterable[Stretches]) -> Stretches:
        """The stretches of the whole file; an error if queries are scattered."""
        parts: list[Stretches] = []
        count, checked = 0, 1000
        for part in chunks:
            if parts and len(part.start) and parts[-1].query[-1] == part.query[0]:
                parts[-1].stop[-1] = part.stop[0]
                part = Stretches(part.query[1:], part.start[1:], part.stop[1:])
            if len(part.start):
                parts.append(part)
                count += len(part.start)
            if count > 2 * checked:
                self._demand_sorted(parts, count)
                checked = count
        self._demand_sorted(parts, count)
        if not count:
            raise DataError(f"{self.path}: nothing to read: no row has a query")
        query = pl.concat([part.query for part in parts])
        start, stop = (np.concatenate(column) for column in zip(*(part[1:] for part in parts), strict=True))
        return Stretches(query, start, stop)

    def _demand_sorted(self, parts: Sequence[Stretches], count: int) -> None:
        if count <= 1000:
            return
        names = pl.concat([part.query for part in parts]).to_frame()
        queries = int(names.select(pl.all().approx_n_unique()).item())  # to one percent, in little memory
        if count > SCATTERED * queries + 1000:
            raise DataError(
                f"{self.path}: the rows of a query must be adjacent to be read query by query, but "
                f"about {queries} queries are in {count} places so far; {self.advice}"
            )


def merge_extents(extents: Extents) -> list[tuple[int, int]]:
    """Places in order, neighbours joined."""
    out: list[tuple[int, int]] = []
    for start, stop in sorted(extents):
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], stop)
        else:
            out.append((start, stop))
    return out
