"""Scores as sums of points by position: what serving, export and explain read of a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from juryrank.data.arrays import Floats

DEPENDENCIES = ("rank", "place", "length", "items")
ALONE = (("rank",), ("place",))


@dataclass(frozen=True)
class PositionPoints:
    """The points that a list gives to its items, where the score of an item is the sum of its points over the lists.

    ``depends_on`` names what the points depend on besides the expert: ``rank`` (as given), ``place`` (a rank without
    gaps; tied items share the mean of their places), ``length`` (of the list) and ``items`` (of the query). Where that
    is the rank or the place alone, ``formula`` gives the points of an expert's list at these ranks.
    """

    depends_on: tuple[str, ...]
    formula: Callable[[str, Floats], Floats] | None = None

    def __post_init__(self) -> None:
        if (self.formula is not None) != (self.depends_on in ALONE):
            raise ValueError("a formula is needed where points depend on the rank or the place alone, and only there")
        if not self.depends_on or not all(name in DEPENDENCIES for name in self.depends_on):
            raise ValueError(f"points depend on some of {', '.join(DEPENDENCIES)}, got {self.depends_on!r}")

    @property
    def share_ties(self) -> bool:
        """Whether tied items share the mean of their places; else they have the smallest of their ranks."""
        return "place" in self.depends_on

    def of(self, expert: str, ranks: Floats) -> Floats:
        """The points of these ranks in a list of this expert."""
        if self.formula is None:
            raise TypeError(f"points depend on {' and '.join(self.depends_on)}, not on the rank alone")
        return self.formula(expert, ranks)
