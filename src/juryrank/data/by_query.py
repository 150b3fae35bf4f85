"""Index and iterate data by query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import partial
from types import EllipsisType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Ints
from juryrank.errors import UnknownNameError

Index = int | str | slice | Sequence[int] | NDArray[Any] | tuple[Any, EllipsisType]


def positions(index: Index, names: tuple[str, ...]) -> Ints:
    """The positions of the queries in an index: a number, a name, a slice, numbers or a mask."""
    if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # as scikit-learn indexes rows
        index = index[0]
    if isinstance(index, str):
        if index not in names:
            raise UnknownNameError(f"no query {index!r} among {len(names)} queries")
        return np.array([names.index(index)])
    if isinstance(index, slice):
        return np.arange(len(names))[index]
    chosen = np.atleast_1d(np.asarray(index))
    if chosen.dtype == bool:
        if len(chosen) != len(names):
            raise IndexError(f"a mask of {len(chosen)} for {len(names)} queries")
        return np.flatnonzero(chosen)
    if len(chosen) and not np.issubdtype(chosen.dtype, np.integer):
        raise IndexError(f"queries are indexed by number, name, slice or mask, not {index!r}")
    chosen = chosen.astype(np.int64)
    if len(chosen) and not (-len(names) <= chosen.min() and chosen.max() < len(names)):
        raise IndexError(f"no query {index!r} among {len(names)} queries")
    return np.where(chosen < 0, chosen + len(names), chosen)


class ByQuery:
    """``len``, index and iteration by query, for frozen classes that have ``queries`` and ``take``."""

    queries: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def shape(self) -> tuple[int]:
        """One dimension, the queries; scikit-learn's splitters read it."""
        return (len(self.queries),)

    def __getitem__(self, index: Index) -> Any:
        return self.take(positions(index, self.queries))

    def __iter__(self) -> Iterator[Any]:
        return (self.take(np.array([q])) for q in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy by the constructor: it makes arrays read-only again, which numpy does not keep."""
        return partial(type(self), **{f.name: getattr(self, f.name) for f in fields(self)}), ()  # type: ignore[arg-type]

    def take(self, chosen: Ints) -> Any:
        """The part about the chosen queries, in that order."""
        raise NotImplementedError
