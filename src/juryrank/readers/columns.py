"""Which column of a table is which: our words, common headers for them, text for names and float64 for numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import polars as pl

from juryrank.errors import DataError
from juryrank.readers.long import first_true, numbers

HEADERS = {
    "query": ("qid", "queryid", "topic", "topicid"),
    "item": ("itemid", "doc", "docid", "docno", "document", "documentid", "movieid", "passageid", "candidate"),
    "expert": (
        "annotator", "judge", "judgeid", "ranker", "rater", "run", "runid", "system", "tag",
        "user", "userid", "voter", "worker", "workerid",
    ),
    "list": ("listid",),
    "rank": ("position", "place"),
    "score": ("rating", "similarity"),
    "value": (),
    "label": ("gold", "grade", "rel", "relevance"),
    "weight": ("count",),
    "left": ("a", "itema", "modela", "player1"),
    "right": ("b", "itemb", "modelb", "player2"),
    "winner": ("won",),
}  # fmt: skip
NUMBERS = ("rank", "score", "label", "weight")
NO_NUMBER = ("", "NULL", "null", "NA", "N/A", "nan", "NaN", "None")

Fail = Callable[[int, str], DataError]  # the error for a row (counted from 0) and what was expected of it


def plain(header: str) -> str:
    """A header without case, blanks, ``_`` and ``-``."""
    return header.strip().lower().replace("_", "").replace("-", "").replace(" ", "")


def roles(headers: list[str], columns: Mapping[str, str] | None, source: str, words: Collection[str]) -> dict[str, str]:
    """Our word -> header, from ``columns`` first, then from equal words, then from common headers."""
    given = dict(columns or {})
    for word, header in given.items():
        if word not in words:
            raise DataError(f"{source}: columns= knows no {word!r} here, only {', '.join(words)}")
        if header not in headers:
            raise DataError(f"{source}: no column {header!r}; columns are {_told(headers)}")
    free = {header: plain(header) for header in headers if header not in given.values()}
    for word in words:
        if word in given:
            continue
        exact = [header for header, name in free.items() if name == word]
        found = exact or [header for header, name in free.items() if name in HEADERS[word]]
        if len(found) > 1:
            raise DataError(
                f"{source}: columns {_told(found)} could all be the {word}; say which: columns={{{word!r}: …}}"
            )
        if found:
            given[word] = found[0]
            del free[found[0]]
    return given


def typed(frame: pl.DataFrame, found: Mapping[str, str], fail: Fail) -> pl.DataFrame:
    """The columns under our words; names as text, numbers as float64, and null where something is missing."""
    return pl.DataFrame(
        [
            (as_numbers if word in NUMBERS else _names)(frame[header], header, fail).alias(word)
            for word, header in found.items()
        ]
    )


def _names(column: pl.Series, header: str, fail: Fail) -> pl.Series:
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise fail(0, f"text or whole numbers in column {header!r} (it is {column.dtype})")
    if column.dtype.is_float():  # whole numbers with gaps come as floats from pandas: 7.0 is the name "7"
        whole = column.fill_nan(None)
        if whole.is_null().all() or (whole.drop_nulls() == whole.drop_nulls().round()).all():
            column = whole.cast(pl.Int64, strict=False)
    text = column.cast(pl.String)
    return text.set(text == "", None) if len(text) else text


def as_numbers(column: pl.Series, header: str, fail: Fail) -> pl.Series:
    """A column as float64, null where something is missing."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64).fill_nan(None)
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise fail(0, f"numbers in column {header!r} (it is {column.dtype})")
    text = column.cast(pl.String).str.strip_chars()
    value = numbers(text)
    wrong = value.is_null() & text.is_not_null() & ~text.is_in(list(NO_NUMBER))
    if (row := first_true(wrong)) is not None:
        raise fail(row, f"a number in column {header!r} (not {text[row][:20]!r})")
    return value.fill_nan(None)


def _told(headers: list[str]) -> str:
    return ", ".join(repr(h) for h in headers[:12]) + (" …" if len(headers) > 12 else "")
