"""Lists of many queries, nested by expert and query or by query and expert."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Set
from itertools import combinations, islice
from typing import Any, Literal, NamedTuple

from juryrank.data.shapes import Key, as_item_list, plain_pairs, unique_names, without_iterators
from juryrank.errors import DataError, ParameterError

Queries = Literal["outer", "inner"]
Nested = Mapping[str, Mapping[str, Any]]

NUMBERED_QUERY = re.compile(r"(q|qid|query|question|topic)?[-_ ]?\d+", re.IGNORECASE)
MOST_NAMES, MOST_ITEMS = 8, 100  # of these, and of their lists, the items are compared
FEWEST_ITEMS, FEWEST_PAIRS = 3, 2  # of lists that show something


class ManyQueries(NamedTuple):
    """The lists by expert and query, and the experts and queries as they were given, by their text."""

    lists: dict[tuple[str, str], Any]
    experts: dict[str, Any]
    queries: dict[str, Any]


def read_many(
    given: Mapping[Any, Any], queries: Queries | None, experts: Set[str], key: Key, values: str
) -> ManyQueries:
    """The lists of ``{expert: {query: list}}`` or ``{query: {expert: list}}``; ``experts`` are known names."""
    if queries not in ("outer", "inner", None):
        raise ParameterError(
            "queries must be 'outer' for {query: {expert: list}}, 'inner' for {expert: {query: list}}, or None to "
            f"recognise them, got {queries!r}"
        )
    outer_as_given = {str(name): name for name in given}
    outer, inner = ("query", "expert") if queries == "outer" else ("expert", "query")
    nested: dict[str, dict[str, Any]] = {}
    inner_as_given: dict[str, Any] = {}
    for name, of_name in unique_names(given, outer).items():
        if not isinstance(of_name, Mapping):
            others = "queries" if queries == "outer" else "experts"
            raise DataError(f"{outer} {name!r}: other {others} have {{{inner}: list}}, but this is a single list")
        nested[name] = unique_names(without_iterators(of_name), f"{outer} {name!r}: {inner}")
        inner_as_given.update((str(own), own) for own in of_name if str(own) not in inner_as_given)
    if (queries or _recognised(nested, inner_as_given.keys(), experts, key, values)) == "outer":
        lists = {(expert, query): of for query, by_expert in nested.items() for expert, of in by_expert.items()}
        return ManyQueries(lists, inner_as_given, outer_as_given)
    lists = {(expert, query): of for expert, by_query in nested.items() for query, of in by_query.items()}
    return ManyQueries(lists, outer_as_given, inner_as_given)


def _recognised(nested: Nested, inner: Set[str], experts: Set[str], key: Key, values: str) -> Queries:
    """Which names are queries: others than known experts, q1 and q2, or those whose lists share items.

    Lists of several experts for one query share items, those of one expert for several queries hardly do. Where nothing
    speaks against it, the outer names are experts.
    """
    outer = nested.keys()
    if bool(experts & outer) != bool(experts & inner):
        return "inner" if experts & outer else "outer"
    if len(inner) <= 1:
        return "inner"  # in the other reading there is nothing to fuse
    outer_look, inner_look = _likeness_to_queries(outer), _likeness_to_queries(inner)
    if inner_look > outer_look:
        return "inner"
    if outer_look == inner_look:
        return "outer" if _share_items(nested, inner, key, values) == (True, False) else "inner"
    if _share_items(nested, inner, key, values) != (False, True):
        return "outer"
    first, second = next(iter(outer)), next(iter(inner))
    raise DataError(
        f"lists such as {{{first!r}: {{{second!r}: …}}}} can be read in two ways: with queries='outer' {first!r} is a "
        f"query and {second!r} an expert, with queries='inner' {first!r} is an expert and {second!r} a query; say which"
    )


def _likeness_to_queries(names: Iterable[str]) -> int:
    """2 for names such as q1 and q2, 1 for numbers, 0 for others."""
    return min((2 if name[0].isalpha() else 1) if NUMBERED_QUERY.fullmatch(name) else 0 for name in names)


def _share_items(nested: Nested, inner: Collection[str], key: Key, values: str) -> tuple[bool | None, bool | None]:
    """Whether all lists of an outer name share items, or none, and those of an inner name; None for some of them."""
    names = list(islice(inner, MOST_NAMES))
    table = [
        {name: _some_items(given[name], key, values) for name in names if name in given}
        for given in islice(nested.values(), MOST_NAMES)
    ]
    by_inner = ([row[name] for row in table if name in row] for name in names)
    return _all_or_none(row.values() for row in table), _all_or_none(by_inner)


def _all_or_none(groups: Iterable[Collection[Set[Any]]]) -> bool | None:
    """Whether all pairs of lists in the same group share an item, or none does; short lists do not count."""
    found = [
        bool(a & b)
        for group in groups
        for a, b in combinations((items for items in group if len(items) >= FEWEST_ITEMS), 2)
    ]
    return found[0] if len(found) >= FEWEST_PAIRS and len(set(found)) == 1 else None


def _some_items(listed: Any, key: Key, values: str) -> Set[Any]:
    """Items of a list; none where it is no list, which its reader tells."""
    if key is None and isinstance(listed, list | tuple):
        listed = listed[:MOST_ITEMS]
        if plain_pairs(list(listed)):
            return {item for item, _ in listed}
    try:
        return set(as_item_list(listed, "the list", key, values).items[:MOST_ITEMS])
    except DataError:
        return frozenset()
