"""Lines of words with one separator, as columns of a frame."""

from __future__ import annotations

import polars as pl

from juryrank.readers.source import Source


def first_words(source: Source) -> list[str]:
    """The words of the first line that is not blank."""
    return [word.decode() for word in source.head[0].encode().split()] if source.head else []


def blank_separated(source: Source, names: tuple[str, ...], numeric: tuple[str, ...]) -> pl.DataFrame:
    """Columns between tabs or any blanks."""
    separator = b"\t" if b"\t" in source.data[:10_000] else b" "
    return separated(source.blanks_as(separator), separator.decode(), names, numeric)


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
