"""A Dataset as rows with names again, and what writers check before they write."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import polars as pl

from juryrank.data import Dataset, Rankings
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, DataWarning
from juryrank.io.long import slot_frame
from juryrank.kernels.ragged import parents

ANY_BLANK = r"[\s\x00]"


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


def labels_frame(data: Dataset) -> pl.DataFrame:
    """One row per label: query, item, label."""
    if data.labels is None:
        raise DataError("the data has no labels to write")
    judged = data.labels
    query = np.array(judged.queries, dtype=object)[parents(judged.label_ptr)]
    return pl.DataFrame(
        {
            "query": pl.Series(query, dtype=pl.String),
            "item": pl.Series(judged.items[judged.label_item], dtype=pl.String),
            "label": judged.label_value,
        }
    )


def unranked(rankings: Rankings) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Slots that nobody ranks."""
    ranked = np.zeros(rankings.n_slots, bool)
    ranked[rankings.entry_slot] = True
    return np.flatnonzero(~ranked)


def text_of(number: pl.Expr) -> pl.Expr:
    """Numbers as the shortest text that reads back the same; whole ones without a point."""
    whole = (number == number.round()) & (number.abs() < 1e15)
    return pl.when(whole).then(number.cast(pl.Int64, strict=False).cast(pl.String)).otherwise(number.cast(pl.String))


def demand_one_line(names: Iterable[str], what: str) -> None:
    """A DataError for the first name that would not fill one line from its first to its last letter."""
    for name in names:
        if not name or name != name.strip() or any(break_ in name for break_ in "\n\r\0"):
            raise DataError(
                f"{what} cannot carry the name {name!r}: it is empty, or has a line break, a NUL, or a blank at an end"
            )


def demand_single_lists(rankings: Rankings, what: str) -> None:
    """A DataError when an expert has several lists for one query, or when lists have weights."""
    if (rankings.list_weight != 1).any():
        raise DataError(f"{what} cannot carry weights of lists, and some are not 1; write a table instead")
    keys = rankings.list_query * max(len(rankings.experts), 1) + rankings.list_expert
    if len(np.unique(keys)) != len(keys):
        raise DataError(f"{what} cannot carry several lists of one expert for one query; write a table instead")


def demand_one_query(rankings: Rankings, what: str) -> None:
    """A DataError when there is any query but the one that stands for none."""
    if rankings.queries != (ONE_QUERY,):
        raise DataError(
            f"{what} has no queries, and the data has {len(rankings)}; choose one, or write a table instead"
        )


def warn_of_loss(count: int, what: str) -> None:
    """Warn of things that a format leaves out."""
    if count:
        warnings.warn(f"{count} {what}", DataWarning, stacklevel=4)
