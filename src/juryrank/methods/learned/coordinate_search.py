"""Search for the weights with the largest value, one expert at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from juryrank.data.arrays import Floats

Values = Callable[[Floats], Floats]  # of each row of weights
Moves = Callable[[Floats, int], Floats]  # weights with other values for one expert, one row each, preferred ones first

ROUNDING = 1e-12  # values that differ by less are equal
MOST_PASSES = 50  # over all experts; every change raises the value, and a few are enough


def is_better(value: float, other: float) -> bool:
    """Whether a value is larger than another by more than rounding."""
    return value > other + ROUNDING


def best_row(values: Values, rows: Floats) -> tuple[Floats, float]:
    """The row with the largest value, the first of equal ones, and its value."""
    found = values(rows)
    best = int(np.argmax(found >= found.max() - ROUNDING))
    return rows[best], float(found[best])


def coordinate_search(values: Values, start: Floats, moves: Moves) -> tuple[Floats, float]:
    """The weights that no change of one expert's weight improves, and their value."""
    weights, value = best_row(values, start[None])
    unchanged = 0
    for step in range(MOST_PASSES * len(start)):
        rows = moves(weights, step % len(start))
        found, higher = best_row(values, rows) if len(rows) else (weights, value)
        unchanged = 0 if is_better(higher, value) else unchanged + 1
        if not unchanged:
            weights, value = found, higher
        if unchanged >= len(start):
            break
    return weights, value
