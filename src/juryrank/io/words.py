"""Words of lines, and columns with one separator as a frame."""

from __future__ import annotations

import re

from juryrank.io.source import BYTE_ORDER_MARK, Source
from juryrank.polars import pl


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
    """Whether a word can be the second column of TREC files: Q0 or a number, so that an item is not taken for it."""
    return text.upper() == "Q0" or is_number(text)


def read_separated(data: bytes, separator: str, names: tuple[str, ...], numeric: tuple[str, ...]) -> pl.DataFrame:
    """Columns with the number of their line: null if absent or not a number, ``more`` for a surplus column."""
    marked = data.startswith(BYTE_ORDER_MARK)  # part of a name here, but polars would drop it at the very beginning
    frame = pl.read_csv(
        b"\n" + data if marked else data,
        has_header=False,
        separator=separator,
        quote_char=None,
        schema={name: pl.Float64 if name in numeric else pl.String for name in (*names, "more")},
        ignore_errors=True,
        extra_columns="ignore",
        missing_columns="insert",
        row_index_name="line",
        row_index_offset=0 if marked else 1,
    )
    return frame.filter(~pl.all_horizontal(pl.col(names).is_null()))


def collapse_blanks(data: bytes, separator: bytes) -> bytes:
    """The text with ``separator`` for every run of blanks inside a line; lines keep their numbers."""
    data = re.sub(rb"[ \t\f\v]+", separator, data)
    return data.replace(b"\n" + separator, b"\n").replace(separator + b"\n", b"\n").strip(separator)
