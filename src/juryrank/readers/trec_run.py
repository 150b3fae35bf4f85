"""TREC runs: ``query Q0 item rank score tag``, tabs or any blanks; the tag is the name of the expert.

The order is that of the scores, largest first, as in trec_eval; equal scores are ties. The rank column may be
absent, may start at 0 or be no number: it is only compared with the scores, and a contradiction is a warning.
"""

from __future__ import annotations

import polars as pl

from juryrank.readers.long import Long, first_true, warn_of_contradictions
from juryrank.readers.source import Source

FULL = ("query", "iteration", "item", "rank", "score", "expert")
RANKLESS = ("query", "iteration", "item", "score", "expert")


def sniff(source: Source) -> bool:
    """Six blank-separated words with a number in the fifth, or five with a number in the fourth."""
    words = source.head[0].split() if source.head else []
    return len(words) in (5, 6) and _is_number(words[-2])


def read(source: Source) -> Long:
    """The lists of one run, or of several in one file when tags differ."""
    names = RANKLESS if source.head and len(source.head[0].split()) == len(RANKLESS) else FULL
    frame = read_columns(source, names, numeric=("rank", "score"))
    wanted = [n for n in names if n != "rank"]
    wrong = frame.select(pl.any_horizontal(pl.col(wanted).is_null()) | pl.col("more").is_not_null()).to_series()
    if (row := first_true(wrong)) is not None:
        raise source.error(frame["line"][row], f"{len(names)} columns: {' '.join(names)}")
    frame = frame.select(n for n in names if n != "iteration")
    if "rank" in names:
        warn_of_contradictions(frame, str(source.path), "scores")
        frame = frame.drop("rank")
    return Long(name=str(source.path), entries=frame)


def read_columns(source: Source, names: tuple[str, ...], numeric: tuple[str, ...]) -> pl.DataFrame:
    """Blank-separated columns, numbers where ``numeric``; null for what is absent, ``more`` for what is too much."""
    separator = b"\t" if b"\t" in source.data[:10_000] else b" "
    types = {name: pl.Float64 if name in numeric else pl.String for name in (*names, "more")}
    frame = pl.read_csv(
        source.blanks_as(separator),
        has_header=False,
        separator=separator.decode(),
        quote_char=None,
        schema=types,
        ignore_errors=True,
        extra_columns="ignore",
        missing_columns="insert",
        row_index_name="line",
        row_index_offset=1,
    )
    return frame.filter(~pl.all_horizontal(pl.col(names).is_null()))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
