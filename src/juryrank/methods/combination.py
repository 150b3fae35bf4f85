"""Scores as combinations of the normalised scores of the lists: what serving reads of a method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints

RULES = ("sum", "mean", "max", "min", "median")


@dataclass(frozen=True)
class Combination:
    """How the normalised scores that the lists give to an item become its score.

    ``norm`` makes the scores of lists comparable. With ``missing="last"`` a list gives its lowest score to the items
    that it leaves out, with ``ignore`` nothing. The result of ``rule`` is multiplied by the number of lists that rank
    the item to the ``power``. ``weights`` are those of the experts (others have 1); sums, means and numbers of lists
    are weighted.
    """

    rule: str
    norm: str
    missing: str
    power: float = 0.0
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rule must be one of {', '.join(RULES)}, got {self.rule!r}")


def list_scale(norm: str, score: Floats, start: Ints, size: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """The origin and the width of each list's scores, and what every item of a list gets whose width is 0.

    A normalised score is (score - origin) / width. The scores of list m begin at ``start[m]``, the best first; ``low``
    and ``high`` are its extremes. ``min-max`` and ``max`` look at these two alone, which may be plain numbers.
    """
    if norm == "min-max":
        return low, high - low, 1.0
    if norm == "max":
        return 0.0, abs(high), 0.0
    if norm == "sum":
        return low, np.add.reduceat(score - np.repeat(low, size), start), 1.0 / size
    mean = np.add.reduceat(score, start) / size
    squares = np.add.reduceat((score - np.repeat(mean, size)) ** 2, start)
    constant = high == low  # a mean of equal numbers may differ from them in the last bit
    if norm == "z-score":
        return mean, np.where(constant, 0.0, np.sqrt(squares / size)), 0.0
    sd = np.where(constant, 0.0, np.sqrt(squares / np.maximum(size - 1, 1)))
    return mean - 3 * sd, 6 * sd, 0.5
