"""A Dataset as frames with names: slots, entries and labels, for writing."""

from __future__ import annotations

import numpy as np

from juryrank.data import Dataset, Labels, Rankings
from juryrank.errors import DataError
from juryrank.io.write_checks import warn_of_loss
from juryrank.kernels.ragged import parents
from juryrank.lazy_polars import pl


def slot_frame(rankings: Rankings) -> pl.DataFrame:
    """Query and item of each slot."""
    query = np.array(rankings.queries, dtype=object)[parents(rankings.slot_ptr)]
    item = rankings.items[rankings.slot_item]
    return pl.DataFrame({"query": pl.Series(query, dtype=pl.String), "item": pl.Series(item, dtype=pl.String)})


def entries_of(rankings: Rankings) -> pl.DataFrame:
    """One row per entry: query, item, expert, list, slot, rank, score (if there are scores), weight."""
    r = rankings
    slots, at = slot_frame(r), parents(r.entry_ptr)
    expert = np.array(r.experts, dtype=object)[r.list_expert[at]] if r.n_entries else np.empty(0, object)
    entries = slots[r.entry_slot.astype(np.int64)].with_columns(
        expert=pl.Series(expert, dtype=pl.String), list=at, slot=r.entry_slot, rank=r.entry_rank
    )
    if r.entry_score is not None:
        entries = entries.with_columns(score=r.entry_score)
    return entries.with_columns(weight=r.list_weight[at])


def labels_frame(data: Dataset | Labels) -> pl.DataFrame:
    """One row per label: query, item, label, and label_weight if there are weights."""
    judged = data.labels if isinstance(data, Dataset) else data
    if judged is None:
        raise DataError("the data has no labels to write")
    query = np.array(judged.queries, dtype=object)[parents(judged.label_ptr)]
    rows = pl.DataFrame(
        {
            "query": pl.Series(query, dtype=pl.String),
            "item": pl.Series(judged.items[judged.label_item], dtype=pl.String),
            "label": judged.label_value,
        }
    )
    return rows if judged.label_weight is None else rows.with_columns(label_weight=judged.label_weight)


def unranked_slots(rankings: Rankings) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Slots that no expert ranks."""
    ranked = np.zeros(rankings.n_slots, bool)
    ranked[rankings.entry_slot] = True
    return np.flatnonzero(~ranked)


def text_of(number: pl.Expr) -> pl.Expr:
    """Numbers as the shortest text that reads back the same; whole ones without a point."""
    whole = (number == number.round()) & (number.abs() < 1e15)
    return pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(number.cast(pl.String))


def long_table(data: Dataset) -> pl.DataFrame:
    """Every entry, then the items that no expert ranks, with labels; columns without information are omitted."""
    r = data.rankings
    rest = unranked_slots(r)
    bare = slot_frame(r)[rest].with_columns(slot=rest.astype(np.int32))
    rows = pl.concat([entries_of(r), bare], how="diagonal")
    lists = r.list_query * max(len(r.experts), 1) + r.list_expert
    if len(np.unique(lists)) == len(lists):
        rows = rows.drop("list")
    if (r.list_weight == 1).all():
        rows = rows.drop("weight")
    if data.labels is not None:
        label = data.slot_labels
        outside = len(data.labels.label_value) - int(np.isfinite(label).sum())
        warn_of_loss(outside, "labels of items that are no candidates are left out; write them as TREC qrels")
        rows = rows.with_columns(label=pl.Series(label[rows["slot"].to_numpy()]).fill_nan(None))
        if data.labels.label_weight is not None:
            weight = data.slot_label_weights[rows["slot"].to_numpy()]
            rows = rows.with_columns(label_weight=pl.Series(weight).fill_nan(None))
    if not r.n_entries and data.labels is not None:
        rows = rows.drop("expert", "rank")
    whole = [
        c
        for c in ("rank", "label", "weight", "label_weight")
        if c in rows.columns and (rows[c] == rows[c].round()).all()
    ]
    return rows.drop("slot").with_columns(pl.col(whole).cast(pl.Int64))
