"""Tables of answers (task, worker, label), from files, frames and Python, with columns that are named or recognised."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, warn_about_data
from juryrank.io.files import content_of, load, unpack
from juryrank.io.source import Source
from juryrank.io.tables import frames, headerless
from juryrank.io.tables.columns import HEADERS, Columns, as_names, join_names, normalise, roles
from juryrank.io.words import collapse_blanks
from juryrank.polars import pl

COMMON = {
    "task": (
        "item", *HEADERS["item"], "id", "taskid", "question", "questionid", "hit", "hitid", "unit", "unitid", "example",
        "exampleid", "instance", "instanceid", "image", "imageid", "sentence", "sentenceid", "textid", "object",
    ),
    "worker": (
        "expert", *HEADERS["expert"], "coder", "coderid", "labeler", "labelerid", "labeller", "turker", "participant",
        "participantid", "performer", "contributor", "annotatorname",
    ),
    "label": (
        "answer", "response", "annotation", "category", "class", "vote", "choice", "grade", "judgment", "judgement",
        "relevance", "rel", "rating", "score", "value", "output", "workerlabel",
    ),
    "query": HEADERS["query"],
    "gold": ("goldlabel", "truth", "truelabel", "groundtruth", "gt", "goldanswer", "nist"),
}  # fmt: skip
GROUPS = ("task", "taskid", "question", "questionid", "hit", "hitid")  # with a column of items besides: their query
WEIGHTS = ("weight", "weights", *HEADERS["weight"], *HEADERS["label_weight"])
WORDS = ("task", "worker", "label", "query", "gold")
NEEDED = ("task", "worker", "label")
TUPLES = {3: NEEDED, 4: ("query", *NEEDED)}


def read_answers(table: Any, columns: Columns = None) -> pl.DataFrame:
    """The columns query, item, worker and label, and gold if there is one, as text; null where a cell is empty."""
    if isinstance(table, str | os.PathLike) or hasattr(table, "read"):
        return _from_source(_source_of(table), columns)
    if hasattr(table, "__arrow_c_stream__"):
        return _standard(frames.from_arrow(table), columns, "the table")
    if isinstance(table, Mapping):
        return _standard(_from_mapping(table), columns, "the table")
    rows = list(table) if isinstance(table, Sequence) or hasattr(table, "__iter__") else []
    if rows and all(isinstance(row, str | os.PathLike) for row in rows):
        return pl.concat([read_answers(path, columns) for path in rows], how="diagonal")
    if rows and all(isinstance(row, Mapping) for row in rows):
        return _standard(_texts({key: [row.get(key) for row in rows] for key in rows[0]}), columns, "the table")
    return _standard(_from_tuples(rows), columns, "the table")


def _source_of(table: Any) -> Source:
    if isinstance(table, str | os.PathLike):
        return load(Path(table))
    path = Path(str(getattr(table, "name", "the open file")))
    return unpack(path, content_of(path, table))


def _from_source(source: Source, columns: Columns) -> pl.DataFrame:
    name = str(source.path)
    if len(frames.headers_of(source)) < 2 and source.head and len(source.head[0].split()) >= len(NEEDED):
        source = replace(source, data=collapse_blanks(source.data, b"\t"))
    headers = frames.headers_of(source)
    numbered = headerless.has_column_numbers(columns)
    has_header = source.parquet or frames.is_json(source) or bool(_known(headers))
    with source.reading():
        if numbered and not has_header:
            return _standard(headerless.frame_of(source, columns), columns, name)
        if not has_header and headerless.looks_headerless(source):
            raise _unclear(source)
        frame = frames.frame_of(source)
    if numbered and columns is not None:
        columns = {word: _header_at(frame.columns, int(str(place)), name) for word, place in columns.items() if place}
    return _standard(frame, columns, name, headerless_allowed=not has_header)


def _known(headers: list[str]) -> set[str]:
    """The roles for which there is a usual header."""
    names = {normalise(header) for header in headers}
    return {word for word in WORDS if word in names or names.intersection(COMMON[word])}


def _header_at(headers: list[str], place: int, name: str) -> str:
    if not 1 <= place <= len(headers):
        raise DataError(f"{name}: no column {place}; there are {len(headers)}: {join_names(headers)}")
    return headers[place - 1]


def _unclear(source: Source) -> DataError:
    return source.error(
        1,
        "a header that says which column is which (task, worker, label); without one, number the columns: "
        "columns={'task': 1, 'worker': 2, 'label': 3}, whichever they are",
    )


def _standard(frame: pl.DataFrame, columns: Columns, name: str, *, headerless_allowed: bool = False) -> pl.DataFrame:
    """The table under standard names; an error names what is missing and how to say it."""
    found = _roles(frame.columns, columns, name)
    if absent := [word for word in NEEDED if word not in found]:
        free = [header for header in frame.columns if header not in found.values()]
        more = ""
        if headerless_allowed:
            more = "; if the file has no header, number the columns: columns={'task': 1, 'worker': 2, 'label': 3}"
        choice = f"columns={{{absent[0]!r}: {free[0] if free else 'HEADER'!r}}}"
        raise DataError(
            f"{name}: no column is known to be the {absent[0]}; columns are {join_names(frame.columns)}; "
            f"use for example {choice}{more}"
        )
    weights = [h for h in frame.columns if normalise(h) in WEIGHTS and h not in found.values()]
    if weights:
        warn_about_data(
            f"{name}: column {join_names(weights)} is not used: every answer has weight 1; to change that, leave "
            "answers out of the table"
        )
    fail = frames.row_errors(name)
    texts = {word: as_names(frame[header], header, fail).str.strip_chars() for word, header in found.items()}
    query = texts.pop("query", None)
    named = pl.DataFrame({("item" if word == "task" else word): text for word, text in texts.items()})
    return named.with_columns(query=pl.lit(ONE_QUERY) if query is None else query)


def _roles(headers: list[str], columns: Columns, name: str) -> dict[str, str]:
    """Standard name -> header. With columns of both tasks and items, the unit is an item of a task."""
    given = dict(columns or {})
    names = {normalise(header): header for header in headers}
    group = next((names[word] for word in GROUPS if word in names), None)
    item = next((names[word] for word in ("item", *HEADERS["item"]) if word in names), None)
    if group is not None and item is not None and not {"task", "query"} & set(given):
        given |= {"task": item, "query": group}
    words = ("gold", *WORDS[:-1])  # a column gold is not the label
    return roles(headers, given or None, name, words, common=COMMON)


def _from_mapping(table: Mapping[Any, Any]) -> pl.DataFrame:
    """``{task: {worker: label}}``, or columns by header."""
    if table and all(isinstance(answers, Mapping) for answers in table.values()):
        return _from_tuples([(task, *pair) for task, answers in table.items() for pair in answers.items()])
    if table and all(isinstance(c, Sequence) and not isinstance(c, str) for c in table.values()):
        return _texts({str(header): list(column) for header, column in table.items()})
    raise DataError("answers must be {task: {worker: label}}, columns by header, rows, a frame or a file")


def _from_tuples(rows: list[Any]) -> pl.DataFrame:
    if not rows:
        raise DataError("there are no answers: a table with the columns task, worker and label is needed")
    widths = {len(row) if isinstance(row, Sequence) and not isinstance(row, str) else 0 for row in rows}
    if len(widths) > 1 or not widths <= set(TUPLES):
        raise DataError(
            f"answers must be rows of task, worker and label (or query, task, worker and label), got {rows[0]!r:.60}"
        )
    return _texts(dict(zip(TUPLES[widths.pop()], map(list, zip(*rows, strict=True)), strict=True)))


def _texts(columns: Mapping[str, list[Any]]) -> pl.DataFrame:
    return pl.DataFrame(
        {name: pl.Series([_text(value) for value in column], dtype=pl.String) for name, column in columns.items()}
    )


def _text(value: Any) -> str | None:
    """A value as a name: 1.0 is 1, None and NaN are missing."""
    if value is None or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def read_gold(table: Any) -> pl.DataFrame:
    """The true labels of tasks, from a file or a frame with the columns task and gold (or label), perhaps query."""
    if hasattr(table, "__arrow_c_stream__"):
        frame, name = frames.from_arrow(table), "gold"
    elif isinstance(table, str | os.PathLike):
        source = load(Path(table))
        name = str(table)
        with source.reading():
            frame = frames.frame_of(source)
    else:
        raise DataError("gold must be {task: label}, or a file or a frame with the columns task and gold")
    found = roles(frame.columns, None, name, ("gold", "task", "label", "query"), common=COMMON)
    found.setdefault("gold", found.pop("label", ""))
    if "task" not in found or not found["gold"]:
        raise DataError(f"{name}: gold labels need the columns task and gold; columns are {join_names(frame.columns)}")
    fail = frames.row_errors(name)
    texts = {
        word: as_names(frame[found[word]], found[word], fail) for word in ("query", "task", "gold") if word in found
    }
    rows = pl.DataFrame(texts).rename({"task": "item"})
    return rows.select("query" if "query" in found else pl.lit(ONE_QUERY).alias("query"), "item", "gold")
