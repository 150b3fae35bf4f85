"""Lines ``label qid:Q key:value … #docid = X``, which LETOR's rank lists and features share."""

from __future__ import annotations

import re
from collections.abc import Collection

import polars as pl

from juryrank.readers.long import first_true, numbers
from juryrank.readers.source import Source

LINE = re.compile(r"\s*[^\s:#]+\s+qid:\S")
UNJUDGED = -1.0  # LETOR's label of an item that nobody judged
NAMED = r"^#\s*(?:expert|feature)\s+(\d+)\s*=\s*(.*\S)\s*$"


def looks_like(head: list[str]) -> bool:
    """Whether the first line that is no comment is such a line."""
    return any(LINE.match(line) for line in [text for text in head if not text.startswith("#")][:1])


def values_in(head: list[str]) -> list[str]:
    """All values of the first lines, as text."""
    return [v for line in head for v in re.findall(r"\s\d+:(\S+)", line.partition("#")[0])]


def lines_of(source: Source) -> pl.DataFrame:
    """One row per line: line, label, query, item, and the rest of the line as text.

    An item without a docid is named by its number among the lines of its query.
    """
    frame = source.lines().filter(~pl.col("text").str.starts_with("#"))
    halves = pl.col("text").str.splitn("#", 2)
    frame = frame.select("line", body=halves.struct[0].str.strip_chars(), note=halves.struct[1])
    if source.data.find(b"\t") >= 0:
        frame = frame.with_columns(pl.col("body").str.replace_all("\t", " ", literal=True))
    frame = frame.with_columns(
        label=pl.col("body").str.extract(r"^(\S+)"),
        query=pl.col("body").str.extract(r"^\S+ +qid:(\S+)"),
        rest=pl.col("body").str.extract(r"^\S+ +qid:\S+(.*)$"),
        item=pl.col("note").str.extract(r"docid\s*=\s*(\S+)"),
    )
    label = numbers(frame["label"])
    wrong = frame["query"].is_null() | label.is_null() | ~label.is_finite()
    if (row := first_true(wrong)) is not None:
        raise source.error(frame["line"][row], "a number, qid:… and key:value pairs")
    number = pl.int_range(1, pl.len() + 1).over("query").cast(pl.String)
    return frame.select("line", "query", pl.coalesce("item", number).alias("item"), label.alias("label"), "rest")


def pairs_of(source: Source, frame: pl.DataFrame, absent: Collection[str] = ()) -> pl.DataFrame:
    """One row per key:value of the lines: query, item, key (text) and value (null where the text is in ``absent``)."""
    tokens = frame.select("line", "query", "item", pl.col("rest").str.split(" ")).explode("rest")
    tokens = tokens.filter(pl.col("rest") != "")
    halves = tokens["rest"].str.splitn(":", 2).struct.unnest()
    key, text = halves.to_series(0), halves.to_series(1)
    value = numbers(text)
    missing = text.is_in(list(absent))
    wrong = ~key.str.contains(r"^\d{1,9}$") | (value.is_null() & ~missing)
    if (row := first_true(wrong)) is not None:
        found = tokens["rest"][row]
        raise source.error(tokens["line"][row], f"whole number:number pairs (not {found[:20]!r})")
    return tokens.select("line", "query", "item", key.alias("key"), value.alias("value"))


def given_names(source: Source) -> dict[str, str]:
    """Names that comment lines give to numbers: ``#expert 1 = bm25``."""
    if not source.data.startswith(b"#"):
        return {}
    comments = source.lines().filter(pl.col("text").str.starts_with("#"))["text"]
    found = comments.str.extract_groups(NAMED).struct.unnest().drop_nulls()
    return dict(found.iter_rows())


def labels_of(frame: pl.DataFrame) -> pl.DataFrame:
    """The labels of the lines; -1 means that an item is not judged."""
    return frame.filter(pl.col("label") != UNJUDGED).select("query", "item", "label")
