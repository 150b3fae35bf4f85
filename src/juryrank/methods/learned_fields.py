"""Declarations of what a method learns: kind, shape and bounds, checked after ``fit`` and when a model is loaded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from reprlib import repr as shortened
from typing import Any, Protocol

import numpy as np

LARGEST_WHOLE = 2**63 - 1
Sizes = dict[str, int]  # of named dimensions: those of one model agree


class Kind(Protocol):
    """What a learned value is."""

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        """What is wrong with a value, as "must be …, found …"; it may bind a dimension that has no size yet."""


def learned(kind: Kind) -> Any:
    """A field that ``fit`` fills; its name ends in ``_``."""
    return field(init=False, repr=False, compare=False, default=MISSING, metadata={"kind": kind})


@cache
def learned_kinds(owner: Any) -> Mapping[str, Kind]:
    """The kinds of all that a method learns, by field."""
    return {f.name: f.metadata["kind"] for f in fields(owner) if "kind" in f.metadata}


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """The least and the largest value; ``below`` names a dimension, for values that are indices."""

    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    below: str | None = None

    def out_of(self, least: Any, largest: Any, sizes: Sizes) -> str | None:
        """What numbers between these two break."""
        if self.above is not None and not least > self.above:
            return f"must be > {self.above:g}, found {least}"
        if self.at_least is not None and not least >= self.at_least:
            return f"must be >= {self.at_least:g}, found {least}"
        if self.at_most is not None and not largest <= self.at_most:
            return f"must be <= {self.at_most:g}, found {largest}"
        if self.below is not None and not largest < sizes[self.below]:
            return f"must be below the number of {self.below}, {sizes[self.below]}, found {largest}"
        return None


@dataclass(frozen=True)
class Names:
    """A list of texts, by default distinct, whose length is the size of a dimension."""

    dimension: str
    at_least: int = 0
    distinct: bool = True

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            return f"must be a list of names, found {shortened(value)}"
        if len(value) < self.at_least:
            return f"must name at least {self.at_least}, found {len(value)}"
        if self.distinct and len(set(value)) < len(value):
            twice = next(name for n, name in enumerate(value) if name in value[:n])
            return f"must be distinct names, found {twice!r} twice"
        sizes[self.dimension] = len(value)
        return None


class Array:
    """An array of finite numbers with these dimensions: names, which agree in one model, or sizes."""

    def __init__(self, *shape: str | int, whole: bool = False, **bounds: Any) -> None:
        self.shape, self.dtype, self.bounds = shape, np.dtype("int64" if whole else "float64"), Bounds(**bounds)

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, np.ndarray):
            return f"must be an array, found {shortened(value)}"
        if value.dtype != self.dtype:
            return f"must hold {self.dtype} numbers, found {value.dtype}"
        if value.ndim == len(self.shape):  # the first array with a dimension binds it
            for name, size in zip(self.shape, value.shape, strict=True):
                sizes.setdefault(name, size) if isinstance(name, str) else None
        wanted = tuple(sizes.get(name) if isinstance(name, str) else name for name in self.shape)
        if value.shape != wanted:
            shape = " × ".join(f"{sizes.get(d, 'any')} {d}" if isinstance(d, str) else str(d) for d in self.shape)
            return f"must have the shape {shape}, found {' × '.join(map(str, value.shape)) or 'one number'}"
        if not value.size:
            return None
        if self.dtype.kind == "f" and (bad := value.size - np.count_nonzero(np.isfinite(value))):
            return f"must be finite numbers, but {bad} of {value.size} are not"
        return self.bounds.out_of(value.min(), value.max(), sizes)


class Number:
    """One finite number."""

    def __init__(self, *, whole: bool = False, **bounds: Any) -> None:
        self.whole, self.bounds = whole, Bounds(**bounds)

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            return f"must be a {'whole ' * self.whole}number, found {shortened(value)}"
        if isinstance(value, float) and not np.isfinite(value):
            return f"must be finite numbers, but one is {value}"
        if isinstance(value, int) and abs(value) > LARGEST_WHOLE:
            return "must be a number of at most 64 bits, found a larger one"
        return self.bounds.out_of(value, value, sizes)


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    choices: tuple[str, ...]

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        if isinstance(value, str) and value in self.choices:
            return None
        return f"must be one of {', '.join(self.choices)}, found {shortened(value)}"


@dataclass(frozen=True)
class ListOf:
    """A list of values of one kind, of any length unless that is given."""

    kind: Kind
    length: int | None = None

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, list):
            return f"must be a list, found {shortened(value)}"
        if self.length is not None and len(value) != self.length:
            return f"must have {self.length} values, found {len(value)}"
        return first_fault(self.kind, value, sizes)


@dataclass(frozen=True)
class ByName:
    """Values of one kind by name."""

    kind: Kind

    def fault(self, value: Any, sizes: Sizes) -> str | None:
        if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
            return f"must give values by name, found {shortened(value)}"
        return first_fault(self.kind, value.values(), sizes)


def first_fault(kind: Kind, values: Collection[Any], sizes: Sizes) -> str | None:
    """What is wrong with the first of the values that has a fault."""
    return next(filter(None, (kind.fault(value, sizes) for value in values)), None)


def first_learned_fault(owner: Any, sizes_of: Callable[[], Sizes]) -> str | None:
    """What is wrong with what a method has learned, if anything.

    ``sizes_of`` gives dimensions that follow from names and parameters; it is called once the names are sound.
    """
    sizes: Sizes = {}
    for kind_is_names in (True, False):
        for name, kind in learned_kinds(owner.__class__).items():
            if isinstance(kind, Names) is kind_is_names and (fault := kind.fault(getattr(owner, name), sizes)):
                return f"{name} {fault}"
        sizes |= sizes_of() if kind_is_names else {}
    return None
