"""Ballots with one column per candidate: ranks in the cells (1, 2nd, third choice), or scores if ``values`` says so.

As a spreadsheet has them, or the grid of Google Forms, ``Question [Candidate]``. Each row is a ballot. Numbers alone
may be ranks or scores: unless the question says that they are ranks, ``values`` must.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from juryrank.data import Dataset
from juryrank.errors import DataError
from juryrank.io.formats._places import is_blank, is_number, named_place, split_question, written_place
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
from juryrank.io.tables import frames
from juryrank.io.tables.columns import LAST_RESORT, Columns, join_names, normalise
from juryrank.polars import pl

RANKED = ("rank", "prefer", "order of", "place the")  # in a question: the numbers are ranks


class BallotGrid(BallotFormat):
    """One column per candidate."""

    name = "ballot-grid"
    options = ("columns", "values")
    words = ("item", *ABOUT)

    def fits(self, head: pl.DataFrame) -> bool:
        """Two or more columns of places or numbers, beside those of voters, counts, times and comments."""
        candidates = _candidates(head.columns)
        texts = [text for header in candidates for text in head[header].drop_nulls().unique().to_list()]
        marks = [text for text in texts if not is_blank(text)]
        if len(candidates) < 2 or not marks or any(named_place(header) for header in candidates):
            return False
        if not _in_question(candidates) and any(normalise(header) in LAST_RESORT["item"] for header in head.columns):
            return False  # rows of items, rather than of ballots
        known = [written_place(text) is not None or is_number(text) for text in marks]
        return 2 * sum(known) > len(known) if _in_question(candidates) else all(known)

    def takes(self, columns: Columns) -> bool:
        """As for all ballots; one column of items is that of a table, because each candidate has a column here."""
        return super().takes(columns) and not isinstance((columns or {}).get("item"), str)

    def _ballots(self, sheet: Sheet, columns: Columns, values: str | None = None) -> Rows:
        if values not in (None, "rank", "score"):
            raise DataError(f"values must be 'rank' or 'score', got {values!r}")
        candidates = given_headers(columns, "item", sheet.headers, sheet.name)
        candidates = candidates or _with_marks(sheet, _candidates(sheet.headers, columns))
        if len(candidates) < 2:
            raise DataError(
                f"{sheet.name}: no columns of candidates; columns are {join_names(sheet.headers)}; "
                "use columns={'item': ['HEADER', 'HEADER']}"
            )
        cells = sheet.cells(candidates)
        cells = cells.filter(~each_text(cells["text"], is_blank, pl.Boolean))
        values = values or _kind(cells["text"], candidates, sheet.name)
        names = _names(candidates, sheet.name)
        findings = Findings(sheet.name, sheet.fail)
        read = _scores if values == "score" else _places
        marks = read(cells, candidates, sheet, findings)
        marks = marks.with_columns(item=pl.Series(names, dtype=pl.String).gather(marks["column"])).drop("column")
        about = about_columns(sheet.headers, columns, sheet.name, candidates)
        return build(sheet, marks, (about, candidates), findings, names)

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """A column of counts, and one of ranks for each candidate, in a way that says that they are ranks."""
        names = sorted(map(str, data.rankings.items))
        rows = []
        for groups, count in written_ballots(data, self.name, all_named=True):
            places = {name: str(n) for n, group in enumerate(groups, 1) for name in group}
            rows.append([count, *(places.get(name) for name in names)])
        schema = {"count": pl.String, **{f"rank [{name}]": pl.String for name in names}}
        return frames.frame_lines(pl.DataFrame(rows, schema=schema, orient="row"), file_name)


def _candidates(headers: list[str], columns: Columns = None) -> list[str]:
    """The columns of candidates: the rows of one question, or all that are nothing else; none if unclear."""
    questions = [header for header in headers if split_question(header)]
    if len(questions) > 1:
        return questions if _in_question(questions) else []
    named = [header for word in ABOUT for header in [(columns or {}).get(word)] if header]
    return [header for header in headers if header not in named and not is_about(header)]


def _with_marks(sheet: Sheet, candidates: list[str]) -> list[str]:
    """The columns without those whose cells are all words, such as names of voters."""
    cells = sheet.cells(candidates)
    cells = cells.filter(~each_text(cells["text"], is_blank, pl.Boolean))
    known = each_text(cells["text"], lambda text: written_place(text) is not None or is_number(text), pl.Boolean)
    words = set(cells["column"]) - set(cells["column"].filter(known))
    return [header for n, header in enumerate(candidates) if n not in words or len(words) == len(candidates)]


def _in_question(candidates: Sequence[str]) -> bool:
    """Whether all columns are rows of the same question."""
    split = [split_question(header) for header in candidates]
    return None not in split and len({each[0] for each in split if each}) == 1


def _names(candidates: list[str], name: str) -> list[str]:
    names = [split[1] if (split := split_question(h)) else h for h in candidates]
    if len(set(names)) < len(names):
        raise DataError(f"{name}: several columns are of one candidate; rename or drop all but one")
    return names


def _kind(texts: pl.Series, candidates: list[str], name: str) -> str:
    """Ranks, where a cell or the question says so; an error otherwise, because numbers alone may be scores."""
    split = split_question(candidates[0]) if _in_question(candidates) else None
    if split and any(word in split[0].lower() for word in RANKED):
        return "rank"
    if any(named_place(text) for text in texts.unique().to_list()):
        return "rank"
    raise DataError(
        f"{name}: columns {join_names(candidates)} look like one per candidate, but their numbers may be ranks "
        "(1 is best) or scores (large is best); use values='rank' or values='score' with format='ballot-grid'; "
        "or if each row is an item, columns={'item': 'HEADER'}"
    )


def _places(cells: pl.DataFrame, candidates: list[str], sheet: Sheet, findings: Findings) -> pl.DataFrame:
    """Row, column and place of each cell; words that name no place are counted."""
    place = each_text(cells["text"], written_place, pl.Float64)
    _report_unknown(cells.filter(place.is_null()), cells.height, candidates, "a rank such as 1 or 1st", findings)
    marks = cells.with_columns(place=place).drop_nulls("place")
    wrong = marks.filter((pl.col("place") < 1) | (pl.col("place") > len(candidates)))
    if wrong.height:
        row, column, text, _ = wrong.row(0)
        raise sheet.fail(
            row,
            f"a rank from 1 to {len(candidates)} in column {candidates[column]!r} (not {text!r}); an empty cell where "
            "a candidate is not ranked; columns={'item': […]} names the columns of the candidates",
        )
    by_row = marks.group_by("row", maintain_order=True).agg(
        tied=pl.col("place").is_duplicated().any(),
        skips=(pl.col("place") > pl.col("place").rank("max")).any(),
    )
    what = "the same rank for several candidates, read as a tie"
    findings.add(by_row.filter("tied")["row"], f"has {what}", f"have {what}")
    what = "a rank, and later ones move up"
    findings.add(by_row.filter("skips")["row"], f"skips {what}", f"skip {what}")
    return marks.select("row", "column", "place")


def _scores(cells: pl.DataFrame, candidates: list[str], sheet: Sheet, findings: Findings) -> pl.DataFrame:
    """Row, column and score of each cell; cells without a number are counted."""
    score = cells["text"].cast(pl.Float64, strict=False)
    score = score.set(~score.is_finite().fill_null(True), None)
    _report_unknown(cells.filter(score.is_null()), cells.height, candidates, "a number", findings)
    return cells.with_columns(score=score).drop_nulls("score").select("row", "column", "score")


def _report_unknown(
    unknown: pl.DataFrame, n_cells: int, candidates: list[str], expected: str, findings: Findings
) -> None:
    """Report cells that are not understood; an error if these are most of them."""
    if not unknown.height:
        return
    row, column, text = unknown.row(0)
    if 2 * unknown.height > n_cells:
        raise findings.fail(row, f"{expected} in column {candidates[column]!r} (not {text[:20]!r})")
    what = f"a word that is not understood, such as {text[:20]!r}, read as empty"
    findings.add(unknown["row"], f"has {what}", f"have {what}")
