"""Tables, one row per entry or one column per expert: CSV, TSV, NDJSON, Parquet, or any frame with an Arrow stream.

Columns: item, and any of query, expert, rank, score, label, weight, list; ``tables/layout.py`` finds them. Without a
query column there is one query, "all"; without an expert column the file is one expert, named after the file. A row
without an expert, or without a rank and score, only makes its item a candidate. With both rank and score the order is
that of the ranks.
"""

from __future__ import annotations

from collections.abc import Iterator

from juryrank.data import Consensus, Dataset
from juryrank.errors import warn_about_data
from juryrank.io.dataset_frames import long_table
from juryrank.io.format import Format
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.io.tables import frames, headerless
from juryrank.io.tables.columns import Columns, Fail
from juryrank.io.tables.entries import split_rows, standard_rows
from juryrank.io.tables.layout import Layout, layout
from juryrank.polars import pl


class Table(Format):
    """Rows under a header."""

    name = "table"
    endings = frames.ENDINGS
    options = ("columns", "values")
    writes = (Dataset, Consensus)
    write_options = ("top",)

    def sniff(self, source: Source) -> bool:
        """Parquet, the ending of a table, or a header (or JSON line) with an item and another known column."""
        if source.parquet or source.suffix in self.endings:
            return True
        known = frames.known_headers(source)
        return "item" in known and len(known) > 1

    def _read(self, source: Source, columns: Columns = None, values: str | None = None) -> Rows:
        bare = headerless.is_headerless(source, columns)
        frame = headerless.frame_of(source, columns) if bare else frames.frame_of(source)
        comma = frames.separator_of(source) == ";"
        chosen = layout(frame.lazy(), columns, values, name=str(source.path), comma=comma)
        fail = frames.line_errors(source, header=not bare)
        return _rows(frame, chosen, name=str(source.path), expert=source.stem, fail=fail)

    def _read_frame(self, frame: pl.DataFrame, columns: Columns = None, values: str | None = None) -> Rows:
        name = "the table"
        chosen = layout(frame.lazy(), columns, values, name=name)
        return _rows(frame, chosen, name=name, expert="table", fail=frames.row_errors(name))

    def _lines(self, thing: Dataset | Consensus, file_name: str, top: int | None = None) -> Iterator[bytes]:
        """Every entry, then the items that no expert ranks; columns without information are omitted."""
        frame = thing.to_frame(top) if isinstance(thing, Consensus) else long_table(thing)
        return frames.frame_lines(frame, file_name)


def _rows(frame: pl.DataFrame, chosen: Layout, *, name: str, expert: str, fail: Fail) -> Rows:
    """The rows of a table; ``expert`` is the expert where no column names one."""
    rows = split_rows(standard_rows(frame, chosen, fail), chosen, name=name, expert=expert)
    if rows.entries is not None and not rows.entries.height:
        what = f"{'' if 'expert' not in chosen.headers else 'an expert and '}a {' or '.join(chosen.ordered)}"
        message = f"{name}: no row has {what}, so there are no lists, only items"
        warn_about_data(message)
    return rows
