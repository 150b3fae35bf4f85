"""Lines ``label qid:Q key:value … #docid = X``, which LETOR's rank lists and features share."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset
from juryrank.data.trec_lines import demand_words
from juryrank.errors import DataError
from juryrank.io.dataset_frames import slot_frame, text_of
from juryrank.io.format import Format
from juryrank.io.rows import Rows, as_float, first_true
from juryrank.io.source import Source
from juryrank.io.write_checks import ANY_BLANK, demand_one_line, warn_of_loss, warn_of_lost_weights
from juryrank.polars import pl

LINE = re.compile(r"\s*[^\s:#]+\s+qid:\S")
UNJUDGED = -1.0  # LETOR's label of an unjudged item
EXPECTED = "a number, qid:… and key:value pairs"
NAMED = r"^#\s*(?:expert|feature)\s+(\d+)\s*=\s*(.*\S)\s*$"


class LineFormat(Format):
    """A format of such lines, of which some can be read without the others, as for folds."""

    def _read(self, source: Source) -> Rows:
        return self.read_lines(source, lines_of(source))

    @abstractmethod
    def read_lines(self, source: Source, lines: pl.DataFrame) -> Rows:
        """The rows of some lines, as ``lines_of`` gives them."""


def looks_like(source: Source) -> bool:
    """Whether the first line that is not a comment is such a line."""
    lines = source.start if any(not line.startswith("#") for line in source.start) else source.head
    first = next((line for line in lines if not line.startswith("#")), "")
    return LINE.match(first) is not None


def values_in(head: list[str]) -> Iterator[str]:
    """The values of the first lines, as text."""
    return (v for line in head for v in re.findall(r"\s\d+:(\S+)", line.partition("#")[0]))


def lines_of(source: Source) -> pl.DataFrame:
    """One row per line: line, query and text."""
    frame = source.lines().filter(~pl.col("text").str.starts_with("#"))
    if b"\t" in source.data:
        frame = frame.with_columns(pl.col("text").str.replace_all("\t", " ", literal=True))
    frame = frame.with_columns(query=pl.col("text").str.extract(r"^ *[^ #]+ +qid:([^\s#]+)"))
    if (row := first_true(frame["query"].is_null())) is not None:
        raise source.error(frame["line"][row], EXPECTED)
    return frame


def parse(source: Source, lines: pl.DataFrame) -> pl.DataFrame:
    """One row per line: line, query, item, label, and the rest of the line as text.

    An item without a docid is named by its number among the lines of its query.
    """
    frame = lines.select("line", "query", pl.col("text").str.splitn("#", 2).struct.rename_fields(["body", "note"]))
    frame = frame.unnest("text")
    after = (
        pl.col("body").str.splitn("qid:", 2).struct[1].str.splitn(" ", 2)
    )  # plain splits: a regex costs twice as much
    frame = frame.select(
        "line",
        "query",
        label=pl.col("body").str.extract(r"^ *([^ ]+)").cast(pl.Float64, strict=False),
        rest=after.struct[1].fill_null(""),
        item=pl.col("note").str.extract(r"docid\s*=\s*(\S+)"),
    )
    if (row := first_true(~frame["label"].is_finite().fill_null(False))) is not None:
        raise source.error(frame["line"][row], EXPECTED)
    number = pl.int_range(1, pl.len() + 1).over("query").cast(pl.String)
    return frame.with_columns(pl.coalesce("item", number))


def pairs_of(source: Source, lines: pl.DataFrame, absent: str | None = None) -> pl.DataFrame:
    """One row per key:value: row (among ``lines``), key (text) and value, null where the text is ``absent``."""
    tokens = lines.select(pl.int_range(pl.len(), dtype=pl.UInt32).alias("row"), pl.col("rest").str.split(" "))
    tokens = tokens.explode("rest").filter(pl.col("rest") != "")
    halves = tokens["rest"].str.splitn(":", 2).struct.unnest()
    key, text = halves.to_series(0), halves.to_series(1)
    value = as_float(text)
    wrong = value.is_null() if absent is None else value.is_null() & (text != absent).fill_null(True)
    known = key.unique()
    if strange := known.filter(~known.str.contains(r"^\d{1,9}$")).to_list():
        wrong |= key.is_in(strange)
    if (at := first_true(wrong)) is not None:
        line, found = lines["line"][tokens["row"][at]], tokens["rest"][at]
        raise source.error(line, f"whole number:number pairs (not {found[:20]!r})")
    return tokens.select("row", key.alias("key"), value.alias("value"))


def names_in_comments(source: Source) -> dict[str, str]:
    """Names that comment lines give to numbers: ``#expert 1 = bm25``."""
    if not source.data.startswith(b"#"):
        return {}
    comments = source.lines().filter(pl.col("text").str.starts_with("#"))["text"]
    found = comments.str.extract_groups(NAMED).struct.unnest().drop_nulls()
    return dict(found.iter_rows())


def labels_of(frame: pl.DataFrame) -> pl.DataFrame:
    """The labels of the lines; -1 means that an item is not judged."""
    return frame.filter(pl.col("label") != UNJUDGED).select("query", "item", "label")


def text_lines(data: Dataset, values: NDArray[np.float64], absent: str, names: Sequence[str], kind: str) -> bytes:
    """The lines of all slots with one ``key:value`` per column of ``values``; NaN is written as ``absent``."""
    slots = slot_frame(data.rankings)
    demand_words(slots, ["query", "item"], "LETOR", ANY_BLANK)
    if slots["query"].str.contains("#", literal=True).any():
        raise DataError("LETOR cannot represent '#' in the name of a query; write a table instead")
    numbered = list(names) == [str(n) for n in range(1, len(names) + 1)]
    keys = list(names) if all(n.isdecimal() and n.isascii() for n in names) else [str(n + 1) for n in range(len(names))]
    titles = [] if numbered or keys == list(names) else [
        f"#{kind} {key} = {name}\n" for key, name in zip(keys, names, strict=True)
    ]  # fmt: skip
    demand_one_line(names, "LETOR")
    frame = slots.with_columns(label=_labels_of_slots(data))
    columns = pl.DataFrame(values, schema=[f"v{k}" for k in range(len(names))]) if len(names) else pl.DataFrame()
    cells = [
        pl.lit(f"{key}:") + pl.when(pl.col(c).is_nan()).then(pl.lit(absent)).otherwise(text_of(pl.col(c)))
        for key, c in zip(keys, columns.columns, strict=True)
    ]
    head = [text_of(pl.col("label")), pl.lit("qid:") + pl.col("query")]
    line = pl.concat_str([*head, *cells, pl.lit("#docid = ") + pl.col("item")], separator=" ")
    return (
        "".join(titles) + "\n".join(pl.concat([frame, columns], how="horizontal").select(line).to_series()) + "\n"
    ).encode()


def _labels_of_slots(data: Dataset) -> NDArray[np.float64]:
    if data.labels is None:
        return np.full(data.rankings.n_slots, UNJUDGED)
    labels = data.slot_labels
    if (labels == UNJUDGED).any():
        raise DataError("in LETOR, the label -1 means 'not judged', and the data has it; write a table instead")
    inside = int(np.isfinite(labels).sum())
    warn_of_loss(len(data.labels.label_value) - inside, "labels of items that are no candidates are left out")
    warn_of_lost_weights(data)
    return np.where(np.isnan(labels), UNJUDGED, labels)
