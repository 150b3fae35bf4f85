"""The lists of one query in the few forms that plain Python works on: items in order, ``Ranked``, ``{item: score}``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import isfinite
from operator import gt, itemgetter
from typing import Any, NamedTuple

from juryrank.data.shapes import ItemList, as_texts, plain_pairs, warn_of_lists_without_scores
from juryrank.errors import warn_about_data


class Ranked(NamedTuple):
    """Items in order, with their ranks; some are missing where repeated items were dropped, and ties share one."""

    items: Sequence[Any]
    ranks: Sequence[float]


def as_scores(listed: Any) -> Mapping[Any, Any] | None:
    """``{item: score}`` of a mapping, or of pairs with different items; None where the shape must be looked at."""
    if isinstance(listed, Mapping):
        return listed
    if type(listed) is not list or not plain_pairs(listed):
        return None
    try:
        scores = dict(listed)
    except TypeError:  # what cannot be a key of a dict
        return None
    return scores if len(scores) == len(listed) else None


def in_rank_order(listed: Any, *, shared: bool) -> tuple[Sequence[Any] | None, Sequence[float] | None]:
    """Items, and their ranks: nothing for 1, 2, 3, … of different items, None where the shape must be looked at.

    Tied scores have the smaller rank, or the mean of their places where ``shared``.
    """
    if type(listed) is Ranked:
        return listed.items, () if shared else listed.ranks
    if type(listed) is tuple:
        return listed, None
    scored = as_scores(listed)
    if scored is None:
        return None, None
    items, scores = list(scored), list(scored.values())
    try:
        falling = all(map(gt, scores, scores[1:]))  # most come in order, without ties
        if not falling:
            items.sort(key=scored.__getitem__, reverse=True)
            scores = list(map(scored.__getitem__, items))
            falling = all(map(gt, scores, scores[1:]))
        if scores and not (isfinite(scores[0]) and isfinite(scores[-1]) and (falling or all(map(isfinite, scores)))):
            return None, None
    except (TypeError, ValueError, OverflowError):
        return None, None
    return items, () if falling else ranks_with_ties(scores, shared)


def ranks_with_ties(scores: Sequence[float], shared: bool) -> list[float]:
    """The ranks of falling scores; equal ones have the smaller rank, or the mean of their places where ``shared``."""
    first = {score: n for n, score in zip(range(len(scores), 0, -1), reversed(scores), strict=True)}
    if not shared:
        return [first[score] for score in scores]
    last = {score: n for n, score in enumerate(scores, 1)}
    return [0.5 * (first[score] + last[score]) for score in scores]


def clean(lists: Mapping[str, ItemList], *, uses_scores: bool) -> dict[str, Any]:
    """The lists in plain forms, without missing numbers and repeated items; both are counted in warnings.

    For a method that uses scores, all lists go by rank if some have no scores, as a warning says.
    """
    own = as_texts(list(chain.from_iterable(listed.items for listed in lists.values())))[1]
    if uses_scores:
        warn_of_lists_without_scores(list(lists.values()))
    out: dict[str, Any] = {}
    missing = repeated = 0
    for expert, (given, numbers) in lists.items():
        items = given if own is None else list(map(own.__getitem__, map(str, given)))
        if numbers is None:
            out[expert] = _first_of_each(items)
            repeated += len(items) - (len(out[expert].items) if type(out[expert]) is Ranked else len(items))
            continue
        pairs = list(zip(items, numbers, strict=True))
        if not all(map(isfinite, numbers)):
            pairs = [pair for pair in pairs if isfinite(pair[1])]
            missing += len(items) - len(pairs)
        best = dict(pairs)
        if len(best) < len(pairs):
            repeated += len(pairs) - len(best)
            best = dict(sorted(pairs, key=itemgetter(1)))  # of equal keys, the last stays: the best
        out[expert] = best
    if missing:
        warn_about_data(f"the data: {missing} entries without a score are dropped")
    if repeated:
        warn_of_repetitions(repeated)
    return _all_by_rank(out) if uses_scores and not all(type(of) is dict for of in out.values() if of) else out


def warn_of_repetitions(repeated: int) -> None:
    """Warn of items that stand in a list more than once."""
    warn_about_data(f"the data: {repeated} entries repeat an item of their list; the best is kept")


def _first_of_each(items: list[Any]) -> list[Any] | Ranked:
    """The items in order, or, where some repeat, the first of each with its rank."""
    if len(set(items)) == len(items):
        return items
    rank = dict(zip(reversed(items), range(len(items), 0, -1), strict=True))  # of equal keys, the last stays
    distinct = list(dict.fromkeys(items))
    return Ranked(distinct, list(map(rank.__getitem__, distinct)))


def _all_by_rank(lists: Mapping[str, Any]) -> dict[str, Ranked]:
    out = {}
    for expert, listed in lists.items():
        items, ranks = (listed, None) if type(listed) is list else in_rank_order(listed, shared=False)
        assert items is not None
        out[expert] = Ranked(items, ranks or range(1, len(items) + 1))
    return out


def as_item_lists(lists: Mapping[str, Any]) -> tuple[dict[str, ItemList], str]:
    """Plain forms for a Dataset, and whether their numbers are a score or a rank."""
    by_rank = any(type(listed) is Ranked for listed in lists.values())
    out = {}
    for expert, listed in lists.items():
        if type(listed) is Ranked:
            out[expert] = ItemList(list(listed.items), list(map(float, listed.ranks)))
        else:
            out[expert] = ItemList(list(listed), list(listed.values()) if type(listed) is dict else None)
    return out, "rank" if by_rank else "score"
