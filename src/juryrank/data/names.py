"""Natural order: whole numbers by value and first, then text by code point."""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from juryrank.polars import pl

if TYPE_CHECKING:
    from collections.abc import Iterable

    from juryrank.data.arrays import Ints

DIGITS = 18  # a name with more digits is text


def is_whole_number(text: str) -> bool:
    """Whether a name is a whole number as Python writes it: 0, 7, 10, but not 007."""
    return text.isascii() and text.isdigit() and len(text) <= DIGITS and (text[0] != "0" or text == "0")


def natural_key(name: object) -> tuple[bool, int, str]:
    """The key for ``sorted`` that gives natural order.

    >>> sorted(["10", "b", "2", "a"], key=natural_key)
    ['2', '10', 'a', 'b']
    """
    text = str(name)
    number = is_whole_number(text)
    return (not number, int(text) if number else 0, text)


def sorted_naturally(names: Iterable[str]) -> list[str]:
    """Names in natural order, as ``sorted`` with ``natural_key``; faster where all are whole numbers.

    >>> sorted_naturally(["10", "b", "2", "a"]), sorted_naturally(["10", "9"])
    (['2', '10', 'a', 'b'], ['9', '10'])
    """
    names = sorted(names)
    digits = "".join(names)
    if digits.isascii() and digits.isdigit() and names[0][:1] >= "1" and max(map(len, names)) <= DIGITS:
        return sorted(names, key=len)  # by length and then by text, as none is empty or begins with 0
    return sorted(names, key=natural_key)


def in_natural_order(items: Iterable[Any]) -> list[Any]:
    """Different items of any types in the natural order of their texts.

    >>> in_natural_order(["10", "b", "2", "a", "007"]), in_natural_order([10, "b", 9])
    (['2', '10', '007', 'a', 'b'], [9, 10, 'b'])
    """
    items = list(items)
    types = set(map(type, items))
    if types == {int}:
        items.sort()
        return items if items[0] >= 0 and items[-1] < 10**DIGITS else sorted(items, key=natural_key)
    if types != {str}:
        return sorted(items, key=natural_key)
    items.sort()
    start = bisect_left(items, "0")
    stop = bisect_left(items, ":", start)  # what follows the digits
    if start == stop:
        return items
    whole = list(filter(is_whole_number, items[start:stop]))
    rest = [name for name in items[start:stop] if not is_whole_number(name)]
    return [*sorted(whole, key=len), *items[:start], *rest, *items[stop:]]  # longer numbers are larger


@lru_cache(maxsize=128)
def in_expert_order(experts: tuple[Any, ...]) -> list[Any]:
    """The order in which numbers are added, so that sums do not depend on the order of the lists."""
    return sorted(experts, key=natural_key)


def sort_naturally(names: pl.Series) -> pl.Series:
    """The distinct names of a column in natural order.

    >>> import polars as pl
    >>> sort_naturally(pl.Series(["10", "b", "2", "a"])).to_list()
    ['2', '10', 'a', 'b']
    """
    names = names.unique().sort(multithreaded=False)  # as fast as with threads, which a forked process does not have
    return names.gather(natural_order(names))


def natural_order(names: pl.Series) -> Ints:
    """The positions of distinct names, which are sorted by code point, in natural order."""
    value = names.cast(pl.Int64, strict=False)
    whole = value.cast(pl.String).eq_missing(names) & (value >= 0) & (value < 10**DIGITS)
    number = whole.to_numpy().astype(bool)
    at = np.flatnonzero(number)
    return np.concatenate([at[np.argsort(value.filter(whole).to_numpy())], np.flatnonzero(~number)])
