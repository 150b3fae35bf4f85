"""Judgements: the grade that a judge gave to an item of a query, in rows and frames, and as labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from juryrank.annotators.combine import combine_grades
from juryrank.data import Labels
from juryrank.data.long_table import labels_from_rows
from juryrank.errors import DataError
from juryrank.io.rows import first_true
from juryrank.io.tables.columns import HEADERS, Fail, as_names, as_numbers, join_names, normalise
from juryrank.polars import pl

COLUMNS = ("query", "item", "judge", "grade", "note", "time")
NEEDED = {  # and other headers that they may have
    "query": HEADERS["query"],
    "item": HEADERS["item"],
    "judge": ("judgeid", "annotator", "annotatorid", "assessor", "rater", "raterid", "worker", "workerid"),
    "grade": ("label", "rel", "relevance", "judgment", "judgement"),
}
SKIPPED, UNDONE = "skipped", "undone"


@dataclass(frozen=True)
class Judgement:
    """The answer of one judge about one item of a query; without a grade if the item was skipped."""

    query: str
    item: str
    judge: str
    grade: float | None
    note: str = ""
    time: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Query and item."""
        return self.query, self.item


def column_words(headers: Sequence[str], name: str) -> list[str | None]:
    """The standard name of each column, None for a column that was added by others."""
    found = [normalise(header) if normalise(header) in COLUMNS else None for header in headers]
    for word, others in NEEDED.items():
        if word not in found:
            found = [word if normalise(header) in others else old for header, old in zip(headers, found, strict=True)]
        if found.count(word) != 1:
            raise DataError(
                f"{name}: judgements have the columns {', '.join(NEEDED)}, each once; columns are "
                f"{join_names(headers)}; give another file, or rename them"
            )
    return found


def judgements_in_frame(frame: pl.DataFrame, name: str, fail: Fail) -> list[Judgement]:
    """The judgements that count, in a frame with the columns query, item, judge and grade."""
    words = column_words(frame.columns, name)
    by_word = {word: frame[header] for word, header in zip(words, frame.columns, strict=True) if word}
    names = pl.DataFrame([as_names(by_word[word], word, fail).alias(word) for word in ("query", "item", "judge")])
    if (row := first_true(names.select(pl.any_horizontal(pl.all().is_null())).to_series())) is not None:
        raise fail(row, "a name for query, item and judge")
    grades = as_numbers(by_word["grade"], "grade", fail)
    notes = by_word["note"].fill_null("") if "note" in by_word else [""] * frame.height
    rows = zip(*names, grades, notes, strict=True)
    return answers_that_count(Judgement(*row) for row in rows)


def answers_that_count(rows: Iterable[Judgement]) -> list[Judgement]:
    """The last row of each query, item and judge, unless it takes the answer back."""
    found: dict[tuple[str, str, str], Judgement] = {}
    for row in rows:
        key = (*row.key, row.judge)
        found.pop(key, None)
        if row.note != UNDONE:
            found[key] = row
    return list(found.values())


def frame_of(judgements: Iterable[Judgement]) -> pl.DataFrame:
    """Those judgements that have a grade, as a frame."""
    rows = [(each.query, each.item, each.judge, each.grade) for each in judgements if each.grade is not None]
    text = dict.fromkeys(("query", "item", "judge"), pl.String)
    return pl.DataFrame(rows, schema={**text, "grade": pl.Float64}, orient="row")


def labels_of(judgements: Iterable[Judgement]) -> Labels | None:
    """The labels of the items that have been graded, None if there are none; several judges are combined."""
    frame = frame_of(judgements)
    if frame.is_empty():
        return None
    return labels_from_rows(combine_grades(frame).label_rows())
