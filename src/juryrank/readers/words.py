"""Lines of words with one separator, as columns of a frame."""

from __future__ import annotations

import re

import polars as pl

from juryrank.readers.long import first_true
from juryrank.readers.source import Source

BLANKS = " \f\v"  # beside tab and line feed
BLANK_AROUND = r"^[ \f\v]|[ \f\v]$"


def first_words(source: Source) -> list[str]:
    """The words of the first line that is not blank."""
    return [word.decode() for word in source.start[0].encode().split()] if source.start else []


def is_number(text: str) -> bool:
    """Whether a word is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_iteration(text: str) -> bool:
    """Whether a word may stand between query and item in TREC's files, where items must not be taken for it."""
    return text.upper() == "Q0" or is_number(text)


def separator_of(data: bytes) -> bytes:
    """The tab where one stands at the beginning, else the blank."""
    return b"\t" if b"\t" in data[:10_000] else b" "


def blank_separated(
    source: Source, names: tuple[str, ...], numeric: tuple[str, ...], optional: tuple[str, ...] = ()
) -> pl.DataFrame:
    """Columns between tabs or any blanks, or an error for the first line that does not have them."""
    separator = separator_of(source.data)
    demanded = [name for name in names if name not in optional]
    wrong = pl.any_horizontal(pl.col(demanded).is_null()) | pl.col("more").is_not_null()
    frame = separated(source.data, separator.decode(), names, numeric)
    other = separator == b" " and any(blank in source.data for blank in (b"\t", b"\f", b"\v"))
    if other or frame.select(wrong.any()).item():  # most files have one separator throughout; only others are rewritten
        frame = separated(one_blank(source.data, separator), separator.decode(), names, numeric)
    if separator == b"\t":
        frame = _without_blanks_around(frame, [name for name in names if name not in numeric])
    if (row := first_true(frame.select(wrong).to_series())) is not None:
        told = " ".join(f"{name} (a number)" if name in numeric else name for name in names)
        raise source.error(frame["line"][row], f"{len(names)} columns: {told}")
    return frame.select(names)


def _without_blanks_around(frame: pl.DataFrame, texts: list[str]) -> pl.DataFrame:
    """Between tabs a name may have blanks inside, but those around it do not count; an empty name is absent."""
    if not frame.select(pl.any_horizontal(pl.col(texts).str.contains(BLANK_AROUND).any())).item():
        return frame
    bare = pl.col(texts).str.strip_chars(BLANKS)
    return frame.with_columns(bare.replace("", None))


def separated(data: bytes, separator: str, names: tuple[str, ...], numeric: tuple[str, ...]) -> pl.DataFrame:
    """Columns with the line they stand in: null for what is absent or no number, ``more`` for what is too much."""
    frame = pl.read_csv(
        data,
        has_header=False,
        separator=separator,
        quote_char=None,
        schema={name: pl.Float64 if name in numeric else pl.String for name in (*names, "more")},
        ignore_errors=True,
        extra_columns="ignore",
        missing_columns="insert",
        row_index_name="line",
        row_index_offset=1,
    )
    return frame.filter(~pl.all_horizontal(pl.col(names).is_null()))


def one_blank(data: bytes, separator: bytes) -> bytes:
    """The text with ``separator`` for every run of blanks inside a line; lines keep their numbers."""
    data = re.sub(rb"[ \t\f\v]+", separator, data)
    return data.replace(b"\n" + separator, b"\n").replace(separator + b"\n", b"\n").strip(separator)
