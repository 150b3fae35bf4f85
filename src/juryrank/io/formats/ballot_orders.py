"""Ballots as strings: ``A>B=C>D``, one per line, perhaps with a count (``3: A>B=C>D``), or in a column of a table.

``>`` separates places and ``=`` tied candidates. A table has a column of such strings and perhaps one of counts or of
voters. Lines that begin with ``#`` are comments.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from juryrank.data import Dataset
from juryrank.errors import DataError
from juryrank.io.formats._places import is_blank
from juryrank.io.formats.ballots import (
    ABOUT,
    BallotFormat,
    Findings,
    Sheet,
    about_columns,
    build,
    given_headers,
    is_about,
    sample,
    written_ballots,
)
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import Columns, join_names, normalise
from juryrank.polars import pl

HEADERS = ("ballot", "ballots", "order", "orders", "ranking", "rankings", "vote", "votes", "preference", "preferences")
AHEAD = re.compile(r"\s*([+-]?\d{1,15}(?:\.\d+)?)\s*[:;,\t]\s*(\S.*)$")
BEHIND = re.compile(r"\s*(.*\S)\s*[:;,\t]\s*([+-]?\d{1,15}(?:\.\d+)?)\s*$")
COUNT, ORDER = "count", "order"


class BallotOrders(BallotFormat):
    """One string per ballot."""

    name = "ballot-orders"
    options = ("columns",)
    words = ("order", *ABOUT)

    def sniff(self, source: Source) -> bool:
        """Lines of orders, or a table with one column of them; a line without ``>`` has names of other lines only."""
        if source.parquet or frames.is_json(source):
            return super().sniff(source)
        lines = [line for line in source.head if not line.startswith("#")]
        if lines and not _is_order(lines[0]) and not _is_header(lines[0]):
            head = sample(source)
            return head is not None and self.fits(head)
        lines = lines[1:] if lines and _is_header(lines[0]) else lines
        if any(separator in lines[0] for separator in "\t;,") if lines else False:
            counted = _counted(lines)
            lines = lines if counted is None else counted[1]
        return _are_orders(lines) or _are_counted(lines)

    def fits(self, head: pl.DataFrame) -> bool:
        orders = [header for header in head.columns if _are_orders(head[header].drop_nulls().to_list())]
        if len(orders) != 1:
            return False
        return all(header in orders or is_about(header) for header in head.columns)

    def _read(self, source: Source, columns: Columns = None, **options: Any) -> Rows:
        if columns or source.parquet or frames.is_json(source):
            return super()._read(source, columns)
        lines = source.lines().filter(~pl.col("text").str.starts_with("#"))
        texts = lines["text"].to_list()
        if texts and _is_header(texts[0]):
            lines, texts = lines[1:], texts[1:]
        elif texts and not _is_order(texts[0]) and len(frames.headers_of(source)) > 1 and not AHEAD.match(texts[0]):
            return super()._read(source, columns)
        if not texts:
            raise source.error(1, "orders such as 3: A>B=C>D")
        counted = _counted(texts)
        _demand_all_or_none(source, lines["line"].to_list(), texts, counted is None)
        counts, orders = counted or (None, texts)
        frame = pl.DataFrame({ORDER: orders} if counts is None else {ORDER: orders, COUNT: counts})
        numbers = lines["line"].to_list()
        return self._ballots(Sheet.of(frame, str(source.path), lambda row, text: source.error(numbers[row], text)), {
            "order": ORDER, "expert": None, "query": None, "weight": None if counts is None else COUNT,
        })  # fmt: skip

    def _ballots(self, sheet: Sheet, columns: Columns) -> Rows:
        given = given_headers(columns, "order", sheet.headers, sheet.name)
        orders = given or [h for h in sheet.headers if _are_orders(sheet.frame[h].drop_nulls().to_list())]
        orders = orders or [header for header in sheet.headers if normalise(header) in HEADERS]
        if len(orders) != 1:
            found = f"{len(orders)} columns" if orders else "no column"
            raise DataError(
                f"{sheet.name}: {found} of orders such as A>B=C; columns are {join_names(sheet.headers)}; "
                "use columns={'order': 'HEADER'}"
            )
        about = about_columns(sheet.headers, columns, sheet.name, orders)
        findings = Findings(sheet.name, sheet.fail)
        cells = sheet.cells(orders).select("row", "text")
        places = {text: list(_marks(text)) for text in cells["text"].unique().to_list()}
        for row, text in cells.iter_rows():
            if (twice := _repeated(places[text])) is not None:
                raise sheet.fail(row, f"every candidate once in an order, and {twice!r} is in it several times")
        marks = [(row, place, name) for row, text in cells.iter_rows() for place, name in places[text]]
        frame = pl.DataFrame(marks, schema={"row": pl.Int64, "place": pl.Int64, "item": pl.String}, orient="row")
        gaps = frame["item"] == ""
        what = "nothing between two signs, passed over"
        findings.add(frame["row"].filter(gaps), f"has {what}", f"have {what}")
        return build(sheet, frame.filter(~gaps), (about, orders), findings)

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """``count: order`` for each list; a table, if the name of the file is that of one."""
        ballots = written_ballots(data, self.name, (">", "=", '"', "#"))
        lines = [(count, ">".join("=".join(group) for group in groups)) for groups, count in ballots]
        if file_name.lower().endswith(frames.ENDINGS):
            schema = {COUNT: pl.String, ORDER: pl.String}
            return frames.frame_lines(pl.DataFrame(lines, schema=schema, orient="row"), file_name)
        return iter(["".join(f"{count}: {order}\n" for count, order in lines).encode()])


def _marks(text: str) -> Iterator[tuple[int, str]]:
    """Place and name of each candidate; an empty name where there is nothing between two signs."""
    if is_blank(_unquoted(text)):
        return
    for place, group in enumerate(_unquoted(text).split(">")):
        for name in group.split("="):
            yield place, _unquoted(name)


def _repeated(marks: Sequence[tuple[int, str]]) -> str | None:
    """The first candidate that an order names again."""
    names = Counter(name for _, name in marks if name)
    return next((name for name, n in names.items() if n > 1), None)


def _unquoted(text: str) -> str:
    text = text.strip()
    quoted = len(text) > 1 and text[0] == text[-1] == '"' and '"' not in text[1:-1]
    return text[1:-1].strip() if quoted else text


def _is_order(text: str) -> bool:
    """Whether a text has two or more places with names, and no tags."""
    places = text.split(">")
    return len(places) > 1 and all(place.strip() for place in places) and "<" not in text


def _is_header(text: str) -> bool:
    return normalise(_unquoted(text)) in HEADERS


def _are_orders(texts: Sequence[str]) -> bool:
    """Whether most texts are orders, and the others name candidates of orders only, or are blank."""
    orders = [text for text in texts if _is_order(text)]
    if not orders or 2 * len(orders) < len(texts):
        return False
    bare = [(text, AHEAD.match(text)) for text in texts]
    names = {name for text, ahead in bare if _is_order(text) for _, name in _marks(ahead[2] if ahead else text)}
    rest = [ahead[2] if ahead else text for text, ahead in bare if not _is_order(text)]
    return all(name == "" or name in names for text in rest for _, name in _marks(text))


def _are_counted(texts: Sequence[str]) -> bool:
    """Whether the first and most of the lines are orders with a count, so that the others are mistakes."""
    orders = [bool((ahead := AHEAD.match(text)) and _is_order(ahead[2])) for text in texts]
    return bool(orders) and orders[0] and 2 * sum(orders) >= len(orders)


def _counted(texts: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """The counts and the orders of lines that all have a count at the same end; None otherwise."""
    for pattern, count, order in ((AHEAD, 1, 2), (BEHIND, 2, 1)):
        found = [pattern.match(text) for text in texts]
        if all(found):
            return [match[count] for match in found if match], [match[order] for match in found if match]
    return None


def _demand_all_or_none(source: Source, lines: Sequence[int], texts: Sequence[str], uncounted: bool) -> None:
    """A DataError for the first line without a count where others have one."""
    if not uncounted or not any(AHEAD.match(text) for text in texts):
        return
    for line, text in zip(lines, texts, strict=True):
        if not AHEAD.match(text):
            raise source.error(line, "a count, as other lines have: 3: A>B=C>D")
