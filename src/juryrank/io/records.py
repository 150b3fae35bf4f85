"""Rankings and labels of other libraries, one row each: ranx, ir_measures, ir_datasets, plain (query, item, number).

A thing is recognised by the name of its class or by its fields, without an import of the library it comes from.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from juryrank.data.by_query import ByQuery
from juryrank.data.shapes import NUMBERS, ItemList, as_texts, floats, is_number, unique_names
from juryrank.errors import DataError
from juryrank.polars import pl

SCORE, LABEL, EITHER = "score", "relevance", "number"  # what the number of a row is


class Records(NamedTuple):
    """The columns of the rows, and whether their number is a score or a label."""

    queries: list[Any]
    items: list[Any]
    numbers: list[Any]
    kind: str
    where: str  # in messages

    def lists(self) -> dict[str, ItemList]:
        """The list of each query, with the scores; a DataError for rows that are labels, or may be something else."""
        if self.kind == LABEL:
            raise DataError(f"{self.where}: rankings need a score, and these are labels; give them with labels=")
        if self.kind == EITHER and all(map(_are_whole, (self.queries, self.items, self.numbers))):
            raise DataError(
                f"{self.where}: rows of three whole numbers may be (query, item, score) or orders of items; "
                "make the scores floats, or use from_orders"
            )
        queries, items = self._names()
        scores = floats(items, self.numbers, self.where, "score")
        found: dict[str, ItemList] = {}
        for query, item, score in zip(queries, items, scores, strict=True):
            if (listed := found.get(query)) is None:
                listed = found[query] = ItemList([], [])
            listed.items.append(item)
            listed.numbers.append(score)  # type: ignore[union-attr]
        return found

    def labels(self) -> pl.DataFrame:
        """One row per label: query, item, label; a DataError for rows that are scores."""
        if self.kind == SCORE:
            raise DataError(f"{self.where}: labels need a relevance, and these are scores of a ranking")
        queries, items = self._names()
        values = floats(items, self.numbers, self.where, "label")
        return pl.DataFrame(
            {
                "query": pl.Series(queries, dtype=pl.String),
                "item": pl.Series(items, dtype=pl.String),
                "label": pl.Series(values, dtype=pl.Float64),
            }
        )

    def _names(self) -> tuple[list[str], list[str]]:
        queries, items = _ids(self.queries, "query", self.where), _ids(self.items, "item", self.where)
        unique_names(dict.fromkeys(queries), f"{self.where}: query")
        return list(map(str, queries)), as_texts(items)[0]


def consume(thing: Any) -> Any:
    """Iterators, and iterables such as the qrels of ir_datasets, as a list; everything else unchanged."""
    whole = (str, bytes, os.PathLike, Mapping, Sequence, set, frozenset, np.ndarray, ByQuery)
    if isinstance(thing, whole) or hasattr(thing, "read") or hasattr(thing, "__arrow_c_stream__") or ranx_class(thing):
        return thing
    return list(thing) if isinstance(thing, Iterable) else thing


def records_of(thing: Any, where: str) -> Records | None:
    """The rows of a ranx Run or Qrels, or of a list; None for other things, and for lists of paths or open files."""
    if kind := ranx_class(thing):
        return _from_dict(thing.to_dict(), SCORE if kind == "Run" else LABEL, where)
    if not isinstance(thing, list | tuple) or not thing:
        return None
    if is_record(thing[0]):
        return _from_fields(thing, where)
    return _from_tuples(thing, where) if isinstance(thing[0], tuple | list) else None


def ranx_class(thing: Any) -> str | None:
    """``"Run"`` or ``"Qrels"`` if a thing is one of ranx."""
    known = (c.__name__ for c in type(thing).__mro__ if c.__module__.partition(".")[0] == "ranx")
    return next((name for name in known if name in ("Run", "Qrels")), None)


def is_record(thing: Any) -> bool:
    """Whether a thing has the fields of a query and a document, or is another named tuple, which is an error later."""
    return (hasattr(thing, "query_id") and hasattr(thing, "doc_id")) or hasattr(thing, "_fields")


def is_run_of_library(thing: Any) -> bool:
    """Whether a thing is a whole run, as a frame, a ranx Run, tuples or records, and not the list of one query."""
    if ranx_class(thing) or (hasattr(thing, "__arrow_c_stream__") and hasattr(thing, "columns")):
        return True
    first = thing[0] if isinstance(thing, list | tuple) and thing else None
    return is_record(first) or (isinstance(first, tuple | list) and len(first) == 3 and _is_value(first[2]))


def _from_dict(by_query: Mapping[str, Mapping[str, float]], kind: str, where: str) -> Records:
    queries = [query for query, listed in by_query.items() for _ in listed]
    items = [item for listed in by_query.values() for item in listed]
    numbers = [number for listed in by_query.values() for number in listed.values()]
    return Records(queries, items, numbers, kind, where)


def _from_fields(rows: Sequence[Any], where: str) -> Records:
    """Objects with query_id, doc_id, and score or relevance; other fields, such as iteration, are not used."""
    kinds = [kind for kind in (SCORE, LABEL) if hasattr(rows[0], kind)]
    if len(kinds) > 1:
        raise DataError(f"{where}: a record has a score or a relevance, and {type(rows[0]).__name__} has both")
    fields = ("query_id", "doc_id", kinds[0] if kinds else f"{SCORE} or {LABEL}")
    try:
        found = list(map(attrgetter(*fields), rows))
    except AttributeError:
        row = next(n for n, row in enumerate(rows) if not all(hasattr(row, field) for field in fields))
        raise DataError(
            f"{where}: row {row + 1}: expected a record with {fields[0]}, {fields[1]} and {fields[2]}, "
            f"got {rows[row]!r:.80}"
        ) from None
    return Records(*_columns(found), kinds[0], where)


def _from_tuples(rows: Sequence[Any], where: str) -> Records:
    if not _are_plain(rows):
        for n, row in enumerate(rows, 1):
            if not (isinstance(row, tuple | list) and len(row) == 3 and not is_record(row) and _is_value(row[2])):
                raise DataError(
                    f"{where}: row {n}: expected (query, item, number), got {row!r:.80}; "
                    "from_orders takes orders of items"
                )
    return Records(*_columns(rows), EITHER, where)


def _columns(rows: Sequence[Sequence[Any]]) -> tuple[list[Any], list[Any], list[Any]]:
    return [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]


def _are_plain(rows: Sequence[Any]) -> bool:
    """Whether all are tuples of three, the last a number: the usual case, checked without a Python loop."""
    return (
        {tuple}.issuperset(map(type, rows))
        and {3}.issuperset(map(len, rows))
        and NUMBERS.issuperset([type(row[2]) for row in rows])
    )


def _is_value(value: Any) -> bool:
    """Whether this is a number or a missing one."""
    return value is None or is_number(value) or type(value).__name__ == "NAType"


def _are_whole(values: list[Any]) -> bool:
    return all(isinstance(value, int | np.integer) for value in values)


def _ids(values: list[Any], what: str, where: str) -> list[Any]:
    """Names as text or int: 7.0, as pandas makes of 7 in a column with gaps, is 7."""
    if {str}.issuperset(map(type, values)):
        return values
    return [value if type(value) is str else _id(value, n, what, where) for n, value in enumerate(values, 1)]


def _id(value: Any, row: int, what: str, where: str) -> Any:
    if isinstance(value, str):
        return str(value)
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if number and np.isfinite(value) and value == int(value):
        return int(value)
    raise DataError(f"{where}: row {row}: the {what} must be text or a whole number, got {value!r:.40}")
