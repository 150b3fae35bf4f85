"""Names of queries, experts and items in TREC runs, as kernels number them: bytes with a newline after each name."""

from __future__ import annotations

import io
import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Codes, Ints
from juryrank.data.names import sorted_naturally
from juryrank.kernels.words import merge_names, name_places
from juryrank.polars import is_imported, pl

LITTLE = 1_000_000  # bytes of names, which Python splits in the time that the import of polars takes
OWN_PAGES = 1 << 20  # bytes of an array that gets pages of its own; of smaller ones, the time for new pages counts more
PRIVATE = {"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}  # Windows has no flags
PADDING = bytes(16)  # kernels read beyond the end of a text


def reserve(size: int, dtype: type[np.generic]) -> NDArray[Any]:
    """An array for the worst case, in pages of its own if it is large.

    These are not used until they are written to, and go back to the system with the array. The C library would keep
    much of what it gets back for later.
    """
    n_bytes = size * np.dtype(dtype).itemsize
    if n_bytes < OWN_PAGES:
        return np.empty(size, dtype)
    return np.frombuffer(mmap.mmap(-1, n_bytes, **PRIVATE), dtype)


class Names:
    """Names of one kind, numbered in the order of their first use."""

    def __init__(self, most: int, size: int) -> None:
        self.book = reserve(3 * most, np.int64).reshape(-1, 3)  # hash, start and stop of each name
        self.text = reserve(size + len(PADDING), np.uint8)  # the names, a newline after each
        self.count = np.zeros(1, np.int64)

    def __len__(self) -> int:
        return int(self.count[0])

    @property
    def size(self) -> int:
        """Bytes of all names, a newline after each."""
        return int(self.book[len(self) - 1, 2]) + 1 if len(self) else 0

    def adopt(self, other: Names) -> Codes | None:
        """The number that each of the other names has here, or gets now; None where too many names collide."""
        number = np.empty(len(other), np.int32)
        fits = merge_names(other.text, other.book, len(other), self.book, self.text, self.count, number)
        return number if fits else None

    def in_natural_order(self) -> tuple[list[str], Ints]:
        """Names in natural order, and the position of each in it."""
        names = text_of(self.text, self.size).split("\n") if len(self) else []
        ordered = sorted_naturally(names)
        place = {name: n for n, name in enumerate(ordered)}
        return ordered, np.array([place[name] for name in names], np.int64)

    def in_order(self) -> tuple[NDArray[np.uint8], Codes]:
        """Names in alphabetical order, a newline after each, and the position of each in it."""
        place, ordered = np.empty(len(self), np.int32), np.empty(self.size, np.uint8)
        name_places(self.text, self.book, len(self), place, ordered)
        return ordered, place


def series_or_array(text: NDArray[np.uint8]) -> pl.Series | NDArray[np.object_]:
    """The names in a text that has a newline after each; little text is split without polars."""
    if len(text) > LITTLE or is_imported() or not len(text):
        return split(text, len(text))
    return np.array(text_of(text, len(text)).split("\n"), object)


def split(text: NDArray[np.uint8], size: int) -> pl.Series:
    """The names in a text that has a newline after each."""
    if not size:
        return pl.Series(dtype=pl.String)
    return pl.read_lines(io.BytesIO(text[:size].tobytes())).to_series().rechunk()


def text_of(text: NDArray[np.uint8], size: int) -> str:
    """The names in a text that has a newline after each, without the last newline."""
    return text[: max(size - 1, 0)].tobytes().decode()
