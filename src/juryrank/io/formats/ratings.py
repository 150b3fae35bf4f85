"""Ratings: user, item, rating (and a time, which is not read), as MovieLens writes them; the user is the expert.

Files without a header have tabs, commas or ``::`` between the columns; files with one are tables. Three columns without
a header and without a time may be anything: only ``format="ratings"`` reads these as ratings.
"""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError
from juryrank.io.dataset_frames import entries_of, unranked
from juryrank.io.formats import table
from juryrank.io.rows import Rows, first_true
from juryrank.io.source import Source
from juryrank.io.tables.columns import Columns
from juryrank.io.tables.frames import save_frame
from juryrank.io.words import separated
from juryrank.io.write_checks import demand_one_query, demand_single_lists, warn_of_loss

ENDINGS = ()
OPTIONS = ("columns", "values")
NAMES = ("expert", "item", "score", "time")
BARE = re.compile(r"[^\t,:]+(\t|,|::)[^\t,:]+\1-?\d+(\.\d+)?(\1\d{9,13})?$")

read_frame = table.read_frame  # a frame has a header, and with one ratings are a table


def sniff(source: Source) -> bool:
    """A first line of user, item, number and a time in seconds, or with ``::`` between them, without a header."""
    first = BARE.match(source.start[0]) if source.start else None
    return first is not None and bool(first[3] or first[1] == "::")


def read(source: Source, columns: Columns = None, values: str | None = None) -> Rows:
    """One list per user, by rating."""
    first = BARE.match(source.head[0]) if source.head else None
    if first is None or columns or values:
        return table.read(source, columns, values)
    data = source.data.replace(b"::", b"\t")
    frame = separated(data, first[1].replace("::", "\t"), NAMES, numeric=("score",))
    named = pl.all_horizontal(pl.col("expert", "item", "score").is_not_null()) & pl.col("more").is_null()
    if (row := first_true(frame.select(~named).to_series())) is not None:
        raise source.error(frame["line"][row], "user, item, rating (a number) and perhaps a time")
    return Rows(name=str(source.path), entries=frame.select("expert", "item", "score", query=pl.lit(ONE_QUERY)))


def write(data: Dataset, path: Path) -> None:
    """A table of user, item and rating."""
    demand_one_query(data.rankings, "a file of ratings")
    demand_single_lists(data.rankings, "a file of ratings")
    if data.rankings.entry_score is None:
        raise DataError("ratings need scores, and the data has only ranks; write a table instead")
    warn_of_loss(len(unranked(data.rankings)), "items that nobody rates are left out")
    save_frame(entries_of(data.rankings).select(pl.col("expert").alias("user"), "item", rating="score"), path)
