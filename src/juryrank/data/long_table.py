"""A Dataset from tables with one row per entry; this is where names become integers.

Queries and experts are sorted in the natural order of their names ("2" before "10"), the items of a query by name
unless the source has an order of its own, so that results do not depend on the order in which lists are given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints, Names
from juryrank.data.dataset import Dataset
from juryrank.data.entries import (
    best_of_duplicates,
    codes,
    floats,
    lists_of,
    ranks_from_scores,
    slots_of,
    sorted_order,
)
from juryrank.data.label_matching import check_match
from juryrank.data.labels import LARGEST_LABEL, Labels, invalid_weights
from juryrank.data.names import sort_naturally
from juryrank.data.rankings import Rankings
from juryrank.data.shapes import missing_scores_message
from juryrank.data.values import demand_ranks
from juryrank.errors import DataError, warn_about_data
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.params import LARGEST_WEIGHT
from juryrank.polars import pl

LabelDict = Mapping[Any, Mapping[Any, float | tuple[float, float]]]  # query -> item -> label, or label and weight


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

    ``entries`` may also have ``weight`` (one per list) and ``list`` (distinguishes several lists of one expert in one
    query). ``candidates`` (query, item) get slots even if no list has them. The slots of a query are sorted by code
    point of the item names, with ``natural_items`` in natural order (9 before 10), and with ``keep_order`` in the order
    of ``candidates``. ``labels`` has query, item, label, and perhaps label_weight. Without ranks, scores give the
    ranks, and equal scores share the smaller rank.
    """
    entries = drop_missing_values(entries, source)
    parts = [f for f in (entries, candidates, labels) if f is not None]
    queries = sort_naturally(pl.concat([f["query"] for f in parts]))
    items = pl.concat([f["item"] for f in parts])
    items = sort_naturally(items) if natural_items else items.unique().sort(multithreaded=False)
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
    experts = sort_naturally(entries["expert"])
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
        score = complete_scores(lists.code, score, source)
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
    """Labels from one row per judgement: query, item, label and perhaps label_weight, by default 1.

    Of several labels for one item, the highest counts.
    """
    if frame["label"].null_count():
        frame = frame.drop_nulls("label")
    query = codes(frame["query"], pl.Series(queries, dtype=pl.String))
    item = codes(frame["item"], pl.Series(items, dtype=pl.String))
    value = frame["label"].cast(pl.Float64).to_numpy()
    weight = np.ones(len(value))
    if "label_weight" in frame.columns:
        given = frame["label_weight"].cast(pl.Float64)
        weight = (given.fill_null(1.0) if given.null_count() else given).to_numpy()  # a forked process cannot fill
    _check_labels(frame, value, weight, source)
    order = np.lexsort((-weight, -value, item, query))
    query, item, value, weight = query[order], item[order], value[order], weight[order]
    again = np.zeros(len(value), bool)
    again[1:] = (query[1:] == query[:-1]) & (item[1:] == item[:-1])
    differing = int((again[1:] & ((value[1:] != value[:-1]) | (weight[1:] != weight[:-1]))).sum())
    if differing:
        warn_about_data(f"{source}: {differing} items have several labels; the highest is kept")
    query, item, value, weight = query[~again], item[~again], value[~again], weight[~again]
    return Labels(
        queries=queries,
        items=items,
        label_ptr=sizes_to_ptr(np.bincount(query, minlength=len(queries))),
        label_item=item.astype(np.int32),
        label_value=value,
        label_weight=None if (weight == 1).all() else weight,
    )


def _check_labels(frame: pl.DataFrame, value: Floats, weight: Floats, source: str) -> None:
    if len(bad := np.flatnonzero(~(np.abs(value) <= LARGEST_LABEL))):
        row = frame.row(int(bad[0]), named=True)
        raise DataError(
            f"{source}: labels must be numbers of at most {LARGEST_LABEL:g}, but item {row['item']!r} of query "
            f"{row['query']!r} has {value[bad[0]]}; leave out the labels of items that are not judged"
        )
    if len(bad := np.flatnonzero(invalid_weights(weight))):
        row = frame.row(int(bad[0]), named=True)
        raise DataError(
            f"{source}: weights of labels must be numbers from 0 to {LARGEST_WEIGHT:g}, but that of item "
            f"{row['item']!r} of query {row['query']!r} is {weight[bad[0]]}"
        )


def complete_scores(list_code: Ints, score: Floats, source: str) -> Floats | None:
    """The scores next to ranks if every entry has one; otherwise None, with a warning that counts the lists without."""
    if (known := np.isfinite(score)).all():
        return score
    lacking, n_lists = len(np.unique(list_code[~known])), len(np.unique(list_code))
    if lacking < n_lists or known.any():
        warn_about_data(missing_scores_message(source, lacking, n_lists))
    return None


def drop_missing_values(entries: pl.DataFrame, source: str) -> pl.DataFrame:
    """The entries with a finite rank or score; a warning counts the others, which are dropped."""
    value = "rank" if "rank" in entries.columns else "score"
    if value not in entries.columns:
        raise DataError(f"{source}: entries need a rank or a score; columns are {', '.join(entries.columns)}")
    values = entries[value].cast(pl.Float64).to_numpy()
    good = np.isfinite(values)
    if value == "rank":
        demand_ranks(entries, source)
    if dropped := entries.height - int(good.sum()):
        warn_about_data(f"{source}: {dropped} entries without a {value} are dropped")
        return pl.DataFrame([column.filter(pl.Series(good)) for column in entries])
    return entries


def label_rows(labels: LabelDict) -> pl.DataFrame:
    """``{query: {item: label}}`` as one row per label; a label may be ``(label, weight)``."""
    try:
        sizes = np.array([len(judged) for judged in labels.values()], np.int64)
        items = [str(item) for judged in labels.values() for item in judged]
        given = [value for judged in labels.values() for value in judged.values()]
        pairs = [value if isinstance(value, tuple) else (value, 1.0) for value in given]
        values, weights = [float(value) for value, _ in pairs], [float(weight) for _, weight in pairs]
    except (AttributeError, TypeError, ValueError):
        expected = "{query: {item: number}}, or (number, weight) in place of a number, or something that read takes"
        raise DataError(f"labels must be {expected}") from None
    queries = pl.Series([str(query) for query in labels], dtype=pl.String)
    return pl.DataFrame(
        {
            "query": queries.gather(np.repeat(np.arange(len(labels)), sizes)),
            "item": pl.Series(items, dtype=pl.String),
            "label": pl.Series(values, dtype=pl.Float64),
            "label_weight": pl.Series(weights, dtype=pl.Float64),
        }
    )


def labels_from_dict(labels: LabelDict) -> Labels:
    """Labels from ``{query: {item: label}}``; a label may be ``(label, weight)``.

    >>> labels_from_dict({"q1": {"a": 1, "b": 0}})
    Labels(1 queries, 2 labels)
    >>> labels_from_dict({"q1": {"a": (0.75, 0.5), "b": 0}}).label_weight.tolist()
    [0.5, 1.0]
    """
    return labels_from_rows(label_rows(labels))


def labels_from_rows(rows: pl.DataFrame) -> Labels:
    """Labels from one row per label, as ``labels_from_long``, with the names in the rows."""
    items = rows["item"].unique().sort(multithreaded=False).to_numpy().astype(object)
    return labels_from_long(rows, tuple(sort_naturally(rows["query"])), items, "labels")
