"""Types of the arrays in data, and arrays that are read-only."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.polars import pl

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Names = NDArray[np.object_]


def freeze(owner: Any) -> None:
    """Make the arrays of a dataclass read-only."""
    for f in fields(owner):
        value = vars(owner).get(f.name)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value.flags.writeable = False


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view, as the arrays of rankings are."""
    view = array[:]
    view.flags.writeable = False
    return view


class LazyNames:
    """A field with names: an array of text, or a polars series that becomes one on first access.

    Most work needs the numbers only, and while Python creates text no other thread runs.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type) -> Names:
        if owner is None:
            raise AttributeError(self.name)  # so the field has no default
        names = vars(owner)[self.name]
        if not isinstance(names, np.ndarray):
            text: Names = np.empty(len(names), object)
            text[:] = names.to_list()
            names = vars(owner)[self.name] = read_only_view(text)
        return names  # type: ignore[no-any-return]

    def __set__(self, owner: Any, names: Names | pl.Series) -> None:
        vars(owner)[self.name] = names
