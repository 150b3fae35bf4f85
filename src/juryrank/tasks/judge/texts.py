"""Texts of items and queries by their ids, to be shown to judges."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from juryrank.errors import DataError, warn_about_data
from juryrank.io.files import load
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import as_names, join_names, normalise
from juryrank.polars import pl

IDS = {
    "item": (
        "item",
        "itemid",
        "docid",
        "docno",
        "doc",
        "documentid",
        "corpusid",
        "pid",
        "passageid",
        "productid",
        "id",
    ),
    "query": ("queryid", "qid", "topicid", "id", "topic", "query"),
}
TEXTS = ("text", "querytext", "body", "content", "contents", "passage", "abstract", "question", "description", "query")
TITLE = "title"


@dataclass(frozen=True)
class Texts:
    """Texts by id, of those ids that were asked for."""

    by_id: dict[str, str]
    n_wanted: int  # ids that were asked for
    n_others: int  # texts of other ids, which are not kept

    def get(self, name: str) -> str | None:
        """The text with this id, None if there is none."""
        return self.by_id.get(name)

    @property
    def n_missing(self) -> int:
        """Ids that have no text."""
        return self.n_wanted - len(self.by_id)


def read_texts(path: Path, wanted: Collection[str], kind: str = "item") -> Texts:
    """The texts of the wanted ids: a table with a column for the id and a column text, and perhaps title.

    CSV, TSV, NDJSON or Parquet; also ``{id: text}`` as JSON, and TSV without a header (id, text). ``kind`` is "item" or
    "query".
    """
    source = load(path)
    rows = _object(source) or _table(source, kind)
    names = set(wanted)
    found: dict[str, str] = {}
    repeated = others = 0
    for name, text in rows:
        if name not in names:
            others += 1
        elif name in found:
            repeated += found[name] != text
        elif text and text.strip():
            found[name] = text.strip().replace("\r\n", "\n").replace("\r", "\n")
    if repeated:
        warn_about_data(f"{path}: {repeated} ids have several texts; the first is kept")
    return Texts(found, len(names), others)


def _object(source: Source) -> list[tuple[str, str]]:
    """The pairs of a JSON object ``{id: text}``; none if the file is no such object."""
    if source.parquet or not frames.is_json(source):
        return []
    try:
        found: Any = json.loads(source.data)
    except (ValueError, RecursionError):  # one object per line
        return []
    pairs = list(found.items()) if isinstance(found, dict) else []
    return pairs if pairs and all(isinstance(text, str) for _, text in pairs) and not _is_record(pairs) else []


def _is_record(pairs: list[tuple[str, str]]) -> bool:
    """Whether an object is the only row of a table: it has an id and a text."""
    keys = {normalise(key) for key, _ in pairs}
    return bool(keys.intersection(TEXTS) and keys.intersection((*IDS["item"], *IDS["query"])))


def _table(source: Source, kind: str) -> list[tuple[str, str | None]]:
    with source.reading():
        frame = _frame(source, kind)
        header = _find(frame, IDS[kind])
        text = _find(frame, TEXTS, other_than=header)
        if header is None or text is None:
            needed = f"a column {kind} or id and a column text"
            raise DataError(f"{source.path}: texts need {needed}; columns are {join_names(frame.columns)}")
        title = _find(frame, (TITLE,))
        fail = frames.line_errors(source)
        columns = [as_names(frame[name], name, fail) for name in (header, title, text) if name is not None]
    names, *parts = (column.to_list() for column in columns)
    joined = ("\n".join(part for part in row if part) for row in zip(*parts, strict=True))
    return [(name, words) for name, words in zip(names, joined, strict=True) if name is not None]


def _frame(source: Source, kind: str) -> pl.DataFrame:
    """The table; a TSV with two columns and without a known header has no header."""
    cells = source.head[0].split("\t") if source.head and not source.parquet else []
    known = {normalise(cell) for cell in cells}
    if len(cells) == 2 and not known.intersection((*IDS[kind], *TEXTS)):
        return frames.headerless_frame(source, source.data, "\t", [kind, "text"])
    return frames.frame_of(source)


def _find(frame: pl.DataFrame, names: Collection[str], other_than: str | None = None) -> str | None:
    """The first column with one of these names, in their order."""
    by_name = {normalise(header): header for header in reversed(frame.columns) if header != other_than}
    return next((by_name[name] for name in names if name in by_name), None)
