"""Pairwise comparisons: left, right, winner, and perhaps query, expert and weight; each is a list of two items.

The winner is the name of the left or the right item, or a word for left, right or tie. Comparisons that are equal
become one list, whose weight is their number (or the sum of their weights).
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError
from juryrank.readers import tabular
from juryrank.readers.columns import Columns, Fail, roles, typed
from juryrank.readers.long import Long, first_true
from juryrank.readers.rows import entries_of, unranked, warn_of_loss
from juryrank.readers.source import Source

ENDINGS = ()
OPTIONS = ("columns",)
PAIR = ("left", "right", "winner")
WORDS = (*PAIR, "query", "expert", "weight")
LEFT, RIGHT = ("left", "a", "model_a", "item_a"), ("right", "b", "model_b", "item_b")
TIE = ("tie", "draw", "both", "tie (bothbad)")


def sniff(source: Source) -> bool:
    """A table with words for left, right and winner in its header."""
    return tabular.known_words(source).issuperset(PAIR)


def read(source: Source, columns: Columns = None) -> Long:
    """The comparisons of a table file."""
    frame, fail = tabular.frame_of(source), tabular.failing(source)
    return read_frame(frame, columns, name=str(source.path), expert=source.stem, fail=fail)


def read_frame(
    frame: pl.DataFrame,
    columns: Columns = None,
    *,
    name: str = "the table",
    expert: str = "table",
    fail: Fail | None = None,
) -> Long:
    """The comparisons of a frame; ``expert`` is who compares when no column says so."""
    found = roles(frame.columns, columns, name, WORDS)
    if absent := [word for word in PAIR if word not in found]:
        raise DataError(f"{name}: comparisons need a column {absent[0]!r}; say columns={{{absent[0]!r}: …}}")
    rows = typed(frame, found, fail or tabular.failing_in(name))
    rows = rows.with_row_index("row").filter(~pl.all_horizontal(pl.col(list(found)).is_null()))
    for word, otherwise in (("query", ONE_QUERY), ("expert", expert), ("weight", 1.0)):
        told = pl.col(word).fill_null(otherwise) if word in found else pl.lit(otherwise)
        rows = rows.with_columns(told.alias(word))
    rows = rows.with_columns(_verdict().alias("verdict"))
    wrong = (
        rows["verdict"].is_null() | (rows["left"] == rows["right"]) | rows["left"].is_null() | rows["right"].is_null()
    )
    if (row := first_true(wrong)) is not None:
        expected = "two different items and a winner: the name of one of them, left, right or tie"
        raise (fail or tabular.failing_in(name))(rows["row"][row], expected)
    return Long(name=name, entries=_entries(rows))


def write(data: Dataset, path: Path) -> None:
    """A table of left, right and winner; the winner stands left and is named."""
    r = data.rankings
    if (r.list_size != 2).any():
        size = int(r.list_size[r.list_size != 2][0])
        raise DataError(f"comparisons are lists of two items, and the data has a list of {size}; write a table instead")
    warn_of_loss(len(unranked(r)), "items that nobody compares are left out")
    entries = entries_of(r)
    left, right = entries[::2], entries[1::2]
    tie = pl.Series(left["rank"] == right["rank"])
    pairs = left.select("query", "expert", pl.col("item").alias("left"), "weight")
    pairs = pairs.with_columns(right=right["item"], tie=tie)
    pairs = pairs.with_columns(winner=pl.when("tie").then(pl.lit(TIE[0])).otherwise("left"))
    if pairs.filter(pl.col("tie") & ((pl.col("left") == TIE[0]) | (pl.col("right") == TIE[0]))).height:
        raise DataError(f"comparisons cannot carry a tie with an item named {TIE[0]!r}; write a table instead")
    tabular.save_frame(pairs.select("query", *PAIR, "expert", "weight"), path)


def _verdict() -> pl.Expr:
    """1 when left wins, -1 when right wins, 0 for a tie; names go before words."""
    said = pl.col("winner").str.strip_chars().str.to_lowercase()
    return (
        pl.when(pl.col("winner") == pl.col("left")).then(1)
        .when(pl.col("winner") == pl.col("right")).then(-1)
        .when(said.is_in(LEFT)).then(1)
        .when(said.is_in(RIGHT)).then(-1)
        .when(said.is_in(TIE)).then(0)
    )  # fmt: skip


def _entries(rows: pl.DataFrame) -> pl.DataFrame:
    """Two entries per distinct comparison, the better one first and ties by name."""
    swap = (pl.col("verdict") < 0) | ((pl.col("verdict") == 0) & (pl.col("left") > pl.col("right")))
    pairs = rows.select(
        "query",
        "expert",
        "weight",
        first=pl.when(swap).then("right").otherwise("left"),
        second=pl.when(swap).then("left").otherwise("right"),
        rank=pl.when(pl.col("verdict") == 0).then(1.0).otherwise(2.0),
    )
    keys = ["query", "expert", "first", "second", "rank"]
    pairs = pairs.group_by(keys, maintain_order=True).agg(pl.col("weight").sum())
    pairs = pairs.with_columns(list=pl.int_range(pl.len()).cast(pl.String))
    kept = ["query", "expert", "list", "weight"]
    better = pairs.select(*kept, pl.col("first").alias("item"), rank=pl.lit(1.0))
    worse = pairs.select(*kept, pl.col("second").alias("item"), rank=pl.col("rank"))
    return pl.concat([better, worse])
