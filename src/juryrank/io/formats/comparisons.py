"""Pairwise comparisons: two items and who won, and perhaps query, expert and weight; each is a list of two items.

The columns are left, right and winner (see ``tables/winners.py``), left, right and the score of the left item or of
both, or winner and loser (chosen and rejected), perhaps with a column for ties. Comparisons that are equal become one
list, whose weight is their number (or the sum of their weights). Rows without a result are skipped and reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, warn_about_data
from juryrank.io.dataset_frames import entries_of, unranked_slots
from juryrank.io.format import Format
from juryrank.io.rows import Rows, first_true
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import NO_NUMBER, Columns, Fail, convert_columns, normalise, roles
from juryrank.io.tables.winners import TIES, Column, verdicts
from juryrank.io.write_checks import warn_of_loss
from juryrank.polars import pl

PAIR = ("left", "right", "winner")
SHAPES = (PAIR, ("left", "right", "score"), ("left", "right", "left_score", "right_score"), ("winner", "loser"))
WORDS = ("left", "right", "winner", "loser", "score", "left_score", "right_score", "tie", "query", "expert", "weight")
OWN = ("left", "right", "winner", "loser", "left_score", "right_score", "tie")  # words that no other format has
TRUE, FALSE = ("true", "1", "1.0", "yes", "y", "t"), ("false", "0", "0.0", "no", "n", "f")
LONGEST = 200  # characters of a name under headers that often hold whole texts


class Comparisons(Format):
    """Lists of two items."""

    name = "comparisons"
    options = ("columns",)

    def sniff(self, source: Source) -> bool:
        """A table with words for two items and a winner in its header."""
        return _has_shape(frames.known_headers(source))

    def _read(self, source: Source, columns: Columns = None) -> Rows:
        frame, fail = frames.frame_of(source), frames.line_errors(source)
        return _rows(frame, columns, name=str(source.path), expert=source.stem, fail=fail)

    def _read_frame(self, frame: pl.DataFrame, columns: Columns = None) -> Rows:
        name = "the table"
        return _rows(frame, columns, name=name, expert="table", fail=frames.row_errors(name))

    def _lines(self, data: Dataset, file_name: str) -> Iterator[bytes]:
        """A table of left, right and winner; the winner is on the left and is named."""
        r = data.rankings
        if (r.list_size != 2).any():
            size = int(r.list_size[r.list_size != 2][0])
            raise DataError(
                f"comparisons are lists of two items, and the data has a list of {size}; write a table instead"
            )
        warn_of_loss(len(unranked_slots(r)), "items that nobody compares are left out")
        entries = entries_of(r)
        left, right = entries[::2], entries[1::2]
        tie = pl.Series(left["rank"] == right["rank"])
        pairs = left.select("query", "expert", pl.col("item").alias("left"), "weight")
        pairs = pairs.with_columns(right=right["item"], tie=tie)
        items = set(map(str, r.items))
        word = next((word for word in TIES if word not in items), None)
        if word is None and tie.any():
            raise DataError(
                "comparisons cannot represent ties where items have all names for a tie; write a table instead"
            )
        pairs = pairs.with_columns(winner=pl.when("tie").then(pl.lit(word)).otherwise("left"))
        return frames.frame_lines(pairs.select("query", *PAIR, "expert", "weight"), file_name)


def is_comparisons(headers: Iterable[str], columns: Columns) -> bool:
    """Whether a table with these headers holds comparisons."""
    return names_comparisons(columns) or _has_shape(frames.match_headers(headers))


def names_comparisons(columns: Columns) -> bool:
    """Whether ``columns`` names a column that only comparisons have."""
    return any(word in OWN for word in columns or ())


def _has_shape(known: Collection[str]) -> bool:
    """Whether a header with these standard names is that of comparisons; items and scores alone are not."""
    return any(set(known).issuperset(shape) for shape in (SHAPES if "item" not in known else (PAIR, SHAPES[3])))


def _rows(frame: pl.DataFrame, columns: Columns, *, name: str, expert: str, fail: Fail) -> Rows:
    """The comparisons of a frame; ``expert`` is the expert where no column names one."""
    found = _roles(frame, columns, name, fail)
    named = {"winner" if word == "score" else word: header for word, header in found.items() if word != "weight"}
    rows = convert_columns(frame, named, fail)
    weight = frame[found["weight"]] if "weight" in found else pl.Series([None] * len(frame), dtype=pl.Float64)
    rows = rows.with_columns(weight=_weights(weight)).with_row_index("row")
    rows = rows.filter(~pl.all_horizontal(pl.col(list(named)).is_null()))
    for word, otherwise in (("query", ONE_QUERY), ("expert", expert)):
        rows = rows.with_columns(pl.col(word).fill_null(otherwise) if word in found else pl.lit(otherwise).alias(word))
    rows = _outcomes(rows, found, fail)
    bad = _faults(rows)
    if bad.is_not_null().any():
        _report(rows, bad, name, fail)
    return Rows(name=name, entries=_entries(rows.filter(bad.is_null())))


def _roles(frame: pl.DataFrame, columns: Columns, name: str, fail: Fail) -> dict[str, str]:
    """Standard name -> header, of one shape; columns of model names are preferred to columns of their texts."""
    known = {normalise(header) for header in frame.columns}
    texts = ("chosen", "rejected") if known.issuperset(("chosenmodel", "rejectedmodel")) else ()
    found = roles([header for header in frame.columns if normalise(header) not in texts], columns, name, WORDS)
    given = [shape for shape in SHAPES if set(shape) <= set(found)]
    if not given:
        part = min(SHAPES, key=lambda shape: len(set(shape) - set(found)))
        absent = next(word for word in part if word not in found)
        raise DataError(
            f"{name}: comparisons need a column {absent!r}: left, right and winner (or score), or winner and loser; "
            f"use columns={{{absent!r}: 'HEADER'}}"
        )
    named = [shape for shape in given if columns and set(shape) & set(columns)]
    shape = (named or given)[0]
    rest = ("query", "expert", "weight", *(("tie",) if "loser" in shape else ()))
    found = {word: header for word, header in found.items() if word in shape or word in rest}
    for word in ("winner", "loser"):
        header = found.get(word, "")
        if normalise(header) in ("chosen", "rejected") and _holds_texts(frame[header]):
            raise fail(0, f"names of items in column {header!r}, not texts; use columns={{{word!r}: 'HEADER'}}")
    return found


def _holds_texts(column: pl.Series) -> bool:
    if column.dtype.is_nested():
        return True
    text = column.cast(pl.String)
    return bool((text.str.len_chars() > LONGEST).any() or text.str.contains("\n", literal=True).any())


def _weights(column: pl.Series) -> pl.Series:
    """Numbers; 1 where a cell is empty, NaN where it is not a number from 0 up."""
    text = column.cast(pl.String).str.strip_chars()
    value = text.cast(pl.Float64, strict=False)
    empty = text.is_null() | text.is_in([word for word in NO_NUMBER if word.lower() != "nan"])
    wrong = ~empty & (value.is_null() | ~value.is_finite() | (value < 0)).fill_null(True)
    return value.set(empty, 1.0).set(wrong, float("nan")) if len(value) else value


def _outcomes(rows: pl.DataFrame, found: Mapping[str, str], fail: Fail) -> pl.DataFrame:
    """The rows with left, right, verdict, and has_result: whether the row names a result."""
    if "loser" in found:
        tie = pl.lit("false") if "tie" not in found else pl.col("tie").str.strip_chars().str.to_lowercase()
        verdict = pl.when(tie.is_in(TRUE)).then(0).when(tie.is_in(FALSE) | tie.is_null()).then(1)
        return rows.with_columns(left="winner", right="loser", verdict=verdict, has_result=pl.lit(True))
    if "left_score" in found:
        left, right = (rows[f"{side}_score"].cast(pl.Float64, strict=False) for side in ("left", "right"))
        more = (left > right).cast(pl.Int32) - (left < right).cast(pl.Int32)
        has_result = rows["left_score"].is_not_null() & rows["right_score"].is_not_null()
        return rows.with_columns(verdict=more, has_result=has_result)
    of_left = "score" in found
    column = Column(found["score" if of_left else "winner"], found["left"], found["right"], of_left)
    return rows.with_columns(verdict=verdicts(rows, column, fail), has_result=pl.col("winner").is_not_null())


FAULTS = (
    "without two items",
    "of an item with itself",
    "without a winner",
    "with an unknown winner",
    "with a bad weight",
)


def _faults(rows: pl.DataFrame) -> pl.Series:
    """What is wrong with each row, null where nothing is."""
    left, right = pl.col("left"), pl.col("right")
    bad = (left.is_null() | right.is_null(), left == right, ~pl.col("has_result"), pl.col("verdict").is_null())
    chain = pl.when(bad[0]).then(pl.lit(FAULTS[0]))
    for fault, when in zip(FAULTS[1:], (*bad[1:], pl.col("weight").is_nan()), strict=True):
        chain = chain.when(when).then(pl.lit(fault))  # type: ignore[assignment]
    return rows.select(chain.otherwise(None).alias("bad"))["bad"]


def _report(rows: pl.DataFrame, bad: pl.Series, name: str, fail: Fail) -> None:
    """Warn of the rows that are skipped, by kind with the first of each; an error where no row is left."""
    counts = []
    for fault in FAULTS:
        if count := int((bad == fault).sum()):
            row = first_true(bad == fault)
            assert row is not None
            where = frames.place_of(fail, int(rows["row"][row]))
            shown = f"{rows['winner'][row]!r}, " if fault == FAULTS[3] and "winner" in rows.columns else ""
            counts.append(f"{count} {fault} ({shown}{'' if count == 1 else 'first '}{where})")
    text = f"{len(bad) - bad.null_count()} of {len(rows)} comparisons skipped: {'; '.join(counts)}"
    if not bad.null_count():
        raise DataError(f"{name}: no comparison is left: {text}")
    warn_about_data(f"{name}: {text}")


def _entries(rows: pl.DataFrame) -> pl.DataFrame:
    """Two entries per distinct comparison, the better one first and ties by name."""
    swap = (pl.col("verdict") < 0) | ((pl.col("verdict") == 0) & (pl.col("left") > pl.col("right")))
    pairs = rows.select(
        "query",
        "expert",
        "weight",
        first=pl.when(swap).then("right").otherwise("left"),
        second=pl.when(swap).then("left").otherwise("right"),
        rank=pl.when(pl.col("verdict") == 0).then(1.0).otherwise(2.0),
    )
    keys = ["query", "expert", "first", "second", "rank"]
    pairs = pairs.group_by(keys, maintain_order=True).agg(pl.col("weight").sum())
    pairs = pairs.with_columns(list=pl.int_range(pl.len()).cast(pl.String))
    shared = ["query", "expert", "list", "weight"]
    better = pairs.select(*shared, pl.col("first").alias("item"), rank=pl.lit(1.0))
    worse = pairs.select(*shared, pl.col("second").alias("item"), rank=pl.col("rank"))
    return pl.concat([better, worse])
