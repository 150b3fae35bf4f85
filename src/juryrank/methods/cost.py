"""What a method costs: seconds by the size of the data, roughly, and the memory of matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt

import numpy as np

from juryrank.data import Rankings
from juryrank.errors import DataError

MATRIX_BYTES = 800_000_000  # of one query: pairs of 10,000 items, 8 bytes each

# What the time of a method grows with.
UNITS: dict[str, Callable[[Rankings], float]] = {
    "entries": lambda r: float(r.n_entries),
    "pairs of items": lambda r: float((r.query_size.astype(np.float64) ** 2).sum() / 2),
    "triples of items": lambda r: float((r.query_size.astype(np.float64) ** 3).sum() / 6),
    "pairs in lists": lambda r: float((r.list_size.astype(np.float64) ** 2).sum() / 2),
}


@dataclass(frozen=True)
class Cost:
    """Nanoseconds of one thread per unit of the data and per query; good to a factor of three or so."""

    unit: str
    nanoseconds: float
    per_query: float = 0.0
    threaded: bool = True  # whether queries are shared out among threads

    def seconds(self, rankings: Rankings, threads: int = 1) -> float:
        """About how long one pass over all queries takes."""
        spent = UNITS[self.unit](rankings) * self.nanoseconds + len(rankings) * self.per_query
        return spent * 1e-9 / (min(threads, max(len(rankings), 1)) if self.threaded else 1)


def check_matrix_size(name: str, rankings: Rankings, instead: str, *, cell: int = 8, limit: int = MATRIX_BYTES) -> None:
    """Refuse a query whose matrix of pairs, ``cell`` bytes each, exceeds ``limit`` bytes, and say what to use."""
    largest, most = int(rankings.query_size.max(initial=0)), isqrt(limit // cell)
    if largest > most:
        query = rankings.queries[int(rankings.query_size.argmax())]
        raise DataError(
            f"{name} compares all pairs and takes up to {most} items per query; "
            f"query {query!r} has {largest}; use {instead}, or cut the lists"
        )
