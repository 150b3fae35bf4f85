"""Checks that results are finite numbers; the errors name likely causes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.params import LARGEST_WEIGHT

LIKELY_CAUSES = "scores, ranks, weights or labels are too large or too small, or a parameter is extreme"


def check_list_weights(r: Rankings) -> None:
    """Refuse weights of lists whose sums or squares would overflow."""
    if r.unit_weights or r.list_weight.max() <= LARGEST_WEIGHT:
        return
    m = int(r.list_weight.argmax())
    raise DataError(
        f"weights of lists must be at most {LARGEST_WEIGHT:g}, but a list of expert {r.experts[r.list_expert[m]]!r} "
        f"in query {r.queries[r.list_query[m]]!r} has {r.list_weight[m]:g}; divide all weights by a number"
    )


def check_scores(name: str, r: Rankings, out: Floats) -> None:
    """Raise an error for the first score of a method that is not a finite number."""
    if np.isfinite(out.sum()) or not len(bad := np.flatnonzero(~np.isfinite(out))):
        return
    query = r.queries[int(np.searchsorted(r.slot_ptr, bad[0], side="right")) - 1]
    raise DataError(
        f"{name}: scores must be finite numbers, but item {r.items[r.slot_item[bad[0]]]!r} of query {query!r} gets "
        f"{out[bad[0]]} ({len(bad)} of {len(out)} items); {LIKELY_CAUSES}"
    )


@contextmanager
def refuse_arithmetic_errors(name: str) -> Iterator[None]:
    """Turn errors of arithmetic (division by zero, a singular matrix) into a DataError."""
    try:
        yield
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        raise DataError(f"{name}: no result in finite numbers ({error}); {LIKELY_CAUSES}") from error
