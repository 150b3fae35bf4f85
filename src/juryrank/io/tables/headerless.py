"""Tables without a header: the user identifies the columns by number, because the content is ambiguous."""

from __future__ import annotations

from juryrank.errors import DataError
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import Columns
from juryrank.io.tables.layout import WORDS
from juryrank.io.words import collapse_blanks, is_number
from juryrank.polars import pl

MOST = 8  # columns up to which words separated by blanks look like a table
EXAMPLES = {
    2: ("{'item': 1, 'score': 2}", "{'item': 1, 'rank': 2}"),
    3: (
        "{'query': 1, 'item': 2, 'score': 3}", "{'expert': 1, 'item': 2, 'score': 3}",
        "{'item': 1, 'expert': 2, 'score': 3}",
    ),
}  # fmt: skip
LONG = ("{'query': 1, 'item': 2, 'expert': 3, 'score': 4}",)


def has_column_numbers(columns: Columns) -> bool:
    """Whether all columns are named by number."""
    headers = [header for header in (columns or {}).values() if header]
    return bool(headers) and all(str(header).isdecimal() for header in headers)


def is_headerless(source: Source, columns: Columns) -> bool:
    """Whether a text table has no header, judged by its first line and ``columns``."""
    if source.parquet or frames.is_json(source) or (columns and not has_column_numbers(columns)):
        return False
    return looks_headerless(source) or bool(columns and not {str(h) for h in columns.values()} & set(cells_of(source)))


def looks_headerless(source: Source) -> bool:
    """Whether the first line of a text looks like data: no standard name, and a number."""
    if source.parquet or frames.is_json(source) or frames.known_headers(source).intersection(WORDS):
        return False
    cells = cells_of(source)
    return 1 < len(cells) <= MOST and any(is_number(cell) for cell in cells)


def cells_of(source: Source) -> list[str]:
    """The cells of the first line, between separators or blanks."""
    cells = frames.headers_of(source)
    return source.head[0].split() if len(cells) < 2 and source.head else cells


def frame_of(source: Source, columns: Columns, argument: str = "columns") -> pl.DataFrame:
    """The table, its columns named 1, 2, 3, …; an error where ``columns`` does not name them."""
    if not has_column_numbers(columns):
        raise unclear_columns(source, argument)
    width, separator, data = len(cells_of(source)), frames.separator_of(source), source.data
    if len(frames.headers_of(source)) < 2:
        data, separator = collapse_blanks(data, b" "), " "
    return frames.headerless_frame(source, data, separator, [str(n + 1) for n in range(width)])


def unclear_columns(source: Source, argument: str = "columns") -> DataError:
    """The error that asks for the columns by number."""
    cells = cells_of(source)
    choices = " or ".join(f"{argument}={choice}" for choice in EXAMPLES.get(len(cells), LONG))
    expected = f"a header that says which column is which; without one, number the columns: {choices}"
    labels = "; labels that workers gave to tasks: juryrank crowd" if len(cells) > 2 else ""
    return source.error(1, f"{expected} (rank in place of score where small is best{labels})")
