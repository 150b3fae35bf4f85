"""The rows of a table under standard names, and the entries, candidates and labels in them."""

from __future__ import annotations

from juryrank.data.build import ONE_QUERY
from juryrank.data.values import demand_ranks
from juryrank.io.rows import SLOT, Rows, first_true, warn_of_contradictions
from juryrank.io.tables.columns import Fail, as_numbers, convert_columns
from juryrank.io.tables.layout import Layout
from juryrank.polars import pl


def standard_rows(frame: pl.DataFrame, chosen: Layout, fail: Fail) -> pl.DataFrame:
    """The rows that are not blank, with standard names as headers; a row without a query or item is an error."""
    rows = convert_columns(frame, chosen.headers, fail, comma=chosen.comma)
    rows = rows.with_columns(as_numbers(frame[h], h, fail, comma=chosen.comma).alias(h) for h in chosen.experts)
    if chosen.distances:
        rows = rows.with_columns(-pl.col(h) for h in chosen.experts or ["score"])
    blank = rows.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if "query" not in chosen.headers:
        rows = rows.with_columns(query=pl.lit(ONE_QUERY))
    unnamed = rows.select(pl.any_horizontal(pl.col(SLOT).is_null())).to_series()
    if (row := first_true(unnamed & ~blank)) is not None:
        raise fail(row, "a name for query and item")
    return rows.filter(~blank)


def label_columns(rows: pl.DataFrame) -> pl.DataFrame:
    """The labels of standard rows, with their weights if there are some."""
    columns = [*SLOT, "label", *(["label_weight"] if "label_weight" in rows.columns else [])]
    return rows.select(columns).drop_nulls("label").unique()


def split_rows(rows: pl.DataFrame, chosen: Layout, *, name: str, expert: str) -> Rows:
    """Entries, candidates and labels of standard rows; ``expert`` is the expert where no column names one."""
    labels = label_columns(rows) if "label" in chosen.headers else None
    if not chosen.ordered:
        bare = labels is None or rows["label"].is_null().any()
        return Rows(name=name, candidates=rows.select(SLOT) if bare else None, labels=labels)
    if chosen.experts:
        is_entry = rows.select(pl.any_horizontal(pl.col(chosen.experts).is_not_null())).to_series()
        index = [column for column in rows.columns if column not in chosen.experts]
        entries = rows.unpivot(chosen.experts, index=index, variable_name="expert", value_name=chosen.values)
        entries = entries.drop_nulls(chosen.values)
    else:
        if "expert" not in chosen.headers:
            rows = rows.with_columns(expert=pl.lit(expert))
        some = ~pl.all_horizontal(pl.col(chosen.ordered).is_null())
        is_entry = rows.select(pl.col("expert").is_not_null() & some).to_series()
        entries = rows.filter(is_entry)
    entries = entries.drop("label", "label_weight", strict=False)
    if "rank" in entries.columns:
        demand_ranks(entries, name, chosen.remedies)
    if len(chosen.ordered) == 2:
        warn_of_contradictions(entries, name, "ranks")
    rest = rows.filter(~is_entry).select(SLOT).unique(maintain_order=True)
    return Rows(
        name=name,
        entries=entries,
        candidates=rest if rest.height else None,
        labels=labels,
        one_expert="expert" not in chosen.headers and not chosen.experts,
    )
