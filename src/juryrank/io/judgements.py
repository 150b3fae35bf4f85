"""Labels from files and frames that are known to hold labels, so that headers such as score mean the label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from juryrank.annotators.combine import combine_grades
from juryrank.errors import DataError, warn_about_data
from juryrank.io.files import load
from juryrank.io.formats import format_of, sniff
from juryrank.io.formats.ratings import Ratings
from juryrank.io.formats.svmlight import LineFormat
from juryrank.io.formats.table import Table
from juryrank.io.formats.trec_qrels import TrecQrels
from juryrank.io.rows import SLOT, Rows
from juryrank.io.source import Source
from juryrank.io.tables import frames, headerless
from juryrank.io.tables.columns import HEADERS, Columns, Fail, join_names, normalise, roles
from juryrank.io.tables.entries import label_columns, standard_rows
from juryrank.io.tables.layout import WORDS, Layout
from juryrank.io.words import is_number
from juryrank.polars import pl
from juryrank.progress import remark

WEIGHTS = ("labelweight", "weight", "confidence")  # headers of weights of labels; a count is not one
ONE = "label 1"  # the header of labels that are not in the table
NUMBERED = {"query": "1", "item": "2", "label": "3"}  # three columns without a header


def label_rows(sources: Sequence[Source], columns: Columns) -> list[Rows]:
    """The labels of each source."""
    return [_from_source(source, columns) for source in sources]


def _from_source(source: Source, columns: Columns) -> Rows:
    found = Table() if columns else sniff(source)
    if isinstance(found, TrecQrels | LineFormat):
        return found.read(source)
    if found is not None and not isinstance(found, Table | Ratings):
        raise DataError(f"{source.path}: no labels: the file looks like {found.name}, not like qrels")
    bare, cells = headerless.is_headerless(source, columns), headerless.cells_of(source)
    if bare and not columns and len(cells) == len(NUMBERED) and is_number(cells[-1]):
        columns = NUMBERED
    elif found is None and not bare:
        format_of(source)  # its error names the formats
    with source.reading():
        frame = headerless.frame_of(source, columns, "label_columns") if bare else frames.frame_of(source)
        fail, comma = frames.line_errors(source, header=not bare), frames.separator_of(source) == ";"
        return labels_from_frame(frame, columns, name=str(source.path), fail=fail, comma=comma)


def labels_from_frame(
    frame: pl.DataFrame, columns: Columns, *, name: str = "labels", fail: Fail | None = None, comma: bool = False
) -> Rows:
    """The labels of a table; where it has neither experts nor ranks, a column such as score is the label.

    With a column of judges, and neither ranks nor scores, the label of an item is made of the grades of all its judges.
    """
    table = _LabelTable.of(frame, columns, name, comma=comma)
    rows = standard_rows(table.frame, table.layout, fail or frames.row_errors(name))
    if "expert" in table.layout.headers:
        rows = _last_answers(rows)
    if not table.has_lists and (empty := rows["label"].null_count()):
        remark(f"{name}: {empty} of {rows.height} rows have no label; they are left out")
    if "expert" in table.layout.headers and rows["label"].count():
        gold = table.gold_rows(fail or frames.row_errors(name))
        combined = combine_grades(_grades(rows), gold, source=name)
        if combined.n_compared:
            more = "; weights of grades are not used" if "label_weight" in rows.columns else ""
            warn_about_data(f"{name}: {combined.summary()}{more}")
            return Rows(name=name, labels=combined.label_rows())
    return Rows(name=name, labels=label_columns(rows))


def _last_answers(rows: pl.DataFrame) -> pl.DataFrame:
    """The last row of each query, item and judge: it changes an earlier answer, or without a label takes it back."""
    last = rows.select(pl.struct(*SLOT, "expert").is_last_distinct() | pl.col("expert").is_null()).to_series()
    return rows.filter(last)


def is_judgements(source: Source) -> bool:
    """Whether a file has judgements: a table with columns item, judge and label (or grade) and without lists."""
    if not isinstance(sniff(source), Table):
        return False
    known = frames.known_headers(source)
    judges = "judge" in {normalise(header) for header in frames.headers_of(source)}
    return (
        judges and {"item", "label"} <= known and not known.intersection(("rank", "score", "value", "left", "winner"))
    )


def read_grades(thing: Any, columns: Columns = None) -> tuple[pl.DataFrame, pl.DataFrame | None]:
    """The rows (query, item, judge, grade) of a file or frame of judgements, and true grades from its column gold."""
    if hasattr(thing, "__arrow_c_stream__"):
        frame, name, fail, comma = frames.from_arrow(thing), "judgements", frames.row_errors("judgements"), False
    else:
        source = load(Path(thing))
        name = str(thing)
        with source.reading():
            frame = frames.frame_of(source)
        fail, comma = frames.line_errors(source), frames.separator_of(source) == ";"
    table = _LabelTable.of(frame, columns, name, comma=comma)
    if "expert" not in table.layout.headers:
        headers = join_names(frame.columns)
        raise DataError(
            f"{name}: judgements need a column 'judge', and neither ranks nor scores; columns are {headers}"
        )
    return _grades(_last_answers(standard_rows(frame, table.layout, fail))), table.gold_rows(fail)


@dataclass(frozen=True)
class _LabelTable:
    """A table of labels or grades, and the columns in use."""

    frame: pl.DataFrame
    layout: Layout  # query, item, label, label_weight, and expert if there are judges
    gold: str | None  # the column with true grades, beside those of judges
    has_lists: bool  # and labels besides

    @classmethod
    def of(cls, frame: pl.DataFrame, columns: Columns, name: str, *, comma: bool) -> _LabelTable:
        gold = _gold_header(frame.columns, columns)
        found = roles([h for h in frame.columns if h != gold], columns, name, WORDS, "label_columns")
        other = next((word for word in ("score", "value") if word in found), None)
        if "label" not in found and other and "expert" not in found and "rank" not in found:
            found["label"] = found[other]
        if not {"label"} & {*found, *(columns or {})} and _names_items_alone(frame, found):
            frame, found["label"] = frame.with_columns(pl.lit(1.0).alias(ONE)), ONE
            warn_about_data(
                f"{name}: no column of labels, so each of its {frame.height} items counts as relevant, with label 1; "
                "label_columns={'label': 'HEADER'} names the column if there is one"
            )
        if absent := [word for word in ("item", "label") if word not in found]:
            raise DataError(
                f"{name}: labels need a column {absent[0]!r}; columns are {join_names(frame.columns)}; "
                f"use label_columns={{{absent[0]!r}: 'HEADER'}}"
            )
        if not frame.height:
            raise DataError(f"{name}: the table has a header and no rows")
        has_lists = bool({"rank", "score"}.intersection(found))
        words = (*SLOT, "label", *([] if has_lists else ["expert"]))
        used = {word: found[word] for word in words if word in found}
        if weight := _weight_header(frame.columns, found, columns, name):
            used["label_weight"] = weight
        return cls(frame, Layout(used, comma=comma), gold, has_lists)

    def gold_rows(self, fail: Fail) -> pl.DataFrame | None:
        """The true grades: query, item, label; of several for one item, the highest."""
        if self.gold is None:
            return None
        headers = {word: header for word, header in self.layout.headers.items() if word in SLOT}
        rows = standard_rows(self.frame, replace(self.layout, headers={**headers, "label": self.gold}), fail)
        return label_columns(rows).group_by(SLOT).agg(pl.col("label").max())


def _names_items_alone(frame: pl.DataFrame, found: dict[str, str]) -> bool:
    """Whether a table has queries and items, and else only texts that all differ, such as titles, or are all alike."""
    if not {"query", "item"} <= found.keys():
        return False
    others = [frame[h].cast(pl.String) for h in frame.columns if h not in (found["query"], found["item"])]
    numbers = any(column.cast(pl.Float64, strict=False).count() for column in others)
    return not numbers and all(column.n_unique() in (1, frame.height) for column in others)


def _grades(rows: pl.DataFrame) -> pl.DataFrame:
    unnamed = pl.format("(unnamed {})", pl.int_range(pl.len()) + 1)
    return rows.select(*SLOT, judge=pl.coalesce("expert", unnamed), grade="label")


def _gold_header(headers: list[str], columns: Columns) -> str | None:
    """The column gold of a table that also has judges and their grades."""
    names = {normalise(header) for header in headers}
    grades = ("label", *HEADERS["label"])
    if columns or not names & {"expert", *HEADERS["expert"]} or len(names.intersection(grades)) < 2:
        return None
    return next((header for header in headers if normalise(header) == "gold"), None)


def _weight_header(headers: list[str], found: dict[str, str], columns: Columns, name: str) -> str | None:
    """The column with the weights of labels, if there is one: weight, confidence or label_weight."""
    if chosen := [word for word in ("label_weight", "weight") if word in (columns or {})]:
        return found.get(chosen[0])
    used = [header for word, header in found.items() if word not in ("label_weight", "weight")]
    known = [header for header in headers if normalise(header) in WEIGHTS and header not in used]
    if len(known) > 1:
        choice = f"label_columns={{'label_weight': {known[0]!r}}}"
        raise DataError(f"{name}: columns {join_names(known)} could all be the weights of labels; choose one: {choice}")
    return known[0] if known else None
