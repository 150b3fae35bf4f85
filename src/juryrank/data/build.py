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
from juryrank.data.entries import best_of_duplicates, codes, floats, lists_of, ranks_from_scores, slots_of, sorted_order
from juryrank.data.label_matching import check_match
from juryrank.data.labels import Labels
from juryrank.data.rankings import Floats, Names, Rankings
from juryrank.errors import DataError, DataWarning
from juryrank.kernels.ragged import sizes_to_ptr

ONE_QUERY = "all"  # the name of the query when a source has no queries (elections, ratings, comparisons)


def natural(names: pl.Series) -> pl.Series:
    """Distinct names in natural order: whole numbers by value and first, then text by code point.

    >>> natural(pl.Series(["10", "b", "2", "a"])).to_list()
    ['2', '10', 'a', 'b']
    """
    frame = names.unique().to_frame("name")
    number = pl.col("name").str.contains(r"^(0|[1-9]\d{0,17})$")
    key = pl.when(number).then(pl.col("name")).cast(pl.Int64)
    return frame.sort([key, "name"], nulls_last=True)["name"]


def from_long(
    entries: pl.DataFrame,
    *,
    candidates: pl.DataFrame | None = None,
    labels: pl.DataFrame | None = None,
    keep_order: bool = False,
    source: str = "the data",
) -> Dataset:
    """A Dataset from one row per entry, with columns query, item, expert, and rank or score.

    ``entries`` may also have ``weight`` (one per list) and ``list`` (tells apart several lists of one expert in one
    query). ``candidates`` (query, item) get slots though nobody may rank them; with ``keep_order`` the slots of a
    query stand in the order of ``candidates``. ``labels`` has query, item, label. With a score and no rank, ranks
    follow from scores, and equal scores share the smaller rank.
    """
    entries = _without_missing_values(entries, source)
    parts = [f for f in (entries, candidates, labels) if f is not None]
    queries = natural(pl.concat([f["query"] for f in parts]))
    items = pl.concat([f["item"] for f in parts]).unique().sort()
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
    frame = frame.drop_nulls("label")
    query = codes(frame["query"], pl.Series(queries, dtype=pl.String))
    item = codes(frame["item"], pl.Series(items, dtype=pl.String))
    value = frame["label"].cast(pl.Float64).to_numpy()
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


def _without_missing_values(entries: pl.DataFrame, source: str) -> pl.DataFrame:
    """The entries that have a finite rank or score; others are dropped, counted and warned of."""
    value = "rank" if "rank" in entries.columns else "score"
    if value not in entries.columns:
        raise DataError(f"{source}: entries need a rank or a score; columns are {', '.join(entries.columns)}")
    good = entries.filter(pl.col(value).cast(pl.Float64).is_finite().fill_null(False))
    if value == "rank" and (bad := good.filter(pl.col("rank").cast(pl.Float64) <= 0)).height:
        raise DataError(f"{source}: ranks start at 1 (1 is best), got {bad['rank'][0]}; is it a score?")
    if dropped := entries.height - good.height:
        warnings.warn(f"{source}: {dropped} entries without a {value} are dropped", DataWarning, stacklevel=3)
    return good


def from_dicts(
    runs: Mapping[str, Mapping[str, Any]],
    *,
    labels: Mapping[str, Mapping[str, float]] | None = None,
    values: str = "score",
) -> Dataset:
    """A Dataset from ``{expert: {query: {item: score}}}``, or lists of items, best first, in place of dicts.

    ``labels`` is ``{query: {item: label}}`` as ranx and pytrec_eval use; ``values="rank"`` says that the numbers are
    ranks (small is best), not scores (large is best).

    >>> from_dicts({"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": ["y", "x"]}}, labels={"q": {"x": 1}})
    Dataset(1 queries, 2 slots, 2 experts, 2 lists, 4 entries, 1 labels)
    """
    if values not in ("score", "rank"):
        raise DataError(f"values must be 'score' or 'rank', got {values!r}")
    heads = [(str(e), str(q), listed) for e, queries in runs.items() for q, listed in queries.items()]
    items: list[str] = []
    numbers: list[float] = []
    sizes = np.zeros(len(heads), np.int64)
    for n, (expert, query, listed) in enumerate(heads):
        before = len(items)
        items += map(str, listed)
        sizes[n] = len(items) - before
        numbers += _numbers(expert, query, listed, int(sizes[n]), values)
    entry = np.repeat(np.arange(len(heads)), sizes)
    ranked = np.array([values == "rank" or not isinstance(listed, Mapping) for _, _, listed in heads], bool)
    entries = pl.DataFrame(
        {
            "expert": pl.Series([expert for expert, _, _ in heads], dtype=pl.String).gather(entry),
            "query": pl.Series([query for _, query, _ in heads], dtype=pl.String).gather(entry),
            "item": pl.Series(items, dtype=pl.String),
            "rank" if ranked.all() else "score": pl.Series(numbers, dtype=pl.Float64),
        }
    )
    if ranked.any() and not ranked.all():
        by_score = pl.col("score").rank("min", descending=True).over("expert", "query")
        rank = pl.when(pl.Series(ranked[entry])).then("score").otherwise(by_score)
        entries = entries.select("expert", "query", "item", rank=rank)
    return from_long(entries, labels=None if labels is None else _label_frame(labels))


def _numbers(expert: str, query: str, listed: Any, n: int, values: str) -> Iterable[float]:
    """The numbers of a list: those given, or 1, 2, 3, … where it is a bare order."""
    if isinstance(listed, str):
        raise DataError(f"expert {expert!r}, query {query!r}: a list of items is needed, got the text {listed[:40]!r}")
    if not isinstance(listed, Mapping):
        return map(float, range(1, n + 1))
    try:
        return list(map(float, listed.values()))
    except (TypeError, ValueError) as error:
        raise DataError(f"expert {expert!r}, query {query!r}: a {values} must be a number: {error}") from None


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


def from_orders(orders: Sequence[Sequence[Any]], *, weights: Sequence[float] | None = None) -> Dataset:
    """A Dataset of one query from lists of items, best first; experts are named "1", "2", …

    An inner tuple, set or list is a group of ties.

    >>> from_orders([["a", "b", "c"], ["b", ("a", "c")]]).rankings.entry_rank.tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 2.0]
    """
    rows: list[tuple[str, str, str, float, float]] = []
    for n, order in enumerate(orders):
        weight = 1.0 if weights is None else float(weights[n])
        rank = 1
        for place in order:
            group = place if isinstance(place, (tuple, set, frozenset, list)) else (place,)
            rows.extend((ONE_QUERY, str(item), str(n + 1), float(rank), weight) for item in group)
            rank += len(group)
    schema = {
        "query": pl.String, "item": pl.String, "expert": pl.String, "rank": pl.Float64, "weight": pl.Float64,
    }  # fmt: skip
    return from_long(pl.DataFrame(rows, schema=schema, orient="row"))


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
