"""The columns of a table under standard names: common headers, text for names and float64 for numbers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from juryrank.errors import DataError
from juryrank.io.rows import first_true
from juryrank.polars import pl

HEADERS = {
    "query": ("qid", "queryid", "topic", "topicid"),
    "item": (
        "itemid", "doc", "docid", "docno", "document", "documentid", "movieid", "passageid", "candidate",
        "corpusid", "pid", "passage", "product", "productid",
    ),
    "expert": (
        "annotator", "judge", "judgeid", "ranker", "rater", "run", "runid", "system", "tag",
        "user", "userid", "voter", "worker", "workerid",
        "agent", "algorithm", "annotatorid", "assessor", "engine", "expertid", "method", "model", "modelid",
        "modelname", "provider", "raterid", "retriever", "reviewer", "reviewerid", "runname", "searchengine", "source",
        "systemid", "systemname", "voterid",
    ),
    "list": ("listid",),
    "rank": ("position", "place", "ranking"),
    "score": ("rating", "similarity"),
    "value": (),
    "distance": (),
    "label": ("gold", "grade", "rel", "relevance", "judgment", "judgement", "qrel"),
    "weight": ("count",),
    "label_weight": ("labelweight",),
    "left": (
        "a", "itema", "modela", "systema", "optiona", "playera", "teama", "item1", "model1", "player1", "team1", "home",
        "hometeam", "white",
    ),
    "right": (
        "b", "itemb", "modelb", "systemb", "optionb", "playerb", "teamb", "item2", "model2", "player2", "team2", "away",
        "awayteam", "black",
    ),
    "winner": ("won", "result", "outcome", "verdict", "chosen", "chosenmodel", "winnername", "preferred"),
    "loser": ("lost", "rejected", "rejectedmodel", "losername"),
    "tie": ("tied", "istie", "draw", "isdraw"),
    "left_score": ("leftscore", "winnermodela", "homescore", "homegoals", "scorea", "score1"),
    "right_score": ("rightscore", "winnermodelb", "awayscore", "awaygoals", "scoreb", "score2"),
}  # fmt: skip
LAST_RESORT = {"query": ("question", "prompt", "task", "taskid"), "item": ("id",)}  # if no header above is there
NUMBERS = ("rank", "score", "distance", "label", "weight", "label_weight")
NO_NUMBER = ("", "NULL", "null", "NA", "N/A", "nan", "NaN", "None")
DECIMAL_COMMA = r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$"

ABSENT = (None, "")  # given instead of a header: there is no such column

Fail = Callable[[int, str], DataError]  # the error for a row (counted from 0) and what was expected of it
Columns = Mapping[str, object] | None  # standard name -> header, None for no column, or the headers of several experts


def normalise(header: str) -> str:
    """A header without case, blanks, ``_`` and ``-``."""
    return header.strip().lower().replace("_", "").replace("-", "").replace(" ", "")


def roles(
    headers: list[str],
    columns: Columns,
    source: str,
    words: Collection[str],
    argument: str = "columns",
    common: Mapping[str, tuple[str, ...]] = HEADERS,
) -> dict[str, str]:
    """Standard name -> header: from ``columns`` first, then equal names, then those in ``common``."""
    if strange := [word for word in columns or {} if word not in words]:
        raise DataError(f"{source}: {argument}= does not take {strange[0]!r} here, only {', '.join(words)}")
    given = {
        word: _match_header(header, headers, source) for word, header in (columns or {}).items() if header not in ABSENT
    }
    free = {header: normalise(header) for header in headers if header not in given.values()}
    for word in words:
        if word in (columns or {}):
            continue
        for names in ((word,), common[word], LAST_RESORT.get(word, ())):
            found = [header for header, name in free.items() if name in names]
            if found:
                break
        if len(found) > 1:
            choice = f"{argument}={{{word!r}: {found[0]!r}}}"
            raise DataError(f"{source}: columns {join_names(found)} could all be the {word}; choose one: {choice}")
        if found:
            given[word] = found[0]
            del free[found[0]]
    return given


def _match_header(header: object, headers: list[str], source: str) -> str:
    """The header of the table: the same, or the only one that differs from it only in case and blanks."""
    alike = [h for h in headers if normalise(h) == normalise(str(header))]
    if header not in headers and len(alike) != 1:
        raise DataError(f"{source}: no column {header!r}; columns are {join_names(headers)}")
    return str(header) if header in headers else alike[0]


def convert_columns(frame: pl.DataFrame, found: Mapping[str, str], fail: Fail, *, comma: bool = False) -> pl.DataFrame:
    """The columns under standard names; names as text, numbers as float64, and null where a cell is empty."""

    def column(word: str, header: str) -> pl.Series:
        if word in ("weight", "label_weight"):
            return _weights(frame[header], header, fail, comma=comma)
        if word in NUMBERS:
            return as_numbers(frame[header], header, fail, comma=comma)
        return as_names(frame[header], header, fail)

    return pl.DataFrame([column(word, header).alias(word) for word, header in found.items()])


def as_names(column: pl.Series, header: str, fail: Fail) -> pl.Series:
    """A column as text, null where a cell is empty."""
    demand_names(column.dtype, header, fail)
    frame = column.alias("x").to_frame()
    whole = bool(frame.select(are_whole("x", column.dtype)).item())
    return frame.select(name_texts("x", column.dtype, whole=whole)).to_series()


def demand_names(dtype: pl.DataType, header: str, fail: Fail) -> None:
    """A DataError for a column that cannot hold names."""
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise fail(0, f"text or whole numbers in column {header!r} (it is {dtype})")


def are_whole(header: str, dtype: pl.DataType) -> pl.Expr:
    """Whether a column has floats that are all whole, as pandas makes of integers with gaps: 7.0 is named 7."""
    if not dtype.is_float():
        return pl.lit(False)
    value = pl.col(header).fill_nan(None)
    return ((value == value.round()) & (value.abs() < 2**63)).all()


def name_texts(header: str, dtype: pl.DataType, *, whole: bool) -> pl.Expr:
    """The names in a column as text, null where a cell is empty; ``whole`` is the result of ``are_whole``."""
    value = pl.col(header).fill_nan(None) if dtype.is_float() else pl.col(header)
    text = (value.cast(pl.Int64) if whole else value).cast(pl.String)
    return pl.when(text != "").then(text)


def as_numbers(column: pl.Series, header: str, fail: Fail, *, comma: bool = False) -> pl.Series:
    """A column as float64, null where a cell is empty; with ``comma``, 0,5 is 0.5."""
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object):
        raise fail(0, f"numbers in column {header!r} (it is {column.dtype})")
    frame = column.alias("x").to_frame()
    value, wrong = frame.select(
        a=number_values("x", column.dtype, comma=comma), b=invalid_number("x", column.dtype, comma=comma)
    )
    if (row := first_true(wrong)) is not None:
        text = str(column[row]).strip()
        hint = "; a decimal comma is understood where ';' separates columns" if "," in text and not comma else ""
        raise fail(row, f"a number in column {header!r} (not {text[:20]!r}{hint})")
    return value


def _weights(column: pl.Series, header: str, fail: Fail, *, comma: bool) -> pl.Series:
    """As ``as_numbers``, but NaN is not a missing weight (which counts as 1), and booleans are not weights."""
    if column.dtype == pl.Boolean:
        raise fail(0, f"numbers in column {header!r} (it is {column.dtype})")
    value = as_numbers(column, header, fail, comma=comma)
    if (row := first_true(column.cast(pl.String).str.strip_chars().str.to_lowercase() == "nan")) is not None:
        raise fail(row, f"a finite number >= 0 in column {header!r} (not nan; an empty cell counts as 1)")
    return value


def number_values(header: str, dtype: pl.DataType, *, comma: bool = False) -> pl.Expr:
    """The values of a column as float64; null where a cell is empty or not a number."""
    return _cast(header, dtype, comma=comma).fill_nan(None)


def invalid_number(header: str, dtype: pl.DataType, *, comma: bool = False) -> pl.Expr:
    """Whether a cell is neither empty nor a number."""
    text = pl.col(header).cast(pl.String, strict=False).str.strip_chars()
    return _cast(header, dtype, comma=comma).is_null() & text.is_not_null() & ~text.is_in(list(NO_NUMBER))


def _cast(header: str, dtype: pl.DataType, *, comma: bool) -> pl.Expr:
    if dtype.is_numeric() or dtype in (pl.Boolean, pl.Null):
        return pl.col(header).cast(pl.Float64)
    text = pl.col(header).cast(pl.String, strict=False).str.strip_chars()
    if comma:
        decimal = text.str.contains(DECIMAL_COMMA)
        text = pl.when(decimal).then(text.str.replace(",", ".", literal=True)).otherwise(text)
    return text.cast(pl.Float64, strict=False)


def join_names(headers: Collection[str]) -> str:
    """Headers as text for messages."""
    shown = list(headers)
    return ", ".join(repr(h) for h in shown[:12]) + (" …" if len(shown) > 12 else "")
