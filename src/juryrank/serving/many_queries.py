"""Lists of many queries, nested by expert and query or by query and expert."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Set
from itertools import combinations, islice
from typing import Any, Literal, NamedTuple

from juryrank.data.shapes import Key, as_item_list, plain_pairs, unique_names
from juryrank.errors import DataError, ParameterError, warn_about_data
from juryrank.serving.inputs import without_iterators

Queries = Literal["outer", "inner"]
Nested = Mapping[str, Mapping[str, Any]]

NUMBERED_QUERY = re.compile(r"(q|qid|query|question|topic)?[-_ ]?\d+", re.IGNORECASE)
MOST_NAMES, MOST_ITEMS = 8, 100  # of these, and of their lists, the items are compared
CLEARLY = 2.0  # times as many shared items


class ManyQueries(NamedTuple):
    """The lists by expert and query, and the queries as they were given, by their text."""

    lists: dict[tuple[str, str], Any]
    queries: dict[str, Any]

    @property
    def experts(self) -> dict[str, None]:
        """The experts, in the order in which they are given."""
        return dict.fromkeys(expert for expert, _ in self.lists)


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
        return ManyQueries(lists, outer_as_given)
    lists = {(expert, query): of for expert, by_query in nested.items() for query, of in by_query.items()}
    return ManyQueries(lists, inner_as_given)


def _recognised(nested: Nested, inner: Set[str], experts: Set[str], key: Key, values: str) -> Queries:
    """Which names are queries: others than known experts, q1 and q2, or those whose lists share items.

    Lists of several experts for one query share items, those of one expert for several queries hardly do. Where nothing
    speaks against it, the outer names are experts; where some of this does, this is an error, or a warning if there is
    only one of them.
    """
    outer = nested.keys()
    if bool(experts & outer) != bool(experts & inner):
        return "inner" if experts & outer else "outer"
    if len(inner) <= 1:
        return "inner"  # in the other reading there is nothing to fuse
    outer_look, inner_look = _likeness_to_queries(outer), _likeness_to_queries(inner)
    if inner_look > outer_look:
        return "inner"
    of_outer, of_inner = _shared_items(nested, inner, key, values)
    speak_for_inner = of_inner > 0.0 and of_inner >= CLEARLY * of_outer
    speak_for_outer = of_outer > 0.0 and of_outer >= CLEARLY * of_inner
    if outer_look > inner_look:
        if not speak_for_inner:
            return "outer"
    elif speak_for_inner or not speak_for_outer:
        return "inner"
    elif len(outer) >= len(inner):
        return "outer"
    first, second = next(iter(outer)), next(iter(inner))
    text = (
        f"lists such as {{{first!r}: {{{second!r}: …}}}} can be read in two ways: with queries='outer' {first!r} is a "
        f"query and {second!r} an expert, with queries='inner' {first!r} is an expert and {second!r} a query"
    )
    if len(outer) == 1 and not outer_look:
        warn_about_data(f"{text}, as it is read here")
        return "inner"
    raise DataError(f"{text}; say which")


def _likeness_to_queries(names: Iterable[str]) -> int:
    """2 for names such as q1 and q2, 1 for numbers, 0 for others."""
    return min((2 if name[0].isalpha() else 1) if NUMBERED_QUERY.fullmatch(name) else 0 for name in names)


def _shared_items(nested: Nested, inner: Collection[str], key: Key, values: str) -> tuple[float, float]:
    """The mean share of items that two lists have in common: lists of the same outer name, of the same inner name."""
    names = list(islice(inner, MOST_NAMES))
    table = [
        {name: _some_items(given[name], key, values) for name in names if name in given}
        for given in islice(nested.values(), MOST_NAMES)
    ]
    by_inner = ([row[name] for row in table if name in row] for name in names)
    return _mean_share(row.values() for row in table), _mean_share(by_inner)


def _mean_share(groups: Iterable[Collection[Set[Any]]]) -> float:
    pairs = [(a, b) for group in groups for a, b in combinations(filter(None, group), 2)]
    return sum(len(a & b) / min(len(a), len(b)) for a, b in pairs) / len(pairs) if pairs else 0.0


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
