"""TREC qrels: ``query iteration item label``, tabs or any blanks; the iteration is not read."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from juryrank.data import Dataset
from juryrank.data.trec_lines import demand_no_mark, demand_words
from juryrank.io.dataset_frames import labels_frame, text_of
from juryrank.io.files import save
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.io.words import blank_separated, first_words, is_iteration

ENDINGS = (".qrels",)
NAMES = ("query", "iteration", "item", "label")


def sniff(source: Source) -> bool:
    """Four blank-separated words: Q0 or a number in the second, a number last."""
    words = first_words(source)
    return len(words) == len(NAMES) and is_iteration(words[1]) and words[-1].lstrip("-").replace(".", "", 1).isdecimal()


def read(source: Source) -> Rows:
    """The labels; nobody ranks anything."""
    frame = blank_separated(source, NAMES, numeric=("label",))
    return Rows(name=str(source.path), labels=frame.select("query", "item", "label"))


def write(data: Dataset, path: Path) -> None:
    """One line per label, iteration 0."""
    frame = labels_frame(data)
    demand_words(frame, ["query", "item"], "TREC qrels")
    demand_no_mark(frame["query"], "TREC qrels")
    lines = frame.select("query", pl.lit("0").alias("iteration"), "item", text_of(pl.col("label")))
    save(path, lines.write_csv(include_header=False, separator=" ", quote_style="never").encode())
