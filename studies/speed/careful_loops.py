"""Plain loops for one query with the guarantees of ``juryrank.fuse``: what somebody would write who checks the input.

Ids are text, a repeated item counts once at its best rank, entries without a finite score are dropped, equal scores of
a list share a rank, and equal sums are in the natural order of the names: numbers by value, then text.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping

K = 60.0


def careful_loop(lists: Mapping[str, list[str]]) -> dict[str, float]:
    """RRF of lists in order."""
    scores: dict[str, float] = {}
    for expert, items in lists.items():
        ranks = dict(zip(reversed(items), range(len(items), 0, -1), strict=True))  # the first place of an item remains
        if len(ranks) < len(items):
            warnings.warn(f"{expert}: {len(items) - len(ranks)} repeated items", stacklevel=2)
        _check_ids(expert, ranks)
        for item, rank in ranks.items():
            scores[item] = scores.get(item, 0.0) + 1.0 / (K + rank)
    return in_natural_order(scores)


def careful_loop_of_scores(lists: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """RRF of lists with scores."""
    scores: dict[str, float] = {}
    for expert, listed in lists.items():
        finite = {item: score for item, score in listed.items() if math.isfinite(score)}
        if len(finite) < len(listed):
            warnings.warn(f"{expert}: {len(listed) - len(finite)} entries without a score", stacklevel=2)
        _check_ids(expert, finite)
        rank, last = 0, None
        for place, item in enumerate(sorted(finite, key=finite.__getitem__, reverse=True), 1):
            if finite[item] != last:
                rank, last = place, finite[item]
            scores[item] = scores.get(item, 0.0) + 1.0 / (K + rank)
    return in_natural_order(scores)


def _check_ids(expert: str, items: Mapping[str, float]) -> None:
    if not set(map(type, items)) <= {str}:
        raise TypeError(f"{expert}: expected text as ids")


def in_natural_order(scores: dict[str, float]) -> dict[str, float]:
    """The best first, equal scores in the natural order of the names."""
    numbers = any(map(str.isdecimal, scores))
    return dict(sorted(scores.items(), key=_natural_key if numbers else _key_of_text))


def _key_of_text(pair: tuple[str, float]) -> tuple[float, str]:
    return -pair[1], pair[0]


def _natural_key(pair: tuple[str, float]) -> tuple[float, bool, int, str]:
    name, score = pair
    number = name.isdecimal()
    return -score, not number, int(name) if number else 0, name
