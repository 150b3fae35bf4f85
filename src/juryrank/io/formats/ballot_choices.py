"""Ballots with one column per place: first, second, third, … with the names of candidates in the cells.

Also the columns ``First choice``, ``Second choice`` of a form, ``choice_1``, ``rank 2``, and ``Question [1st choice]``
as Google Forms writes them. Each row is a ballot; a column of voters and one of counts are understood. A place that
is empty is passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from juryrank.data import Dataset
from juryrank.errors import DataError
from juryrank.io.formats._places import OVERVOTES, is_blank, is_number, named_place, split_question
from juryrank.io.formats.ballots import (
    ABOUT,
    BallotFormat,
    Findings,
    Sheet,
    about_columns,
    build,
    each_text,
    given_headers,
    is_about,
    written_ballots,
)
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import Columns, join_names
from juryrank.polars import pl

SEVERAL = (";", ",", "/", "|")  # between candidates that share a cell


class BallotChoices(BallotFormat):
    """One column per place."""

    name = "ballot-choices"
    options = ("columns",)
    words = ("choice", *ABOUT)

    def fits(self, head: pl.DataFrame) -> bool:
        """Two or more columns for places, from the first on; numbers in them beside another text may be ranks."""
        choices = choice_headers(head.columns)
        if len(choices) < 2:
            return False
        others = [h for h in head.columns if h not in choices and not is_about(h)]
        return not (_numbers(head, choices) and any(not _numbers(head, [header]) for header in others))

    def _read(self, source: Source, columns: Columns = None, **options: Any) -> Rows:
        numbers = _column_numbers(columns)
        headers = [] if source.parquet or frames.is_json(source) else frames.headers_of(source)
        if not numbers or not headers or set(numbers) & set(headers):
            return super()._read(source, columns)
        separator = frames.separator_of(source)
        names = [str(n + 1) for n in range(len(headers))]
        frame = frames.headerless_frame(source, source.data, separator, names)
        fail = frames.line_errors(source, header=False)
        return self._ballots(Sheet.of(frame, str(source.path), fail), columns)

    def _ballots(self, sheet: Sheet, columns: Columns) -> Rows:
        given = given_headers(columns, "choice", sheet.headers, sheet.name)
        choices = given or choice_headers(sheet.headers)
        if not choices:
            raise DataError(
                f"{sheet.name}: no columns for first, second, third choice; columns are {join_names(sheet.headers)}; "
                "use columns={'choice': ['HEADER', 'HEADER']}, best first (numbers of columns, without a header)"
            )
        about = about_columns(sheet.headers, columns, sheet.name, choices)
        findings = Findings(sheet.name, sheet.fail)
        marks = sheet.cells(choices).select("row", place="column", item="text")
        blank = each_text(marks["item"], is_blank, pl.Boolean)
        over = each_text(marks["item"], lambda text: text.lower() in OVERVOTES, pl.Boolean)
        findings.add(marks["row"].filter(over), "has an overvote, passed over", "have overvotes, passed over")
        marks = _split_cells(marks.filter(~blank & ~over), findings)
        last = marks.group_by("row").agg(pl.col("place").max() + 1 > pl.col("place").n_unique())
        skipped = last.filter(pl.col("place"))["row"]
        findings.add(skipped, "skips a place, and later choices move up", "skip a place, and later choices move up")
        return build(sheet, marks, (about, choices), findings)

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """A column of counts, and one for each place; an error for ties."""
        ballots = written_ballots(data, self.name)
        if any(len(group) > 1 for groups, _ in ballots for group in groups):
            raise DataError("a column for each place has no ties, and a list has one; write ballot-orders instead")
        width = max(len(groups) for groups, _ in ballots)
        rows = [[count, *(group[0] for group in groups), *[None] * (width - len(groups))] for groups, count in ballots]
        header = ["count", *(f"choice {n}" for n in range(1, width + 1))]
        schema = {"count": pl.String, **dict.fromkeys(header[1:], pl.String)}
        return frames.frame_lines(pl.DataFrame(rows, schema=schema, orient="row"), file_name)


def choice_headers(headers: list[str]) -> list[str]:
    """The headers that name the places 1, 2, 3, … in this order; none if a place is missing or named twice."""
    questions = {split[0] for header in headers if (split := split_question(header)) and named_place(split[1])}
    if len(questions) > 1:
        return []  # several grids in one form
    places = [(named_place(split[1] if (split := split_question(h)) else h), h) for h in headers]
    found = sorted((place, header) for place, header in places if place is not None)
    return [h for _, h in found] if [place for place, _ in found] == list(range(1, len(found) + 1)) else []


def _numbers(head: pl.DataFrame, headers: list[str]) -> bool:
    """Whether all cells of some columns are numbers."""
    return all(is_number(text) for header in headers for text in head[header].drop_nulls().unique().to_list())


def _column_numbers(columns: Columns) -> list[str]:
    """The columns of choices, if all are given by number."""
    given = (columns or {}).get("choice")
    several = [str(header) for header in (given if isinstance(given, list | tuple) else [given])]
    return several if all(header.isdecimal() for header in several) else []


def _split_cells(marks: pl.DataFrame, findings: Findings) -> pl.DataFrame:
    """The marks with cells such as ``Alice, Bob`` as a tie, if each part stands alone in another cell."""
    names = set(marks["item"].unique().to_list())
    parts = {name: found for name in names if (found := _parts(name, names))}
    if not parts:
        return marks
    shared = marks["item"].is_in(list(parts))
    what = "two or more candidates in one cell, read as a tie"
    findings.add(marks["row"].filter(shared), f"has {what}", f"have {what}")
    lists = pl.col("item").map_elements(lambda name: parts.get(name, [name]), return_dtype=pl.List(pl.String))
    return marks.with_columns(lists).explode("item")


def _parts(name: str, names: set[str]) -> list[str]:
    for separator in SEVERAL:
        parts = [part.strip() for part in name.split(separator)]
        if len(parts) > 1 and all(part in names for part in parts):
            return parts
    return []
