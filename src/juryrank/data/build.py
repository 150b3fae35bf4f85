"""Names become integers here, and nowhere else.

Queries and experts stand in the natural order of their names ("2" before "10"), items of a query in the order of
their names unless the source has an order of its own: results do not depend on the order in which lists are given.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from juryrank.data.dataset import Dataset
from juryrank.data.entries import (
    best_of_duplicates,
    codes,
    floats,
    lists_of,
    rank_by_score,
    ranks_from_scores,
    slots_of,
    sorted_order,
)
from juryrank.data.label_matching import check_match
from juryrank.data.labels import Labels
from juryrank.data.rankings import Floats, Ints, Names, Rankings
from juryrank.data.shapes import Key, Listed, as_listed, as_texts, elements_of, ids, is_number, unique_names
from juryrank.errors import DataError, DataWarning
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.params import check_weights

LARGEST_LABEL = 1e50  # sums and squares of labels are still numbers
LARGEST_NUMBER = 10**18  # a name with more digits is text
ONE_QUERY = "all"  # the name of the query when a source has no queries (elections, ratings, comparisons)


def natural(names: pl.Series) -> pl.Series:
    """Distinct names in natural order: whole numbers by value and first, then text by code point.

    >>> natural(pl.Series(["10", "b", "2", "a"])).to_list()
    ['2', '10', 'a', 'b']
    """
    names = names.unique().sort(multithreaded=False)  # as fast as with threads, which a forked process does not have
    return names.gather(natural_order(names))


def natural_order(names: pl.Series) -> Ints:
    """Positions of distinct names, which stand in the order of their letters, in natural order."""
    value = names.cast(pl.Int64, strict=False)
    whole = value.cast(pl.String).eq_missing(names) & (value >= 0) & (value < LARGEST_NUMBER)
    number = whole.to_numpy().astype(bool)
    at = np.flatnonzero(number)
    return np.concatenate([at[np.argsort(value.filter(whole).to_numpy())], np.flatnonzero(~number)])


def from_long(
    entries: pl.DataFrame,
    *,
    candidates: pl.DataFrame | None = None,
    labels: pl.DataFrame | None = None,
    keep_order: bool = False,
    natural_items: bool = False,
    source: str = "the data",
) -> Dataset:
    """A Dataset from one row per entry, with columns query, item, expert, and rank or score.

    ``entries`` may also have ``weight`` (one per list) and ``list`` (tells apart several lists of one expert in one
    query). ``candidates`` (query, item) get slots though nobody may rank them; with ``keep_order`` the slots of a
    query stand in the order of ``candidates``, otherwise in the order of the letters of their names, or with
    ``natural_items`` in natural order (9 before 10). ``labels`` has query, item, label. With a score and no rank, ranks
    follow from scores, and equal scores share the smaller rank.
    """
    entries = without_missing_values(entries, source)
    parts = [f for f in (entries, candidates, labels) if f is not None]
    queries = natural(pl.concat([f["query"] for f in parts]))
    items = pl.concat([f["item"] for f in parts])
    items = natural(items) if natural_items else items.unique().sort(multithreaded=False)
    rankings = _rankings(entries, candidates, queries, items, keep_order, source)
    judged = None if labels is None else labels_from_long(labels, rankings.queries, rankings.items, source)
    if judged is not None:
        check_match(judged, rankings)
    return Dataset(rankings=rankings, labels=judged)


def _rankings(
    entries: pl.DataFrame,
    candidates: pl.DataFrame | None,
    queries: pl.Series,
    items: pl.Series,
    keep_order: bool,
    source: str,
) -> Rankings:
    experts = natural(entries["expert"])
    query, item = codes(entries["query"], queries), codes(entries["item"], items)
    slot_ptr, slot_item, entry_slot = slots_of(query, item, candidates, queries, items, keep_order)
    lists = lists_of(query, codes(entries["expert"], experts), entries, source)
    rank, score = (floats(entries, name) for name in ("rank", "score"))
    kept = best_of_duplicates(lists.code, entry_slot, rank, score, source)
    if kept is not None:
        entry_slot = entry_slot[kept]
        lists = lists.keep(kept)
        rank, score = (None if v is None else v[kept] for v in (rank, score))
    if rank is None:
        assert score is not None
        rank = ranks_from_scores(lists.code, score)
    elif score is not None:
        score = scores_of_all(lists.code, score, source)
    order = sorted_order(lists.code, rank, entry_slot)
    return Rankings(
        queries=tuple(queries.to_list()),
        experts=tuple(experts.to_list()),
        items=items.to_numpy().astype(object),
        slot_ptr=slot_ptr,
        slot_item=slot_item.astype(np.int32),
        list_ptr=sizes_to_ptr(np.bincount(lists.query, minlength=len(queries))),
        list_expert=lists.expert.astype(np.int32),
        list_weight=lists.weight,
        entry_ptr=sizes_to_ptr(np.bincount(lists.code, minlength=len(lists.query))),
        entry_slot=entry_slot[order].astype(np.int32),
        entry_rank=rank[order],
        entry_score=None if score is None else score[order],
    )


def labels_from_long(frame: pl.DataFrame, queries: tuple[str, ...], items: Names, source: str = "the data") -> Labels:
    """Labels from one row per judgement with columns query, item, label; the larger of two labels wins."""
    if frame["label"].null_count():
        frame = frame.drop_nulls("label")
    query = codes(frame["query"], pl.Series(queries, dtype=pl.String))
    item = codes(frame["item"], pl.Series(items, dtype=pl.String))
    value = frame["label"].cast(pl.Float64).to_numpy()
    _check_labels(frame, value, source)
    order = np.lexsort((-value, item, query))
    query, item, value = query[order], item[order], value[order]
    again = np.zeros(len(value), bool)
    again[1:] = (query[1:] == query[:-1]) & (item[1:] == item[:-1])
    differing = int((again[1:] & (value[1:] != value[:-1])).sum())
    if differing:
        warnings.warn(
            f"{source}: {differing} items have several labels; the highest is kept", DataWarning, stacklevel=2
        )
    query, item, value = query[~again], item[~again], value[~again]
    return Labels(
        queries=queries,
        items=items,
        label_ptr=sizes_to_ptr(np.bincount(query, minlength=len(queries))),
        label_item=item.astype(np.int32),
        label_value=value,
    )


def _check_labels(frame: pl.DataFrame, value: Floats, source: str) -> None:
    if len(bad := np.flatnonzero(~(np.abs(value) <= LARGEST_LABEL))):
        row = frame.row(int(bad[0]), named=True)
        raise DataError(
            f"{source}: labels must be numbers of at most {LARGEST_LABEL:g}, but item {row['item']!r} of query "
            f"{row['query']!r} has {value[bad[0]]}; leave out the labels of items that are not judged"
        )


def scores_of_all(list_code: Ints, score: Floats, source: str) -> Floats | None:
    """The scores beside ranks where all entries have one; else None, and the lists without are counted."""
    if (known := np.isfinite(score)).all():
        return score
    lacking, n_lists = len(np.unique(list_code[~known])), len(np.unique(list_code))
    if lacking < n_lists or known.any():
        warnings.warn(_without_scores(source, lacking, n_lists), DataWarning, stacklevel=3)
    return None


def without_missing_values(entries: pl.DataFrame, source: str) -> pl.DataFrame:
    """The entries that have a finite rank or score; others are dropped, counted and warned of."""
    value = "rank" if "rank" in entries.columns else "score"
    if value not in entries.columns:
        raise DataError(f"{source}: entries need a rank or a score; columns are {', '.join(entries.columns)}")
    values = entries[value].cast(pl.Float64).to_numpy()
    good = np.isfinite(values)
    if value == "rank" and len(bad := np.flatnonzero(good & (values <= 0))):
        first = entries["rank"][int(bad[0])]
        raise DataError(f"{source}: ranks start at 1 (1 is best), got {first}; is it a score?")
    if dropped := entries.height - int(good.sum()):
        warnings.warn(f"{source}: {dropped} entries without a {value} are dropped", DataWarning, stacklevel=3)
        return pl.DataFrame([column.filter(pl.Series(good)) for column in entries])
    return entries


def from_dicts(
    runs: Mapping[Any, Mapping[Any, Any]],
    *,
    labels: Mapping[Any, Mapping[Any, float]] | None = None,
    values: str = "score",
    key: Key = None,
) -> Dataset:
    """A Dataset from ``{expert: {query: list}}``, where a list is ``{item: score}``, items in order, or their like.

    ``juryrank.data.shapes`` has all shapes of a list, and what ``key`` does. ``labels`` is ``{query: {item: label}}``
    as ranx and pytrec_eval use; ``values="rank"`` says that the numbers are ranks (small is best), not scores (large
    is best). Items stand in the natural order of their names.

    Where some lists have scores and others only an order, all lists go by rank.

    >>> from_dicts({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 0.5, "x": 0.1}}}, labels={"q": {"x": 1}})
    Dataset(1 queries, 2 slots, 2 experts, 2 lists, 4 entries, 1 labels)
    """
    if values not in ("score", "rank"):
        raise DataError(f"values must be 'score' or 'rank', got {values!r}")
    if not isinstance(runs, Mapping):
        raise DataError(f"runs must be {{expert: {{query: list}}}}, got {type(runs).__name__}")
    heads: list[tuple[str, str, Listed]] = []
    for expert, queries in unique_names(runs, "expert").items():
        if not isinstance(queries, Mapping):
            raise DataError(f"expert {expert!r}: {{query: list}} is needed, got {type(queries).__name__}")
        for query, listed in unique_names(queries, f"expert {expert!r}: query").items():
            heads.append((expert, query, as_listed(listed, f"expert {expert!r}, query {query!r}", key, values)))
    return from_heads(heads, values, None if labels is None else _label_frame(labels))


def warn_of_lists_without_scores(lists: Sequence[Listed]) -> None:
    """A DataWarning where some lists have scores and others only an order, for methods that would use scores."""
    filled = [listed for listed in lists if listed.items]
    lacking = sum(listed.numbers is None for listed in filled)
    if 0 < lacking < len(filled):
        warnings.warn(_without_scores("the data", lacking, len(filled)), DataWarning, stacklevel=5)


def _without_scores(source: str, lacking: int, n_lists: int) -> str:
    return f"{source}: {lacking} of {n_lists} lists have no scores, so that methods that use scores go by rank"


def from_heads(heads: list[tuple[str, str, Listed]], values: str, labels: pl.DataFrame | None = None) -> Dataset:
    """A Dataset from the expert, the query and the content of each list."""
    items: list[Any] = []
    numbers: list[float] = []
    sizes = np.zeros(len(heads), np.int64)
    for n, (_, _, listed) in enumerate(heads):
        sizes[n] = len(listed.items)
        items += listed.items
        numbers += range(1, len(listed.items) + 1) if listed.numbers is None else listed.numbers
    entry = np.repeat(np.arange(len(heads)), sizes)
    in_order = np.array([values == "rank" or listed.numbers is None for _, _, listed in heads], bool)
    ranked = in_order[entry]  # so an empty list is of either kind
    value = "rank" if ranked.all() else "score"
    entries = pl.DataFrame(
        {
            "expert": pl.Series([expert for expert, _, _ in heads], dtype=pl.String).gather(entry),
            "query": pl.Series([query for _, query, _ in heads], dtype=pl.String).gather(entry),
            "item": pl.Series(as_texts(items)[0], dtype=pl.String),
            value: pl.Series(numbers, dtype=pl.Float64),
        }
    )
    if ranked.any() and not ranked.all():
        entries = without_missing_values(entries.with_columns(ranked=ranked), "the data")
        by_score = rank_by_score(entries, ["expert", "query"])
        rank = entries["score"].zip_with(entries["ranked"], by_score)
        entries = pl.DataFrame({**{name: entries[name] for name in ("expert", "query", "item")}, "rank": rank})
    return from_long(entries, labels=labels, natural_items=True)


def _label_frame(labels: Mapping[str, Mapping[str, float]]) -> pl.DataFrame:
    judged = pl.Series([str(query) for query in labels], dtype=pl.String)
    query = np.repeat(np.arange(len(labels)), np.array([len(of) for of in labels.values()], np.int64))
    return pl.DataFrame(
        {
            "query": judged.gather(query),
            "item": pl.Series([str(item) for of in labels.values() for item in of], dtype=pl.String),
            "label": pl.Series([float(value) for of in labels.values() for value in of.values()], dtype=pl.Float64),
        }
    )


def from_orders(orders: Iterable[Iterable[Any]], *, weights: Iterable[float] | None = None) -> Dataset:
    """A Dataset of one query from lists of items, best first; experts are named "1", "2", …

    An inner tuple, set or list is a group of ties. Items stand in the natural order of their names.

    >>> from_orders([["a", "b", "c"], ["b", ("a", "c")]]).rankings.entry_rank.tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 2.0]
    """
    groups = [_tie_groups(order, f"order {n}") for n, order in enumerate(orders, 1)]
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
    """The places of an order, each with the items that share it."""
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


def from_array(ranks: Floats, *, experts: Sequence[str] | None = None, items: Sequence[str] | None = None) -> Dataset:
    """A Dataset of one query from ranks [n_experts, n_items]; NaN where an expert did not rank an item.

    >>> from_array(np.array([[1, 2], [np.nan, 1]]))
    Dataset(1 queries, 2 slots, 2 experts, 2 lists, 3 entries)
    """
    ranks = np.asarray(ranks, np.float64)
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
            "rank": ranks[expert, item],
        }
    )
    return from_long(entries, candidates=candidates, keep_order=True)
