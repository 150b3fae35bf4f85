"""A Dataset as frames with names: slots, entries and labels, for writing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset, Labels, Rankings
from juryrank.errors import DataError
from juryrank.io.write_checks import warn_of_loss
from juryrank.kernels.ragged import parents
from juryrank.polars import pl


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


@dataclass(frozen=True, kw_only=True)
class TableColumns:
    """Which columns a long table has, beside query, item, expert and rank, and which of them are whole numbers."""

    lists: bool  # an expert has several lists in a query
    weight: bool
    score: bool
    label: bool
    label_weight: bool
    fractions: frozenset[str]  # columns that are not whole numbers
    unranked: int  # items that no expert ranks
    outside: int  # labels of items that are no candidates

    @classmethod
    def of(cls, data: Dataset) -> TableColumns:
        """The columns of a Dataset."""
        r, labels = data.rankings, data.labels
        lists = r.list_query * max(len(r.experts), 1) + r.list_expert
        numbers = {"rank": r.entry_rank, "weight": r.list_weight}
        if labels is not None:
            numbers["label"] = data.slot_labels[~np.isnan(data.slot_labels)]
            if labels.label_weight is not None:
                numbers["label_weight"] = data.slot_label_weights[~np.isnan(data.slot_label_weights)]
        return cls(
            lists=len(np.unique(lists)) < len(lists),
            weight=bool((r.list_weight != 1).any()),
            score=r.entry_score is not None,
            label=labels is not None,
            label_weight="label_weight" in numbers,
            fractions=frozenset(name for name, values in numbers.items() if (values != np.round(values)).any()),
            unranked=len(unranked_slots(r)),
            outside=0 if labels is None else len(labels.label_value) - len(numbers["label"]),
        )

    def merge(self, other: TableColumns) -> TableColumns:
        """The columns of both together, if they are batches of one table."""
        return TableColumns(
            lists=self.lists or other.lists,
            weight=self.weight or other.weight,
            score=self.score and other.score,
            label=self.label or other.label,
            label_weight=self.label_weight or other.label_weight,
            fractions=self.fractions | other.fractions,
            unranked=self.unranked + other.unranked,
            outside=self.outside + other.outside,
        )

    def warn(self) -> None:
        """Warn of what the table leaves out."""
        warn_of_loss(self.outside, "labels of items that are no candidates are left out; write them as TREC qrels")


def long_table(data: Dataset) -> pl.DataFrame:
    """Every entry, then the items that no expert ranks, with labels; columns without information are omitted."""
    columns = TableColumns.of(data)
    columns.warn()
    rows = pl.concat([entry_rows(data, columns), unranked_rows(data, columns)])
    return rows if data.rankings.n_entries or data.labels is None else rows.drop("expert", "rank")


def entry_rows(data: Dataset, columns: TableColumns, first_list: int = 0) -> pl.DataFrame:
    """Every entry, in these columns; lists are numbered from ``first_list``."""
    return _in_columns(entries_of(data.rankings).with_columns(pl.col("list") + first_list), data, columns)


def unranked_rows(data: Dataset, columns: TableColumns) -> pl.DataFrame:
    """The items that no expert ranks, in these columns."""
    rest = unranked_slots(data.rankings)
    none = {"list": pl.Int64, "rank": pl.Float64, "score": pl.Float64, "weight": pl.Float64, "expert": pl.String}
    rows = slot_frame(data.rankings)[rest].with_columns(
        pl.Series("slot", rest.astype(np.int32)), *(pl.lit(None, dtype).alias(name) for name, dtype in none.items())
    )
    return _in_columns(rows, data, columns)


def _in_columns(rows: pl.DataFrame, data: Dataset, columns: TableColumns) -> pl.DataFrame:
    names = ["query", "item", "expert", "list", "rank", "score", "weight", "label", "label_weight"]
    absent = {"list": columns.lists, "score": columns.score, "weight": columns.weight}
    absent |= {"label": columns.label, "label_weight": columns.label_weight}
    slot = rows["slot"].to_numpy()
    if columns.label:
        label = data.slot_labels if data.labels is not None else np.full(data.rankings.n_slots, np.nan)
        rows = rows.with_columns(label=pl.Series(label[slot]).fill_nan(None))
    if columns.label_weight:
        weight = data.slot_label_weights if data.labels is not None else np.full(data.rankings.n_slots, np.nan)
        rows = rows.with_columns(label_weight=pl.Series(weight[slot]).fill_nan(None))
    rows = rows.select(name for name in names if absent.get(name, True))
    whole = [name for name in ("rank", "label", "weight", "label_weight") if name in rows.columns]
    return rows.with_columns(pl.col([name for name in whole if name not in columns.fractions]).cast(pl.Int64))
