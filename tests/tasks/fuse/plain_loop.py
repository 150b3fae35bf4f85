"""The reference of these tests: the loop of Python that takes what compiled code leaves."""

import warnings
from typing import Any

from juryrank.tasks.fuse.by_dataset import clean_for, runs_of_one
from juryrank.tasks.fuse.exploration import Weighting
from juryrank.tasks.fuse.fuser import sums_of


def by_loop(method: Any, lists: Any, top: int | None = None, weighting: Weighting | None = None) -> Any:
    """Items with their scores and types, in order, and the warnings."""
    way = sums_of(method, weighting)
    assert way is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        runs = clean_for(method, runs_of_one(lists, "score", None), "score")
        fused = way.by_loop({expert: listed for (expert, _), listed in runs.items()}, top)
    assert fused is not None
    return [(i, s, type(i)) for i, s in fused.items()], [str(w.message) for w in caught]


def sums_by_loop(method: Any, lists: Any, top: int | None = None) -> dict[Any, float]:
    """The scores of the items, best first."""
    return {item: score for item, score, _ in by_loop(method, lists, top)[0]}
