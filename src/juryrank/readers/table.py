"""Long tables, one row per entry: CSV, TSV, NDJSON, Parquet, or any frame with an Arrow stream.

Columns: item, and any of query, expert, rank, score, label, weight, list. Without a query column there is one query,
"all"; without an expert column the file is one expert, named after the file. A row without an expert, or without a
rank and score, only makes its item a candidate. With both rank and score the order is that of the ranks.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import polars as pl

from juryrank.data import Consensus, Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError
from juryrank.readers import tabular
from juryrank.readers.columns import Fail, roles, typed
from juryrank.readers.long import SLOT, Long, first_true, slot_frame, warn_of_contradictions
from juryrank.readers.rows import entries_of, unranked, warn_of_loss
from juryrank.readers.source import Source

ENDINGS = tabular.ENDINGS
OPTIONS = ("columns", "values")
WORDS = ("query", "item", "expert", "list", "rank", "score", "value", "label", "weight")
Columns = Mapping[str, str] | None


def sniff(source: Source) -> bool:
    """Parquet, JSON lines, the ending of a table, or a header with a word for the item and another we know."""
    if source.parquet or source.suffix in ENDINGS or source.data.startswith(b"{"):
        return True
    known = tabular.known_words(source)
    return "item" in known and len(known) > 1


def read(source: Source, columns: Columns = None, values: str | None = None) -> Long:
    """The entries, candidates and labels of a table file."""
    frame, fail = tabular.frame_of(source), tabular.failing(source)
    return read_frame(frame, columns, values, name=str(source.path), expert=source.stem, fail=fail)


def read_frame(
    frame: pl.DataFrame,
    columns: Columns = None,
    values: str | None = None,
    *,
    name: str = "the table",
    expert: str = "table",
    fail: Fail | None = None,
) -> Long:
    """The entries, candidates and labels of a frame; ``expert`` is who speaks when no column says so."""
    found = directed(roles(frame.columns, columns, name, WORDS), values, name)
    if "item" not in found:
        told = ", ".join(repr(c) for c in frame.columns[:12])
        raise DataError(f"{name}: a table needs a column 'item'; columns are {told}; say columns={{'item': …}}")
    ordered = [word for word in ("rank", "score") if word in found]
    if "expert" in found and not ordered:
        raise DataError(f"{name}: experts need a rank or a score; say columns={{'rank': …}} or columns={{'score': …}}")
    rows = _rows(frame, found, fail or tabular.failing_in(name))
    labels = rows.select(*SLOT, "label").drop_nulls("label").unique() if "label" in found else None
    if not ordered:
        bare = labels is None or rows["label"].is_null().any()
        return Long(name=name, candidates=rows.select(SLOT) if bare else None, labels=labels)
    if "expert" not in found:
        rows = rows.with_columns(expert=pl.lit(expert))
    said = rows.select(pl.col("expert").is_not_null() & ~pl.all_horizontal(pl.col(ordered).is_null())).to_series()
    entries = rows.filter(said).drop("label", strict=False)
    if len(ordered) == 2:
        warn_of_contradictions(entries, name, "ranks")
    rest = rows.filter(~said).select(SLOT).unique(maintain_order=True)
    return Long(
        name=name,
        entries=entries,
        candidates=rest if rest.height else None,
        labels=labels,
        one_expert="expert" not in found,
    )


def directed(found: dict[str, str], values: str | None, source: str) -> dict[str, str]:
    """The roles with 'value' turned into rank or score, as ``values`` says."""
    if values not in (None, "rank", "score"):
        raise DataError(f"values must be 'rank' or 'score', got {values!r}")
    if "rank" in found or "score" in found:
        if values is not None and values not in found:
            raise DataError(f"{source}: values={values!r}, but the table has no column for a {values}")
        return {word: header for word, header in found.items() if word != "value"}
    if "value" not in found:
        return found
    if values is None:
        raise DataError(
            f"{source}: column {found['value']!r} may be a rank (small is best) or a score (large is best); "
            "say values='rank' or values='score'"
        )
    return {values if word == "value" else word: header for word, header in found.items()}


def write(thing: Dataset | Consensus, path: Path, top: int | None = None) -> None:
    """Every entry, then the items that nobody ranks; columns that say nothing are left out."""
    tabular.save_frame(thing.to_frame(top) if isinstance(thing, Consensus) else frame_of(thing), path)


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
    if not r.n_entries:
        rows = rows.drop("expert", "rank")
    whole = [c for c in ("rank", "label", "weight") if c in rows.columns and (rows[c] == rows[c].round()).all()]
    return rows.drop("slot").with_columns(pl.col(whole).cast(pl.Int64))


def _rows(frame: pl.DataFrame, found: Mapping[str, str], fail: Fail) -> pl.DataFrame:
    """The rows under our words that are not blank; all of them need names."""
    rows = typed(frame, found, fail)
    blank = rows.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if "query" not in found:
        rows = rows.with_columns(query=pl.lit(ONE_QUERY))
    unnamed = rows.select(pl.any_horizontal(pl.col(SLOT).is_null())).to_series()
    if (row := first_true(unnamed & ~blank)) is not None:
        raise fail(row, "a name for query and item")
    return rows.filter(~blank)
