"""TREC qrels: ``query iteration item label``, tabs or any blanks; the iteration is not read."""

from __future__ import annotations

import polars as pl

from juryrank.readers.long import Long, first_true
from juryrank.readers.source import Source
from juryrank.readers.trec_run import read_columns

NAMES = ("query", "iteration", "item", "label")


def sniff(source: Source) -> bool:
    """Four blank-separated words, a number last."""
    words = source.head[0].split() if source.head else []
    return len(words) == len(NAMES) and words[-1].lstrip("-").replace(".", "", 1).isdecimal()


def read(source: Source) -> Long:
    """The labels; nobody ranks anything."""
    frame = read_columns(source, NAMES, numeric=("label",))
    wrong = ~pl.col("label").is_finite().fill_null(False) | pl.col("more").is_not_null()
    if (row := first_true(frame.select(wrong).to_series())) is not None:
        raise source.error(frame["line"][row], f"{len(NAMES)} columns: {' '.join(NAMES)} (a number)")
    return Long(name=str(source.path), labels=frame.select("query", "item", "label"))
