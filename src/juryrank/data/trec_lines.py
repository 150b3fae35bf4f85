"""The lines of a TREC run, the same for every destination: a file, a folder, stdout, text in Python."""

from __future__ import annotations

import io

import polars as pl

from juryrank.errors import DataError

BLANK = r"[ \t\n\r\f\v]"


def run_lines(rows: pl.DataFrame) -> bytes:
    """Rows with columns query, item, rank, score and expert as UTF-8 text; a DataError for a name with blanks."""
    demand_words(rows, ["query", "item", "expert"], "a TREC run")
    lines = rows.select("query", pl.lit("Q0").alias("iteration"), "item", "rank", "score", "expert")
    out = io.BytesIO()  # written from polars, without text of Python's own in between
    lines.write_csv(out, include_header=False, separator=" ", quote_style="never")
    return out.getvalue()


def demand_words(frame: pl.DataFrame, columns: list[str], what: str, blank: str = BLANK) -> None:
    """A DataError for the first name that a blank-separated format cannot carry."""
    odd = pl.col(columns).str.contains(blank) | (pl.col(columns) == "")
    for column, found in frame.select(odd.any()).row(0, named=True).items():
        names = frame[column]
        if found and (bad := names.filter(names.str.contains(blank) | (names == ""))).len():
            raise DataError(f"{what} cannot carry blanks in a name: {column} {bad[0]!r}; write a table instead")
