"""Ratings: user, item, rating (and a time, which is not read), as MovieLens writes them; the user is the expert.

Files without a header have tabs, commas or ``::`` between the columns; files with one are tables. Three columns without
a header and without a time are ambiguous: only ``format="ratings"`` reads them as ratings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, warn_about_data
from juryrank.io.dataset_frames import entries_of, unranked_slots
from juryrank.io.format import Format
from juryrank.io.formats.table import Table
from juryrank.io.rows import Rows, first_true
from juryrank.io.source import Source
from juryrank.io.tables.columns import Columns
from juryrank.io.tables.frames import frame_lines
from juryrank.io.words import read_separated
from juryrank.io.write_checks import demand_one_query, demand_single_lists, warn_of_loss
from juryrank.polars import pl

COLUMNS = ("expert", "item", "score", "time")
MOST_LABELS = 20  # different labels of workers
LEAST_RATINGS = 20  # of a user in MovieLens; a task has fewer labels
WITHOUT_HEADER = re.compile(r"[^\t,:]+(\t|,|::)[^\t,:]+\1-?\d+(\.\d+)?(\1\d{9,13})?$")


def warn_of_likely_labels(rows: Rows) -> None:
    """Warn if ratings that were recognised without a header may be the labels that workers gave to tasks.

    Both have three columns and perhaps a time. In ratings there are usually more items than users, or many ratings of
    each user, or half points; tasks are usually more than workers, with a few whole labels each.
    """
    assert rows.entries is not None
    users, items, ratings = (rows.entries[name].n_unique() for name in ("expert", "item", "score"))
    whole = bool((rows.entries["score"] == rows.entries["score"].round()).all())
    if users > items and whole and ratings <= MOST_LABELS and rows.entries.height < LEAST_RATINGS * users:
        warn_about_data(
            f"{rows.name}: without a header, read as user, item and rating: {users} users rate {items} items; if these "
            "are tasks, workers and labels, use juryrank.crowd or `juryrank crowd`; if not, say format='ratings'"
        )


class Ratings(Format):
    """One list per user, with the ratings as scores."""

    name = "ratings"
    options = ("columns", "values")

    def sniff(self, source: Source) -> bool:
        """A first line of user, item, number and a time in seconds, or with ``::`` between them, without a header."""
        first = WITHOUT_HEADER.match(source.start[0]) if source.start else None
        return first is not None and bool(first[3] or first[1] == "::")

    def _read(self, source: Source, columns: Columns = None, values: str | None = None) -> Rows:
        first = WITHOUT_HEADER.match(source.head[0]) if source.head else None
        if first is None or columns or values:
            return Table().read(source, columns=columns, values=values)
        data = source.data.replace(b"::", b"\t")
        frame = read_separated(data, first[1].replace("::", "\t"), COLUMNS, numeric=("score",))
        complete = pl.all_horizontal(pl.col("expert", "item", "score").is_not_null()) & pl.col("more").is_null()
        if (row := first_true(frame.select(~complete).to_series())) is not None:
            raise source.error(frame["line"][row], "user, item, rating (a number) and perhaps a time")
        return Rows(name=str(source.path), entries=frame.select("expert", "item", "score", query=pl.lit(ONE_QUERY)))

    def _read_frame(self, frame: pl.DataFrame, columns: Columns = None, values: str | None = None) -> Rows:
        return Table().read_frame(frame, columns=columns, values=values)  # a frame has headers, so it is a table

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """A table of user, item and rating."""
        demand_one_query(data.rankings, "a file of ratings")
        demand_single_lists(data.rankings, "a file of ratings")
        if data.rankings.entry_score is None:
            raise DataError("ratings need scores, and the data has only ranks; write a table instead")
        warn_of_loss(len(unranked_slots(data.rankings)), "items that nobody rates are left out")
        entries = entries_of(data.rankings)
        return frame_lines(entries.select(pl.col("expert").alias("user"), "item", rating="score"), file_name)
