"""A Dataset from plain Python: dicts, ordered lists, arrays of ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.data.dataset import Dataset
from juryrank.data.entries import rank_by_score
from juryrank.data.long_table import LabelDict, drop_missing_values, from_long, label_rows
from juryrank.data.shapes import ItemList, Key, as_item_list, as_texts, elements_of, ids, is_number, unique_names
from juryrank.data.values import demand_values, scores_of_distances
from juryrank.errors import DataError
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.params import check_weights
from juryrank.polars import pl

ONE_QUERY = "all"  # the name of the query when a source has no queries (elections, ratings, comparisons)


def from_dicts(
    runs: Mapping[Any, Mapping[Any, Any]],
    *,
    labels: LabelDict | None = None,
    values: str = "score",
    key: Key = None,
) -> Dataset:
    """A Dataset from ``{expert: {query: list}}``, where a list is ``{item: score}`` or items in order.

    A list may also have any other form that ``juryrank.fuse`` takes; ``key`` is described there. ``labels`` is
    ``{query: {item: label}}``, as for ranx and pytrec_eval; a label may be ``(label, weight)``. With ``values="rank"``
    the numbers are ranks (1 is best), with ``"distance"`` other numbers of which lower is better, not scores (higher is
    better); a distance becomes the score below zero. If some lists have scores and others only an order, ranks are used
    for all. Items are sorted in the natural order of their names.

    >>> from_dicts({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 0.5, "x": 0.1}}}, labels={"q": {"x": 1}})
    Dataset(1 queries, 2 slots, 2 experts, 2 lists, 4 entries, 1 labels)
    """
    demand_values(values)
    if not isinstance(runs, Mapping):
        raise DataError(f"runs must be {{expert: {{query: list}}}}, got {type(runs).__name__}")
    lists: list[tuple[str, str, ItemList]] = []
    for expert, queries in unique_names(runs, "expert").items():
        if not isinstance(queries, Mapping):
            raise DataError(f"expert {expert!r}: {{query: list}} is needed, got {type(queries).__name__}")
        for query, listed in unique_names(queries, f"expert {expert!r}: query").items():
            found = as_item_list(listed, f"expert {expert!r}, query {query!r}", key, values)
            lists.append((expert, query, scores_of_distances(found) if values == "distance" else found))
    return from_lists(lists, values, None if labels is None else label_rows(labels))


def from_lists(lists: list[tuple[str, str, ItemList]], values: str, labels: pl.DataFrame | None = None) -> Dataset:
    """A Dataset from the expert, the query and the content of each list."""
    items: list[Any] = []
    numbers: list[float] = []
    sizes = np.zeros(len(lists), np.int64)
    for n, (_, _, listed) in enumerate(lists):
        sizes[n] = len(listed.items)
        items += listed.items
        numbers += range(1, len(listed.items) + 1) if listed.numbers is None else listed.numbers
    entry = np.repeat(np.arange(len(lists)), sizes)
    in_order = np.array([values == "rank" or listed.numbers is None for _, _, listed in lists], bool)
    ranked = in_order[entry]  # so an empty list is of either kind
    value = "rank" if ranked.all() else "score"
    entries = pl.DataFrame(
        {
            "expert": pl.Series([expert for expert, _, _ in lists], dtype=pl.String).gather(entry),
            "query": pl.Series([query for _, query, _ in lists], dtype=pl.String).gather(entry),
            "item": pl.Series(as_texts(items)[0], dtype=pl.String),
            value: pl.Series(numbers, dtype=pl.Float64),
        }
    )
    if ranked.any() and not ranked.all():
        entries = drop_missing_values(entries.with_columns(ranked=ranked), "the data")
        by_score = rank_by_score(entries, ["expert", "query"])
        rank = entries["score"].zip_with(entries["ranked"], by_score)
        entries = pl.DataFrame({**{name: entries[name] for name in ("expert", "query", "item")}, "rank": rank})
    return from_long(entries, labels=labels, natural_items=True)


def from_orders(orders: Iterable[Iterable[Any]], *, weights: Iterable[float] | None = None) -> Dataset:
    """A Dataset of one query from lists of items, best first; experts are named "1", "2", …

    An inner tuple, set or list is a group of tied items. Items are sorted in the natural order of their names.

    >>> from_orders([["a", "b", "c"], ["b", ("a", "c")]]).rankings.entry_rank.tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 2.0]
    """
    if isinstance(orders, Mapping):
        raise DataError(
            "orders must be a list of orders, got a dict; for {order: count} give list(counts) and "
            "weights=counts.values(), for several elections {voter: {election: order}} to from_dicts"
        )
    given = elements_of(orders, "orders", "a sequence of orders")
    groups = [_tie_groups(order, f"order {n}") for n, order in enumerate(given, 1)]
    names = [str(n + 1) for n in range(len(groups))]
    if weights is not None:
        weights = weights.tolist() if isinstance(weights, np.ndarray) else list(weights)
        if len(weights) != len(groups):
            raise DataError(f"{len(weights)} weights for {len(groups)} orders")
        check_weights(dict(zip(names, weights, strict=True)))
    items, ranks, sizes = [], [], []
    for order in groups:
        size = np.array([len(group) for group in order], np.int64)
        items += [item for group in order for item in group]
        ranks.append(np.repeat(sizes_to_ptr(size)[:-1] + 1.0, size))
        sizes.append(int(size.sum()))
    entries = pl.DataFrame(
        {
            "query": pl.Series([ONE_QUERY], dtype=pl.String).new_from_index(0, len(items)),
            "item": pl.Series(as_texts(items)[0], dtype=pl.String),
            "expert": pl.Series(names, dtype=pl.String).gather(np.repeat(np.arange(len(sizes)), sizes)),
            "rank": np.concatenate([np.empty(0), *ranks]),
            "weight": np.repeat(np.ones(len(sizes)) if weights is None else np.array(weights, np.float64), sizes),
        }
    )
    return from_long(entries, natural_items=True)


def _tie_groups(order: Iterable[Any], where: str) -> list[list[Any]]:
    """The places of an ordered list, each with the items that share it."""
    if isinstance(order, Mapping):
        raise DataError(f"{where}: items in order are needed, got {{item: score}}; from_dicts takes scores")
    places = elements_of(order, where)
    groups = [list(place) if isinstance(place, tuple | set | frozenset | list) else [place] for place in places]
    scored = [len(group) == 2 and isinstance(group[0], str) and is_number(group[1]) for group in groups]
    if scored and all(scored):
        raise DataError(
            f"{where}: {places[0]!r:.60} looks like an item with its score, but inner groups are ties here; "
            "from_dicts takes scores"
        )
    return [ids(group, where) for group in groups]


def from_array(
    ranks: Floats,
    *,
    experts: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    values: str = "rank",
) -> Dataset:
    """A Dataset of one query from ranks [n_experts, n_items]; NaN where an expert did not rank an item.

    With ``values="score"`` the numbers are scores (higher is better), with ``"distance"`` others of which lower is
    better; a distance becomes the score below zero.

    >>> from_array(np.array([[1, 2], [np.nan, 1]]))
    Dataset(1 queries, 2 slots, 2 experts, 2 lists, 3 entries)
    >>> from_array(np.array([[0.91, 0.42, 0.13]]), values="score").rankings.entry_slot.tolist()
    [0, 1, 2]
    """
    demand_values(values)
    try:
        ranks = np.asarray(ranks, np.float64)
    except (TypeError, ValueError):
        given = type(ranks).__name__
        raise DataError(f"ranks are numbers, experts × items, with NaN where one is missing; got {given}") from None
    if ranks.ndim != 2:
        raise DataError(f"ranks must have two dimensions, experts × items; got {ranks.ndim}")
    expert_names = np.array(experts or [str(k + 1) for k in range(ranks.shape[0])], dtype=object)
    item_names = np.array(items or [str(i + 1) for i in range(ranks.shape[1])], dtype=object)
    if (len(expert_names), len(item_names)) != ranks.shape:
        raise DataError(f"{len(expert_names)} experts × {len(item_names)} items named for ranks of shape {ranks.shape}")
    expert, item = np.nonzero(~np.isnan(ranks))
    candidates = pl.DataFrame({"query": [ONE_QUERY] * len(item_names), "item": pl.Series(item_names, dtype=pl.String)})
    entries = pl.DataFrame(
        {
            "query": pl.Series([ONE_QUERY], dtype=pl.String).new_from_index(0, len(item)),
            "item": pl.Series(item_names[item], dtype=pl.String),
            "expert": pl.Series(expert_names[expert], dtype=pl.String),
            "rank" if values == "rank" else "score": ranks[expert, item] * (-1 if values == "distance" else 1),
        }
    )
    return from_long(entries, candidates=candidates, keep_order=True)
