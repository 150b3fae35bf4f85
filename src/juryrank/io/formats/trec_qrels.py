"""TREC qrels: ``query iteration item label``, separated by tabs or blanks; the iteration is not read."""

from __future__ import annotations

from collections.abc import Iterator

from juryrank.data import Dataset
from juryrank.data.trec_lines import demand_no_mark, demand_words
from juryrank.io.dataset_frames import labels_frame, text_of
from juryrank.io.format import Format
from juryrank.io.rows import Rows
from juryrank.io.runs import read_frame
from juryrank.io.source import Source
from juryrank.io.words import first_words, is_iteration
from juryrank.io.write_checks import warn_of_lost_weights
from juryrank.polars import pl

COLUMNS = ("query", "iteration", "item", "label")


class TrecQrels(Format):
    """Labels only."""

    name = "trec-qrels"
    endings = (".qrels",)

    def sniff(self, source: Source) -> bool:
        """Four words separated by blanks: Q0 or a number in the second, a number last."""
        words = first_words(source)
        if len(words) != len(COLUMNS) or not is_iteration(words[1]):
            return False
        return words[-1].lstrip("-").replace(".", "", 1).isdecimal()

    def _read(self, source: Source) -> Rows:
        return Rows(name=str(source.path), labels=read_frame(source, COLUMNS).rename({"score": "label"}))

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """One line per label, iteration 0."""
        frame = labels_frame(data)
        demand_words(frame, ["query", "item"], "TREC qrels")
        demand_no_mark(frame["query"], "TREC qrels")
        warn_of_lost_weights(data)
        lines = frame.select("query", pl.lit("0").alias("iteration"), "item", text_of(pl.col("label")))
        return iter([lines.write_csv(include_header=False, separator=" ", quote_style="never").encode()])
