"""Tables, one row per entry or one column per expert: CSV, TSV, NDJSON, Parquet, or any frame with an Arrow stream.

Columns: item, and any of query, expert, rank, score, label, weight, list; ``layout`` finds them. Without a query column
there is one query, "all"; without an expert column the file is one expert, named after the file. A row without an
expert, or without a rank and score, only makes its item a candidate. With both rank and score the order is that of the
ranks.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import polars as pl

from juryrank.data import Consensus, Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataWarning
from juryrank.io.dataset_frames import entries_of, slot_frame, unranked
from juryrank.io.rows import SLOT, Rows, first_true, warn_of_contradictions
from juryrank.io.source import Source
from juryrank.io.tables import frames, headerless
from juryrank.io.tables.columns import Columns, Fail, as_numbers, typed
from juryrank.io.tables.layout import Layout, layout
from juryrank.io.write_checks import warn_of_loss

ENDINGS = frames.ENDINGS
OPTIONS = ("columns", "values")


def sniff(source: Source) -> bool:
    """Parquet, the ending of a table, or a header (or JSON line) with a word for the item and another we know."""
    if source.parquet or source.suffix in ENDINGS:
        return True
    known = frames.known_words(source)
    return "item" in known and len(known) > 1


def read(source: Source, columns: Columns = None, values: str | None = None) -> Rows:
    """The entries, candidates and labels of a table file."""
    bare = headerless.is_bare(source, columns)
    frame = headerless.frame_of(source, columns) if bare else frames.frame_of(source)
    comma = frames.separator_of(source) == ";"
    chosen = layout(frame.lazy(), columns, values, name=str(source.path), comma=comma)
    return rows_of(
        frame, chosen, name=str(source.path), expert=source.stem, fail=frames.failing(source, header=not bare)
    )


def read_frame(frame: pl.DataFrame, columns: Columns = None, values: str | None = None) -> Rows:
    """The entries, candidates and labels of a frame."""
    name = "the table"
    chosen = layout(frame.lazy(), columns, values, name=name)
    return rows_of(frame, chosen, name=name, expert="table", fail=frames.failing_in(name))


def rows_of(frame: pl.DataFrame, chosen: Layout, *, name: str, expert: str, fail: Fail) -> Rows:
    """What rows of a table say; ``expert`` is who speaks when no column says so."""
    read = rows_of_named(named_rows(frame, chosen, fail), chosen, name=name, expert=expert)
    if read.entries is not None and not read.entries.height:
        what = f"{'' if 'expert' not in chosen.found else 'an expert and '}a {' or '.join(chosen.ordered)}"
        message = f"{name}: no row has {what}, so there are no lists, only items"
        warnings.warn(message, DataWarning, stacklevel=4)
    return read


def rows_of_named(rows: pl.DataFrame, chosen: Layout, *, name: str, expert: str) -> Rows:
    """What rows of a table say that are under our words already."""
    labels = rows.select(*SLOT, "label").drop_nulls("label").unique() if "label" in chosen.found else None
    if not chosen.ordered:
        bare = labels is None or rows["label"].is_null().any()
        return Rows(name=name, candidates=rows.select(SLOT) if bare else None, labels=labels)
    if chosen.experts:
        said = rows.select(pl.any_horizontal(pl.col(chosen.experts).is_not_null())).to_series()
        index = [column for column in rows.columns if column not in chosen.experts]
        entries = rows.unpivot(chosen.experts, index=index, variable_name="expert", value_name=chosen.values)
        entries = entries.drop_nulls(chosen.values)
    else:
        if "expert" not in chosen.found:
            rows = rows.with_columns(expert=pl.lit(expert))
        some = ~pl.all_horizontal(pl.col(chosen.ordered).is_null())
        said = rows.select(pl.col("expert").is_not_null() & some).to_series()
        entries = rows.filter(said)
    entries = entries.drop("label", strict=False)
    if len(chosen.ordered) == 2:
        warn_of_contradictions(entries, name, "ranks")
    rest = rows.filter(~said).select(SLOT).unique(maintain_order=True)
    return Rows(
        name=name,
        entries=entries,
        candidates=rest if rest.height else None,
        labels=labels,
        one_expert="expert" not in chosen.found and not chosen.experts,
    )


def named_rows(frame: pl.DataFrame, chosen: Layout, fail: Fail) -> pl.DataFrame:
    """The rows under our words that are not blank; all of them need names."""
    rows = typed(frame, chosen.found, fail, comma=chosen.comma)
    rows = rows.with_columns(as_numbers(frame[h], h, fail, comma=chosen.comma).alias(h) for h in chosen.experts)
    blank = rows.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if "query" not in chosen.found:
        rows = rows.with_columns(query=pl.lit(ONE_QUERY))
    unnamed = rows.select(pl.any_horizontal(pl.col(SLOT).is_null())).to_series()
    if (row := first_true(unnamed & ~blank)) is not None:
        raise fail(row, "a name for query and item")
    return rows.filter(~blank)


def write(thing: Dataset | Consensus, path: Path, top: int | None = None) -> None:
    """Every entry, then the items that nobody ranks; columns that say nothing are left out."""
    frames.save_frame(thing.to_frame(top) if isinstance(thing, Consensus) else frame_of(thing), path)


def frame_of(data: Dataset) -> pl.DataFrame:
    """A Dataset as a long table."""
    r = data.rankings
    alone = unranked(r)
    bare = slot_frame(r)[alone].with_columns(slot=alone.astype(np.int32))
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
    if not r.n_entries and data.labels is not None:
        rows = rows.drop("expert", "rank")
    whole = [c for c in ("rank", "label", "weight") if c in rows.columns and (rows[c] == rows[c].round()).all()]
    return rows.drop("slot").with_columns(pl.col(whole).cast(pl.Int64))
