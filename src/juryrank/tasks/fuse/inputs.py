"""The shapes of the lists that a Fuser is called with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from juryrank.data.shapes import ItemList, Key, as_item_list, elements_of, is_number, unique_names
from juryrank.data.values import demand_values, scores_of_distances
from juryrank.errors import DataError, ParameterError

ONE = "one"  # the name of the only query
READ_OFTEN = frozenset((list, dict, tuple))


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


def many_queries(lists: Mapping[str, Any]) -> bool:
    """Whether experts map queries to lists: then the values are no numbers."""
    for listed in lists.values():
        if type(listed) is dict or isinstance(listed, Mapping):
            for value in listed.values():
                return type(value) is not float and not (value is None or isinstance(value, str) or is_number(value))
    return False


def distances_as_scores(lists: Mapping[Any, Any] | Iterable[Any], key: Key) -> dict[str, ItemList]:
    """The lists of one query with distances, as lists with scores."""
    return {
        expert: scores_of_distances(as_item_list(listed, f"expert {expert!r}", key, "distance"))
        for expert, listed in without_iterators(by_name(lists)).items()
    }


def runs_of_one(lists: Mapping[Any, Any], values: str, key: Key) -> dict[tuple[str, str], ItemList]:
    """The lists of the only query."""
    return {
        (expert, ONE): as_item_list(given, f"expert {expert!r}", key, values)
        for expert, given in by_name(lists).items()
    }


def by_query(runs: Mapping[tuple[str, str], Any]) -> dict[str, dict[str, Any]]:
    """The lists of each query, by expert."""
    out: dict[str, dict[str, Any]] = {}
    for (expert, query), listed in runs.items():
        out.setdefault(query, {})[expert] = listed
    return out


def lists_of_one(lists: Mapping[Any, Any] | Iterable[Any], function: str) -> Mapping[str, Any]:
    """The lists by name, which must be those of one query."""
    named = without_iterators(by_name(lists))
    if many_queries(named):
        raise DataError(f"{function} takes the lists of one query; call it once for each query")
    return named


def demand_options(values: str, top: int | None) -> None:
    """An error for options that have no meaning."""
    demand_values(values)
    if top is not None and (not isinstance(top, int | np.integer) or top < 1):
        raise ParameterError(f"top must be a whole number >= 1, or None for all items, got {top!r}")
