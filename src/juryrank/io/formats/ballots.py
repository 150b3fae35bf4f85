"""What the formats of ballots share: columns beside the choices, lists made of marks, what is reported and written."""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from juryrank.data import Dataset
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError, warn_about_data
from juryrank.io.dataset_frames import entries_of, unranked_slots
from juryrank.io.format import Format
from juryrank.io.rows import Rows
from juryrank.io.source import Source
from juryrank.io.tables import frames
from juryrank.io.tables.columns import HEADERS, Columns, Fail, convert_columns, join_names, normalise, roles
from juryrank.io.tables.headerless import looks_headerless
from juryrank.io.tables.layout import DESCRIPTIVE
from juryrank.io.write_checks import demand_one_line, demand_one_query, warn_of_loss
from juryrank.polars import pl

ABOUT = ("query", "expert", "weight")  # columns beside the choices
COMMON: Mapping[str, tuple[str, ...]] = {
    "query": (*HEADERS["query"], "contest", "race", "office", "election"),
    "expert": (
        *HEADERS["expert"], "ballot", "ballotid", "ballotnumber", "castvoterecord", "cvr", "cvrnumber", "email",
        "emailaddress", "username", "id", "votername",
    ),
    "weight": (*HEADERS["weight"], "counts", "votes", "voters", "ballots", "number", "frequency", "n", "times"),
}  # fmt: skip
OTHER_SHAPES = ("item", "rank", "score", "value", "label", "winner", "loser")  # words of tables of another shape
TIMES = ("timestamp", "time", "date", "datetime", "submitted", "submittedat", "starttime", "completiontime")
SAMPLE = 1000  # rows that recognition looks at
NAMES = 4  # similar names that a warning shows
Ballot = tuple[list[list[str]], str]  # groups of names, and the count as text


@dataclass
class Findings:
    """What was dropped or repaired in the ballots of one source, for one warning at the end."""

    source: str
    fail: Fail
    found: list[str] = field(default_factory=list)

    def add(self, rows: Iterable[int], one: str, many: str) -> None:
        """Ballots (by row, from 0) of which ``one`` or ``many`` is true."""
        places = sorted(set(rows))
        if places:
            first = frames.place_of(self.fail, places[0])
            self.found.append(f"1 {one} ({first})" if len(places) == 1 else f"{len(places)} {many} (first {first})")

    def note(self, text: str) -> None:
        """Something else to report."""
        self.found.append(text)

    def report(self, n_ballots: int) -> None:
        """One warning with everything."""
        if self.found:
            ballots = "1 ballot" if n_ballots == 1 else f"{n_ballots} ballots"
            warn_about_data(f"{self.source}: {ballots}: {'; '.join(self.found)}")


@dataclass(frozen=True)
class Sheet:
    """A table of ballots, all text: its name, the row of each ballot (from 0) and the errors that point at rows."""

    frame: pl.DataFrame
    row: pl.Series
    name: str
    fail: Fail

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str, fail: Fail, blank_lines: Collection[int] = ()) -> Sheet:
        """The sheet of a frame without the rows that are ``blank_lines`` of a file, which are no ballots."""
        row = pl.Series("row", range(frame.height), dtype=pl.Int64)
        kept = ~row.is_in(list(blank_lines))
        return cls(as_text(frame).filter(kept), row.filter(kept), name, fail)

    def at(self, n: int, expected: str) -> DataError:
        """The error for the ballot at a position of the sheet."""
        return self.fail(int(self.row[n]), expected)

    @property
    def headers(self) -> list[str]:
        return self.frame.columns

    def cells(self, headers: Sequence[str]) -> pl.DataFrame:
        """Row, number of the header, and text of the cells in some columns that are not empty, row by row."""
        columns = [self.frame[header].alias(str(n)) for n, header in enumerate(headers)]
        wide = pl.DataFrame([self.row.alias("row"), *columns])
        long = wide.unpivot(index="row", variable_name="column", value_name="text").drop_nulls("text")
        return long.with_columns(pl.col("column").cast(pl.Int64)).sort("row", "column", maintain_order=True)


class BallotFormat(Format):
    """A table with one row per ballot, or per group of equal ballots; a subclass finds the choices in it."""

    words: ClassVar[tuple[str, ...]]  # that ``columns`` may name

    def sniff(self, source: Source) -> bool:
        """Whether the table can be nothing but ballots of this shape."""
        head = sample(source)
        return head is not None and self.fits(head)

    @abstractmethod
    def fits(self, head: pl.DataFrame) -> bool:
        """Whether the first rows of a table, all text, can be nothing but ballots of this shape."""

    def takes(self, columns: Columns) -> bool:
        """Whether all words of ``columns`` are of this format."""
        return all(word in self.words for word in columns or ())

    def _read(self, source: Source, columns: Columns = None, **options: Any) -> Rows:
        sheet = Sheet.of(frames.frame_of(source), str(source.path), frames.line_errors(source), _blank_lines(source))
        return self._ballots(sheet, columns, **options)

    def _read_frame(self, frame: pl.DataFrame, columns: Columns = None, **options: Any) -> Rows:
        name = "the table"
        return self._ballots(Sheet.of(frame, name, frames.row_errors(name)), columns, **options)

    @abstractmethod
    def _ballots(self, sheet: Sheet, columns: Columns, *args: Any, **options: Any) -> Rows:
        """The ballots of a table."""


def sample(source: Source) -> pl.DataFrame | None:
    """The first rows of a table, all text; None for what is not a table, or a table of another shape."""
    if not source.parquet and (not source.head or looks_headerless(source)):
        return None
    if frames.known_headers(source).intersection(OTHER_SHAPES):
        return None
    head = source if source.parquet else Source(source.path, "\n".join(source.head).encode() + b"\n")
    try:
        return as_text(frames.frame_of(head).head(SAMPLE))
    except DataError:
        return None


def _blank_lines(source: Source) -> list[int]:
    """The rows of a CSV file that are blank lines."""
    if source.parquet or frames.is_json(source) or b"\n\n" not in source.data:
        return []
    reader = csv.reader(io.StringIO(source.data.decode().lstrip("\n")), delimiter=frames.separator_of(source))
    return [row - 1 for row, cells in enumerate(reader) if not cells]


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    """All cells as text without blanks around it; null where a cell is empty. Whole floats are whole."""
    columns = []
    for column in frame:
        if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
            continue  # no cell of a ballot
        if column.dtype.is_float() and (column.fill_nan(None).drop_nulls() % 1 == 0).all():
            column = column.fill_nan(None).cast(pl.Int64, strict=False)
        text = column.cast(pl.String).str.strip_chars()
        columns.append(text.set(text == "", None).alias(column.name))
    return pl.DataFrame(columns)


def about_columns(headers: list[str], columns: Columns, name: str, chosen: Collection[str] = ()) -> dict[str, str]:
    """The headers of election, voter and count among those that hold no choices."""
    free = [header for header in headers if header not in chosen]
    given = {word: header for word, header in (columns or {}).items() if word in ABOUT}
    return roles(free, given, name, ABOUT, common=COMMON)


def is_about(header: str) -> bool:
    """Whether a column is one of elections, voters, counts, or a time or a comment, as forms add them."""
    name = normalise(header)
    return name in (*TIMES, *DESCRIPTIVE, *ABOUT) or any(name in COMMON[word] for word in ABOUT)


def given_headers(columns: Columns, word: str, headers: list[str], name: str) -> list[str]:
    """The headers that ``columns`` gives for a word: one, several, or none."""
    given = (columns or {}).get(word)
    several = [str(header) for header in (given if isinstance(given, list | tuple) else [given] if given else [])]
    if strange := [header for header in several if header not in headers]:
        raise DataError(f"{name}: no column {strange[0]!r}; columns are {join_names(headers)}")
    return several


def build(
    sheet: Sheet,
    marks: pl.DataFrame,
    used: tuple[Mapping[str, str], Sequence[str]],
    findings: Findings,
    candidates: Sequence[str] = (),
) -> Rows:
    """The lists of all ballots.

    ``marks`` has row, item, and place or score; the rank of an item is its place without gaps. ``used`` has the headers
    of election, voter and count, and those of the choices; a ballot without a voter is named by its row. All
    ``candidates`` get slots.
    """
    about, choices = used
    voters = _voters(sheet, about, findings)
    if unused := [h for h in sheet.headers if h not in choices and h not in about.values() and not is_about(h)]:
        findings.note(f"{'a column is' if len(unused) == 1 else 'columns are'} not used: {join_names(unused)}")
    key = "score" if "score" in marks.columns else "place"
    marks = _without_repeats(marks, key, findings)
    blank = voters.filter(~pl.col("row").is_in(marks["row"].unique().implode()))["row"]
    findings.add(blank, "is blank and not counted", "are blank and not counted")
    if key == "place":
        rank = pl.col("place").rank("min").over("row").cast(pl.Float64)
        marks = marks.select("row", "item", rank=rank)
    _report_similar_names(marks["item"], findings)
    findings.report(voters.height)
    if not marks.height:
        raise DataError(f"{sheet.name}: no ballot has a choice")
    entries = marks.join(voters, on="row", how="left", maintain_order="left").drop("row")
    names = pl.DataFrame({"item": pl.Series(list(candidates), dtype=pl.String)})
    listed = voters.select("query").unique(maintain_order=True).join(names, how="cross")
    return Rows(name=sheet.name, entries=entries, candidates=listed if listed.height else None)


def _voters(sheet: Sheet, about: Mapping[str, str], findings: Findings) -> pl.DataFrame:
    """Row, query, expert, weight and list of each ballot."""
    found = convert_columns(sheet.frame, about, sheet.at) if about else pl.DataFrame()
    voters = pl.DataFrame([sheet.row.alias("row"), *found])
    number = (pl.col("row") + 1).cast(pl.String)
    voters = voters.with_columns(
        query=pl.col("query").fill_null(ONE_QUERY) if "query" in about else pl.lit(ONE_QUERY),
        expert=pl.col("expert").fill_null(number) if "expert" in about else number,
        weight=pl.col("weight").fill_null(1.0) if "weight" in about else pl.lit(1.0),
    )
    negative = voters.with_row_index("at").filter(pl.col("weight") < 0)
    if negative.height:
        raise sheet.at(
            negative["at"][0], f"a count, which must be a finite number >= 0 (not {negative['weight'][0]:g})"
        )
    again = voters.filter(pl.struct("query", "expert").is_duplicated())
    if again.height:
        n = again.select(pl.struct("query", "expert").n_unique()).item()
        who = f"voter {again['expert'][0]!r} has {again.height}" if n == 1 else f"{n} voters have several"
        findings.note(f"{who} ballots, and all are counted")
    return voters.with_columns(list=pl.lit(f"{sheet.name}:") + number)  # several files may count from 1


def _without_repeats(marks: pl.DataFrame, key: str, findings: Findings) -> pl.DataFrame:
    """The marks with one place per candidate of a ballot: the best one."""
    again = marks.select(pl.struct("row", "item").is_duplicated()).to_series()
    if not again.any():
        return marks
    what = "best place counts" if key == "place" else "highest score counts"
    findings.add(marks["row"].filter(again), f"repeats a candidate, whose {what}", f"repeat a candidate, whose {what}")
    best = pl.col(key).min() if key == "place" else pl.col(key).max()
    return marks.group_by("row", "item", maintain_order=True).agg(best)


def _report_similar_names(items: pl.Series, findings: Findings) -> None:
    """Names that differ in case or blanks only stay different candidates, which is reported."""
    alike: dict[str, list[str]] = {}
    for name in items.unique().sort().to_list():
        alike.setdefault("".join(name.split()).casefold(), []).append(name)
    pairs = [names for names in alike.values() if len(names) > 1]
    if pairs:
        shown = ", ".join(" and ".join(map(repr, names)) for names in pairs[:NAMES])
        findings.note(f"names that differ only in case or blanks are different candidates: {shown}")


def each_text(column: pl.Series, meaning: Callable[[str], Any], dtype: Any) -> pl.Series:
    """What each text means; a text that occurs often is looked at once."""
    texts = column.drop_nulls().unique().to_list()
    return column.replace_strict(texts, pl.Series([meaning(text) for text in texts], dtype=dtype), default=None)


def written_ballots(
    data: Dataset, what: str, without: Sequence[str] = (), *, all_named: bool = False, titled: bool = False
) -> list[Ballot]:
    """The lists of a dataset of one query; an error for a name that contains one of ``without``.

    Candidates that nobody ranks are left out, with a warning, unless the file has a place for them (``all_named``). The
    name of the query is lost, unless the file has a place for it (``titled``).
    """
    r = data.rankings
    if not (titled and len(r) == 1):
        demand_one_query(r, f"a file of {what}")
    demand_one_line(r.items, f"a file of {what}")
    if bad := [name for name in r.items if any(mark in name for mark in without)]:
        marks = " or ".join(without)
        raise DataError(f"{what} cannot represent a name with {marks}: {bad[0]!r}; write a table instead")
    if not r.n_entries:
        raise DataError(f"there are no lists to write as {what}")
    if not all_named:
        warn_of_loss(len(unranked_slots(r)), "candidates that nobody ranks are left out")
    ballots: list[Ballot] = []
    for rows in entries_of(r).partition_by("list", maintain_order=True):
        groups = [part["item"].to_list() for part in rows.partition_by("rank", maintain_order=True)]
        weight = float(rows["weight"][0])
        ballots.append((groups, str(int(weight)) if weight.is_integer() else repr(weight)))
    return ballots
