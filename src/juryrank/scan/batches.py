"""Data that is read in batches of whole queries, as often as necessary: the input of fits beyond memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from juryrank.data import Dataset
from juryrank.data.arrays import Ints

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Batch:
    """Some queries; all batches have the same experts."""

    data: Dataset
    numbers: Ints  # of the queries among those of all batches, ascending; those of which nothing is known are left out


class Batches(Protocol):
    """All queries in batches, each time in the same order."""

    @property
    def n_queries(self) -> int:
        """The number of queries in all batches."""
        ...

    def map(self, work: Callable[[Batch], T], together: Ints | None = None) -> Iterator[T]:
        """The result of ``work`` on each batch, in order; several batches may be worked on at the same time.

        Neighbouring queries with equal numbers in ``together`` are in one batch.
        """
        ...
