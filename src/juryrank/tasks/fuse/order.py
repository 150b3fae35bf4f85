"""The order of experts, in which numbers are added, and of items: best first, equal scores by name."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any

from juryrank.data.names import is_whole_number, natural_key

WHOLE = frozenset((int,))


@lru_cache(maxsize=128)
def in_expert_order(experts: tuple[Any, ...]) -> list[Any]:
    """The order in which points are added, so that sums do not depend on the order of the lists."""
    return sorted(experts, key=natural_key)


def best_first(
    scores: Mapping[Any, float],
    of_type: type | None,
    top: int | None,
    *,
    by_name: bool = True,
    ties_likely: bool = False,
) -> dict[Any, float]:
    """The ``top`` scores, from highest to lowest; equal ones in natural order if ``by_name``, else in the given order.

    Where ties are likely, it is faster not to look for them first.
    """
    if not by_name or (not ties_likely and len(set(scores.values())) == len(scores)):
        return dict(sorted(scores.items(), key=itemgetter(1), reverse=True)[:top])
    order = in_natural_order(scores, of_type)
    order.sort(key=scores.__getitem__, reverse=True)
    order = order[:top]
    return dict(zip(order, map(scores.__getitem__, order)))  # noqa: B905 (strict costs time, and the two are as long)


def common_type(distinct: Mapping[Any, Any], lists: Iterable[Sequence[Any]]) -> type | None:
    """``str`` where all items are text, ``int`` where all are integers, else None."""
    try:
        if type(next(iter(distinct), "")) is not int:
            "".join(distinct)  # the fastest way to look at every type
            return str
        if type(sum(distinct)) is not int:
            return None
    except TypeError:
        return None
    if (0 in distinct or 1 in distinct) and not WHOLE.issuperset(map(type, chain.from_iterable(lists))):
        return None  # False and True equal them, and are no ids
    return int


def in_natural_order(items: Iterable[Any], of_type: type | None) -> list[Any]:
    """Items in the natural order of their names: whole numbers by value and first, then text by code point."""
    if of_type is None:
        return sorted(items, key=natural_key)
    if of_type is int:
        numbers = sorted(items)
        return numbers if numbers[0] >= 0 and numbers[-1] < 10**18 else sorted(numbers, key=natural_key)
    names = sorted(items)
    start = bisect_left(names, "0")
    stop = bisect_left(names, ":", start)  # what follows the digits
    if start == stop:
        return names
    whole = list(filter(is_whole_number, names[start:stop]))
    rest = [name for name in names[start:stop] if not is_whole_number(name)]
    return [*sorted(whole, key=len), *names[:start], *rest, *names[stop:]]  # longer numbers are larger
