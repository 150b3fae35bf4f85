"""The layout of a table: the role of each column, decided once for the whole table and never by a silent guess.

A table has one row per entry, or (wide) one row per item and a column of numbers per expert.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from juryrank.errors import DataError, warn_about_data
from juryrank.io.tables.columns import HEADERS, Columns, invalid_number, join_names, normalise, number_values, roles
from juryrank.polars import pl

WORDS = ("query", "item", "expert", "list", "rank", "score", "distance", "value", "label", "weight", "label_weight")
ORDERED = ("rank", "score")
VALUES = (*ORDERED, "distance")  # what gives an order; distances are read as scores below zero
DESCRIPTIVE = (  # other columns that tables often have, and that hold no ranking
    "abstract", "body", "comment", "comments", "content", "contents", "date", "datetime", "description", "genres",
    "iter", "iteration", "language", "link", "note", "notes", "q0", "querytext", "snippet", "text", "time", "timestamp",
    "title", "url",
)  # fmt: skip
INDEX = ("", "index", "unnamed:0", "indexlevel0", "level0", "column1")  # headers that pandas gives to row numbers
SMALL_IS_GOOD = ("dist", "loss", "error", "cost", "perplexity")  # in headers: neither ranks nor scores
SHOWN = 6  # experts that a message names
BEIR_QRELS = ("queryid", "corpusid", "score")
FEW = 20  # names that could be experts even in a short table
SIGNS = {"rank": ("rank", "position"), "score": ("score", "similarity")}  # in headers of a wide table


class NoItemColumnError(DataError):
    """A table without a column of items, or of experts that may be meant to be items."""


@dataclass(frozen=True)
class Layout:
    """The columns of a table by standard name; a wide table has ``experts``, whose columns hold ``values``.

    Where ``distances``, the scores are distances, which are negated when they are read.
    """

    headers: Mapping[str, str]
    experts: tuple[str, ...] = ()
    values: str = ""
    comma: bool = False  # a decimal comma: 0,5 is 0.5
    distances: bool = False

    @property
    def ordered(self) -> list[str]:
        """Which of rank and score the table has."""
        return [self.values] if self.experts else [word for word in ORDERED if word in self.headers]

    @property
    def remedies(self) -> tuple[str, str]:
        """How numbers that are read as ranks are read as scores, and as distances."""
        header = self.headers.get("rank")
        if self.experts or header is None or normalise(header) == "value":
            return "values='score'", "values='distance'"
        return f"columns={{'score': {header!r}}}", f"columns={{'distance': {header!r}}}"


def layout(
    frame: pl.LazyFrame, columns: Columns = None, values: str | None = None, *, name: str, comma: bool = False
) -> Layout:
    """The layout of a table, or an error that names the option to use."""
    if values not in (None, *VALUES):
        raise DataError(f"values must be 'rank', 'score' or 'distance', got {values!r}")
    headers = list(frame.collect_schema())
    if patterns := [header for header in headers if header == "*" or (header[:1] == "^" and header[-1:] == "$")]:
        raise DataError(f"{name}: column {patterns[0]!r} has a name that means several columns; rename or drop it")
    several = (columns or {}).get("expert")
    wide = tuple(map(str, several)) if isinstance(several, list | tuple) else ()
    if strange := [header for header in wide if header not in headers]:
        raise DataError(f"{name}: no column {strange[0]!r}; columns are {join_names(headers)}")
    given = {**(columns or {}), "expert": None} if wide else columns
    found = roles([header for header in headers if header not in wide], given, name, WORDS)
    if "item" not in found:
        choice = "columns={'item': 'HEADER'}"
        known = any(word in found for word in (*VALUES, "value", "label"))
        ballots = "" if known else ", or for ballots format='ballot-choices', 'ballot-grid' or 'ballot-orders'"
        models = _experts_as_items(headers, found)
        raise (DataError if models else NoItemColumnError)(
            f"{name}: a table needs a column 'item'; columns are {join_names(headers)}; use {choice}{models}{ballots}"
        )
    if "distance" in found and "distance" not in (columns or {}) and values != "distance":
        others = {word: header for word, header in found.items() if word != "distance"}
        if others.keys() & {*ORDERED, "value", "label"} or len(Table(frame, others, name, comma, ()).numeric()) > 1:
            found = others  # only a column of this name that nothing else explains has distances
    table = Table(frame, found, name, comma, tuple(columns or ()))
    if not table.height:
        raise DataError(f"{name}: the table has a header and no rows")
    _warn_of_small_is_good(name, columns or {})
    chosen = _wide(table, wide, values) if wide else _long(table, found, values)
    table.warn_of_unused(chosen)
    return chosen


def _experts_as_items(headers: list[str], found: Mapping[str, str]) -> str:
    """How a table of experts without items is read if what it calls models or systems is to be ranked."""
    unused = [header for header in headers if header not in found.values()]
    judge = found.get("query", unused[0] if unused else None)
    if "expert" not in found or judge is None:
        return ""
    chosen = {"item": found["expert"], "expert": judge}
    return f", or to rank each {found['expert']!r} by each {judge!r} columns={chosen!r}"


def _warn_of_small_is_good(name: str, columns: Mapping[str, object]) -> None:
    """Warn of a column that is named as ranks or scores where its header says that it has other numbers."""
    for word in ORDERED:
        header = columns.get(word)
        if not isinstance(header, str) or any(sign in normalise(header) for sign in (*SIGNS[word], "place")):
            continue
        if any(sign in normalise(header) for sign in SMALL_IS_GOOD):
            best = "1 is best" if word == "rank" else "large is best"
            warn_about_data(
                f"{name}: column {header!r} is read as {word}s ({best}); if small is best, "
                f"use columns={{'distance': {header!r}}}"
            )


@dataclass(frozen=True)
class Table:
    """A table whose layout is being decided."""

    frame: pl.LazyFrame
    found: Mapping[str, str]
    name: str
    comma: bool
    chosen: tuple[str, ...]  # standard names whose columns the user has named

    @property
    def height(self) -> int:
        return int(self.frame.select(pl.len()).collect().item())

    def unused(self, *more: str) -> list[str]:
        """Headers that have no role so far, except descriptive columns and row numbers."""
        free = [h for h in self.frame.collect_schema() if h not in self.found.values() and h not in more]
        synonyms = [
            header for word in self.chosen for header in (word, *HEADERS[word])
        ]  # alternatives to what the user has named
        free = [h for h in free if normalise(h) not in DESCRIPTIVE and normalise(h) not in synonyms]
        index = [h for h in free if normalise(h) in INDEX and self._counts_rows(h)]
        return [h for h in free if h not in index]

    def _counts_rows(self, header: str) -> bool:
        value = number_values(header, self.frame.collect_schema()[header])
        return bool(self.frame.select((value - pl.int_range(pl.len())).n_unique() == 1).collect().item())

    def numeric(self) -> list[str]:
        """Unused columns in which most cells are numbers."""
        schema = self.frame.collect_schema()
        free = [
            h for h in self.unused() if not (schema[h].is_nested() or schema[h] in (pl.Boolean, pl.Binary, pl.Object))
        ]
        if not free:
            return []
        right = [number_values(h, schema[h], comma=self.comma).count().alias(f"r{n}") for n, h in enumerate(free)]
        wrong = [invalid_number(h, schema[h], comma=self.comma).sum().alias(f"w{n}") for n, h in enumerate(free)]
        counts = self.frame.select(*right, *wrong).collect().row(0)
        few = [w == 0 or w < r for r, w in zip(counts[: len(free)], counts[len(free) :], strict=True)]
        return [h for h, good in zip(free, few, strict=True) if good]

    def is_beir_qrels(self) -> bool:
        """Whether the columns are those of BEIR's qrels, where the score is a label, and scores are whole."""
        schema = self.frame.collect_schema()
        if tuple(normalise(header) for header in schema) != BEIR_QRELS:
            return False
        score = number_values(self.found["score"], schema[self.found["score"]])
        return bool(self.frame.select((score == score.floor()).all()).collect().item())

    def warn_of_unused(self, chosen: Layout) -> None:
        """One warning that names the unused columns."""
        headers = [h for h in self.unused(*chosen.experts) if h not in chosen.headers.values()]
        if headers:
            many = f"{len(headers)} columns are" if len(headers) > 1 else "1 column is"
            message = f"{self.name}: {many} not used: {join_names(headers)}"
            warn_about_data(message)


def _long(table: Table, found: dict[str, str], values: str | None) -> Layout:
    """The layout with one row per entry, or a wide one if there are only columns of numbers."""
    name = table.name
    if values is None and not table.chosen and table.is_beir_qrels():
        found["label"] = found.pop("score")
    found = resolve_value(found, values, name)
    if "distance" in found:
        if "score" in found:
            raise DataError(
                f"{name}: lists go by scores or by distances, and there are {found['score']!r} and "
                f"{found['distance']!r}; to use the distances, add columns={{'score': None}}"
            )
        found["score"] = found.pop("distance")
        return _finished(table, found, distances=True)
    if "expert" in found and not any(word in found for word in ORDERED):
        choice = f"columns={{'score': {found['label']!r}}}" if "label" in found else "columns={'score': 'HEADER'}"
        raise DataError(f"{name}: experts need a rank or a score; use columns={{'rank': 'HEADER'}} or {choice}")
    if not any(word in found for word in ORDERED) and "expert" not in found and "expert" not in table.chosen:
        numeric = table.numeric()
        if len(numeric) > 1:
            return _wide(table, tuple(numeric), values, assumed=True)
        if "label" not in found:
            raise _without_order(table, numeric)
    if not any(word in found for word in (*ORDERED, "label")):
        raise _without_order(table, table.numeric())
    if not any(word in found for word in ORDERED) and normalise(found.get("weight", "count")) != "count":
        found.setdefault("label_weight", found.pop("weight"))  # without lists, the weights are those of labels
    return _finished(table, found)


def _finished(table: Table, found: Mapping[str, str], *, distances: bool = False) -> Layout:
    """The layout with one row per entry, of columns that are decided."""
    if any(word in found for word in ORDERED):
        _demand_no_other_names(table, found)
    return Layout(found, comma=table.comma, distances=distances)


def _without_order(table: Table, numeric: list[str]) -> DataError:
    choice = repr(numeric[0]) if numeric else "'HEADER'"
    headers = join_names(list(table.frame.collect_schema()))
    return DataError(
        f"{table.name}: the table has no column for a rank, a score or a label; columns are {headers}; "
        f"use columns={{'score': {choice}}} or columns={{'rank': {choice}}}"
    )


def resolve_value(found: dict[str, str], values: str | None, source: str) -> dict[str, str]:
    """The roles with 'value' replaced by rank or score, according to ``values``."""
    if any(word in found for word in VALUES):
        if values is not None and values not in found:
            raise DataError(f"{source}: values={values!r}, but the table has no column for a {values}")
        return {word: header for word, header in found.items() if word != "value"}
    if "value" not in found:
        return found
    if values is None:
        raise DataError(
            f"{source}: column {found['value']!r} may be a rank (1 is best) or a score (large is best); "
            "use values='rank' or values='score', or values='distance' for other numbers of which small is best"
        )
    return {values if word == "value" else word: header for word, header in found.items()}


def _wide(table: Table, experts: tuple[str, ...], values: str | None, *, assumed: bool = False) -> Layout:
    """The layout with one column per expert; ``assumed`` if the user has not named them."""
    name, found = table.name, {w: h for w, h in table.found.items() if w not in (*VALUES, "value")}
    signs = {h: next((w for w, signs in SIGNS.items() if any(s in normalise(h) for s in signs)), None) for h in experts}
    if assumed and len(set(signs.values()) - {None}) == 2:
        if values not in ORDERED:
            raise DataError(
                f"{name}: columns {join_names(experts)} contain ranks and scores; use values='rank' or values='score'"
            )
        experts = tuple(h for h in experts if signs[h] == values)
    decided = values or (signs[experts[0]] if len({signs[h] for h in experts}) == 1 else None) or _kind(table, experts)
    if values is None and any(sign in normalise(h) for h in experts for sign in SMALL_IS_GOOD):
        decided = None
    if decided is None:
        raise DataError(
            f"{name}: columns {join_names(experts)} look like one per expert, but their numbers may be ranks "
            "(1 is best) or scores (large is best); use values='rank' or values='score', or values='distance' for "
            "other numbers of which small is best"
        )
    if assumed or values is None:
        best = "large" if decided == "score" else "small"
        choice = f"columns={{'expert': {list(experts)!r}}} and " if len(experts) <= SHOWN else ""
        message = (
            f"{name}: read as one column per expert ({join_names(experts)}) with {decided}s ({best} is best); "
            f"to confirm or choose, use {choice}values={decided!r}"
        )
        warn_about_data(message)
    distances = decided == "distance"
    return Layout(found, experts, "score" if distances else decided, table.comma, distances)


def _kind(table: Table, experts: tuple[str, ...]) -> str | None:
    """Ranks where every column counts 1, 2, 3, … in every query, scores where a number cannot be a rank, else None."""
    schema = table.frame.collect_schema()
    query = table.found.get("query")
    value = [number_values(h, schema[h], comma=table.comma).alias(str(n)) for n, h in enumerate(experts)]
    frame = table.frame.select((pl.col(query) if query else pl.lit(0)).alias("query"), *value)
    numbers = pl.all().exclude("query")
    if any(frame.select(((numbers < 1) | (numbers != numbers.floor())).any()).collect().row(0)):
        return "score"
    counts = (numbers.count() == numbers.max()) & (numbers.count() == numbers.drop_nulls().n_unique())
    lists = frame.group_by("query").agg(counts | (numbers.count() == 0))
    return "rank" if all(lists.select(numbers.all()).collect().row(0)) else None


def _demand_no_other_names(table: Table, found: Mapping[str, str]) -> None:
    """An error for an unused column that distinguishes rows as only an expert or a query would."""
    missing = [word for word in ("expert", "query") if word not in found and word not in table.chosen]
    schema = table.frame.collect_schema()
    free = [h for h in table.unused() if not (schema[h].is_float() or schema[h].is_nested())]
    if not missing or not free:
        return
    keys = [found[word] for word in ("query", "expert", "list") if word in found]
    rows = table.frame.filter(pl.any_horizontal(pl.col(found[w]).is_not_null() for w in ORDERED if w in found))
    if suspects := [h for h in _few(rows, free) if _separates_rows(rows, schema, found, keys, h)]:
        header, choices = suspects[0], " or ".join(f"columns={{{w!r}: {suspects[0]!r}}}" for w in missing)
        which = f"column {header!r}" if len(suspects) == 1 else f"one of the columns {join_names(suspects)}"
        raise DataError(
            f"{table.name}: {which} could be the {' or the '.join(missing)}: without it, rows repeat items or ranks; "
            f"use {choices}, or columns={{{missing[0]!r}: None}} to ignore it"
        )


def _few(rows: pl.LazyFrame, headers: list[str]) -> list[str]:
    """Columns of text or whole numbers with several values, but few of them."""
    counts = rows.select(pl.len().alias("n"), *(pl.col(h).n_unique().alias(f"{n}") for n, h in enumerate(headers)))
    height, *distinct = counts.collect().row(0)
    return [h for h, n in zip(headers, distinct, strict=True) if 1 < n <= max(FEW, height // 2)]


def _separates_rows(
    rows: pl.LazyFrame, schema: pl.Schema, found: Mapping[str, str], keys: list[str], header: str
) -> bool:
    """Whether with this column few rows repeat an item, or lists count 1, 2, 3, … that otherwise would not."""
    item = found["item"]
    repeated = [pl.len() - pl.struct(*keys, item, *more).n_unique() for more in ((), (header,))]
    before, after = rows.select(before=repeated[0], after=repeated[1]).collect().row(0)
    if before and after <= before / 2:
        return True
    if "rank" not in found:
        return False
    rank = number_values(found["rank"], schema[found["rank"]])
    counts = (rank.max() == pl.len()) & (rank.n_unique() == pl.len())
    lists = rows.with_columns(pl.lit(0).alias("\0")).group_by(*keys, "\0").agg(counts=counts)
    parts = rows.group_by(*keys, header).agg(counts=counts)
    return not lists.select(pl.col("counts").all()).collect().item() and bool(
        parts.select(pl.col("counts").mean() > 0.9).collect().item()
    )
