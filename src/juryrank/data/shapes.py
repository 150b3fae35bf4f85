"""One list of one expert in any common Python form, as items and their numbers, if there are any.

The form of the elements; all elements of a list must have the same:

=====================================  ================================================================
``"d7"``, ``7``, any hashable thing    an id; the list is in order, best first
``("d7", 0.9)``, ``["d7", 0.9]``       an id and its score
an object with ``.id``                 its id, and its ``.score`` if it has one that is not None
a dict with ``"id"`` (or ``"_id"``)    its id, and its ``"score"`` (or ``"_score"``) if it has one
=====================================  ================================================================

With ``key``, a function or the name of an attribute, every element is an object whose id is ``key(element)``; a pair
of an object (neither text nor a number) and a number is split first.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from juryrank.errors import DataError, warn_about_data

Key = Callable[[Any], Any] | str | None

PLAIN, NUMBERS = frozenset((str, int)), frozenset((float, int))
READ_OFTEN = frozenset((list, dict, tuple))
ID, PAIR, OBJECT, RECORD = "an id", "an (id, score) pair", "an object with .id", "a dict with 'id'"


class ItemList(NamedTuple):
    """The items of a list and a number for each (NaN if it is missing), or None if only the order counts."""

    items: list[Any]
    numbers: list[float] | None


def as_item_list(listed: Any, where: str, key: Key = None, what: str = "score") -> ItemList:
    """The items and numbers of one list; a DataError that starts with ``where`` if it is not a list."""
    if type(listed) is ItemList:
        return listed
    if key is None and (type(listed) is list or type(listed) is tuple) and PLAIN.issuperset(map(type, listed)):
        return ItemList(list(listed), None)  # as most are
    if isinstance(listed, Mapping):
        items = list(listed)
        scores = floats(items, listed.values(), where, what)
        return ItemList(ids(items if key is None else _ids_by_key(items, key, where), where), scores)
    if _has_scores_by_index(listed):
        return as_item_list(dict(zip(listed.index.tolist(), listed.tolist(), strict=True)), where, key, what)
    elements = elements_of(listed, where)
    if key is None and PLAIN.issuperset(map(type, elements)):
        return ItemList(elements, None)
    return _split(elements, where, key, what)


def elements_of(listed: Any, where: str, needs: str = "a list of items") -> list[Any]:
    """The elements of anything ordered: lists, generators, arrays, series."""
    needed = f"{where}: {needs} is needed"
    if isinstance(listed, str | bytes):
        raise DataError(f"{needed}, got the text {listed[:40]!r}, which would be split into letters")
    if isinstance(listed, set | frozenset):
        raise DataError(f"{needed}, got a set, which has no order; give a list, or {{item: score}}")
    if hasattr(listed, "columns"):
        raise DataError(f"{needed}, got a table; give its columns as {{id: score}}, or use juryrank.read for all lists")
    try:
        return list(listed.tolist() if hasattr(listed, "tolist") else listed)
    except TypeError:
        raise DataError(f"{needed}, got {type(listed).__name__} {str(listed)[:40]!r}") from None


def _has_scores_by_index(listed: Any) -> bool:
    """Whether this is a pandas Series with scores as values and ids as index, not one with ids as values."""
    index = getattr(listed, "index", None)
    if index is None or not hasattr(index, "dtype"):
        return False
    numeric, whole_index = listed.dtype.kind in "iuf", index.dtype.kind in "iu"
    numbered = whole_index and index.tolist() == list(range(len(listed)))
    return bool(numeric and not numbered and index.is_unique and (not whole_index or listed.dtype.kind == "f"))


def unique_names(given: Mapping[Any, Any], what: str) -> dict[str, Any]:
    """The mapping with names as text; a DataError if two names have the same text."""
    named = {str(name): value for name, value in given.items()}
    if len(named) < len(given):
        seen: set[str] = set()
        twice = next(name for name in map(str, given) if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise DataError(f"{what} {twice!r} is given twice, as text and as a number; names are compared as text")
    return named


def by_name(lists: Mapping[Any, Any] | Iterable[Any]) -> dict[str, Any]:
    """Lists by the name of their expert, as text."""
    if isinstance(lists, Mapping):
        return unique_names(lists, "expert")
    given = elements_of(lists, "lists", "{expert: list} or a sequence of lists")
    return {str(n): listed for n, listed in enumerate(given, 1)}


def without_iterators(lists: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """The same lists, those that can be read only once as lists of Python."""
    if READ_OFTEN.issuperset(map(type, lists.values())):
        return lists
    return {name: list(listed) if isinstance(listed, Iterator) else listed for name, listed in lists.items()}


def are_nested(lists: Mapping[str, Any]) -> bool:
    """Whether experts map queries to lists: then the values are no numbers."""
    for listed in lists.values():
        if type(listed) is dict or isinstance(listed, Mapping):
            for value in listed.values():
                return type(value) is not float and not (value is None or isinstance(value, str) or is_number(value))
    return False


def _split(elements: list[Any], where: str, key: Key, what: str) -> ItemList:
    kind = PAIR if key is None and plain_pairs(elements) else _common_kind(elements, where, key)
    if kind == PAIR:
        firsts = [pair[0] for pair in elements]
        names = ids(firsts if key is None else _ids_by_key(firsts, key, where), where)
        if key is None and len(set(names)) < len(names):
            warn_of_repeated_pairs(elements, where)
        return ItemList(names, floats(names, [pair[1] for pair in elements], where, what))
    if key is not None:
        found = _ids_by_key(elements, key, where)
    elif kind == OBJECT:
        found = [element.id for element in elements]
    elif kind == RECORD:
        found = [element["id"] if "id" in element else element["_id"] for element in elements]
    else:
        _refuse_text_scores(elements, where)
        return ItemList(ids(elements, where), None)
    names, scores = ids(found, where), [_score(element) for element in elements]
    if all(score is None for score in scores):
        return ItemList(names, None)
    return ItemList(names, floats(names, scores, where, what))


def warn_of_repeated_pairs(pairs: Sequence[Any], where: str) -> None:
    """Warn that pairs are read as ids and scores although their ids repeat."""
    warn_about_data(
        f"{where}: pairs such as {pairs[0]!r:.60} are read as (id, score), and ids repeat; "
        "use key=lambda pair: pair if the pairs are ids"
    )


def plain_pairs(elements: list[Any]) -> bool:
    """Whether all are tuples of two, the second a number: the usual case, checked without a Python loop."""
    return (
        {tuple}.issuperset(map(type, elements))
        and {2}.issuperset(map(len, elements))
        and NUMBERS.issuperset([type(pair[1]) for pair in elements])
    )


def _common_kind(elements: list[Any], where: str, key: Key) -> str:
    """The form of the elements; a DataError if they differ."""
    kinds = [_kind(element, key) for element in elements]
    kind = kinds[0] if kinds else ID
    if (other := next((n for n, each in enumerate(kinds) if each != kind), None)) is not None:
        raise DataError(
            f"{where}: position 1 is {kind}, but position {other + 1} is {kinds[other]}: {elements[other]!r:.60}; "
            "all elements of a list must have the same shape"
        )
    return kind


def _kind(element: Any, key: Key) -> str:
    """The form of an element, in words for a message."""
    if isinstance(element, str | int):
        return ID if key is None else OBJECT
    pair = isinstance(element, tuple | list) and len(element) == 2 and (element[1] is None or is_number(element[1]))
    if key is not None:
        return PAIR if pair and not (isinstance(element[0], str) or is_number(element[0])) else OBJECT
    if hasattr(element, "id"):
        return OBJECT
    if isinstance(element, Mapping):
        return RECORD if "id" in element or "_id" in element else "a dict without 'id' (use key= to name the id)"
    return PAIR if pair or (isinstance(element, list) and len(element) == 2) else ID


def is_number(value: Any) -> bool:
    """Whether a value is a single number (of Python, NumPy, decimal, …), not text and not an array of several."""
    return isinstance(value, int | float) or (hasattr(value, "__float__") and not getattr(value, "shape", ()))


def _score(element: Any) -> Any:
    if isinstance(element, Mapping):
        return element.get("score", element.get("_score"))
    return getattr(element, "score", None)


def _ids_by_key(elements: Iterable[Any], key: Callable[[Any], Any] | str, where: str) -> list[Any]:
    if callable(key):
        return list(map(key, elements))
    found = []
    for n, element in enumerate(elements, 1):
        try:
            found.append(element[key] if isinstance(element, Mapping) else getattr(element, key))
        except (KeyError, AttributeError):
            raise DataError(f"{where}: position {n} has no {key!r}, which key= names: {element!r:.60}") from None
    return found


def _refuse_text_scores(elements: list[Any], where: str) -> None:
    """Raise a DataError for tuples that may be ids or pairs of an id and a score as text."""
    for element in elements:
        if not (isinstance(element, tuple) and len(element) == 2 and isinstance(element[1], str)):
            return
        try:
            float(element[1])
        except ValueError:
            return
    if elements:
        raise DataError(
            f"{where}: {elements[0]!r:.60} may be an id, or an id and a score as text; "
            "make the scores numbers, or use key=lambda pair: pair if the pairs are ids"
        )


def ids(given: list[Any], where: str) -> list[Any]:
    """The ids, checked: text, whole numbers (also as floats, 7.0 is 7) or other hashable objects."""
    if PLAIN.issuperset(map(type, given)):
        return given
    return [_checked_id(item, where, n) for n, item in enumerate(given, 1)]


def _checked_id(item: Any, where: str, n: int) -> Any:
    if isinstance(item, str):
        return item
    at = f"{where}: position {n}"
    if item is None or isinstance(item, bool | np.bool_ | bytes):
        raise DataError(f"{at}: an id is text or a whole number, got {item!r}; key= says what the id of an object is")
    if isinstance(item, float | np.floating):
        if not (isfinite(item) and item == int(item)):
            raise DataError(f"{at}: an id is text or a whole number, got {item!r}; scores come with ids: {{id: score}}")
        return int(item)
    if isinstance(item, int | np.integer):
        return int(item)
    try:
        hash(item)
        by_value = (
            getattr(type(item), "__hash__", None) is not object.__hash__
        )  # else every object is an item of its own
    except TypeError:
        by_value = False
    if not by_value:
        raise DataError(
            f"{at}: {type(item).__name__} {item!r:.60} cannot be an id; "
            "give text or whole numbers, or use key=, a function or attribute that gives the id"
        )
    return item


def as_texts(items: list[Any]) -> tuple[list[str], dict[str, Any] | None]:
    """The ids as text, and the first id for each text, or None if all are text."""
    types = set(map(type, items))
    if types <= {str}:
        return items, None
    texts = list(map(str, items))
    if types == {int}:
        return texts, dict(zip(texts, items, strict=True))
    own: dict[str, Any] = {}
    merged = {text for text, item in zip(texts, items, strict=True) if own.setdefault(text, item) != item}
    if merged:
        told = f"{len(merged)} ids are given in several types (such as text and number), for example {min(merged)!r}"
        warn_about_data(f"the data: {told}; the same text is the same item")
    return texts, own


def floats(items: Iterable[Hashable], values: Iterable[Any], where: str, what: str) -> list[float]:
    """The values as floats, NaN for missing ones; a DataError names the first that is not a number."""
    values = list(values)
    try:
        return list(map(float, values))
    except (TypeError, ValueError, ArithmeticError):
        return [_float(item, value, where, what) for item, value in zip(items, values, strict=True)]


def _float(item: Hashable, value: Any, where: str, what: str) -> float:
    if value is None or type(value).__name__ == "NAType":  # pandas' word for a missing value
        return nan
    try:
        return float(value)
    except (TypeError, ValueError, ArithmeticError):
        raise DataError(f"{where}: the {what} of item {item!r} must be a number, got {value!r:.40}") from None


def warn_of_lists_without_scores(lists: Sequence[ItemList]) -> None:
    """Warn if some lists have scores and others only an order, for methods that use scores."""
    filled = [listed for listed in lists if listed.items]
    lacking = sum(listed.numbers is None for listed in filled)
    if 0 < lacking < len(filled):
        warn_about_data(missing_scores_message("the data", lacking, len(filled)))


def missing_scores_message(source: str, lacking: int, n_lists: int) -> str:
    """The text of the warning about lists without scores among lists with scores."""
    return f"{source}: {lacking} of {n_lists} lists have no scores, so methods that use scores fall back to ranks"
