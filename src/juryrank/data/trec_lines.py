"""The lines of a TREC run, the same for every destination: a file, a folder, stdout, text in Python."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from juryrank.errors import DataError
from juryrank.polars import pl, require_threads

BLANK = r"[ \t\n\r\f\v\x00]"  # readers treat these as blanks, and NUL as a sign that a file is not text
ODD_NAME = re.compile(BLANK)
BYTE_ORDER_MARK = "\ufeff"  # readers skip one at the start of a file
ODD_SIGNS = " \t\n\r\f\v\0" + BYTE_ORDER_MARK
NAMES = ["query", "item", "expert"]
AT_ONCE = 1 << 15  # names that are searched as one text, which limits the memory


def run_lines(rows: pl.DataFrame) -> bytes:
    """Rows with columns query, item, rank, score and expert as UTF-8 text; a DataError for a name with blanks."""
    require_threads("to write a TREC run")
    demand_run_names(rows)
    return format_lines(rows)


def format_lines(rows: pl.DataFrame) -> bytes:
    """As ``run_lines``, for names that were checked before."""
    lines = rows.select("query", pl.lit("Q0").alias("iteration"), "item", "rank", "score", "expert")
    out = io.BytesIO()  # polars writes bytes, without a Python string in between
    lines.write_csv(out, include_header=False, separator=" ", quote_style="never")
    return out.getvalue()


def demand_run_names(rows: pl.DataFrame) -> None:
    """A DataError for the first name that a TREC run cannot represent."""
    if any(has_odd_name(rows[column]) for column in NAMES):
        demand_words(rows, NAMES, "a TREC run")
        demand_no_mark(rows["query"], "a TREC run")


def has_odd_name(names: pl.Series) -> bool:
    """Whether ``demand_run_names`` may refuse a name; many are searched as one text, in a third of the time."""
    texts = (names[at : at + AT_ONCE].str.join("").item() for at in range(0, len(names), AT_ONCE))
    return bool((names == "").any()) or any(sign in text for text in texts for sign in ODD_SIGNS)


def few_run_lines(
    queries: Sequence[str], items: Sequence[str], ranks: Sequence[int], scores: Sequence[float], tag: str
) -> bytes:
    """As ``run_lines``, by Python: for a few lines, the import of polars would take longer."""
    for column, names in (("query", queries), ("item", items), ("expert", [tag] * bool(queries))):
        for name in dict.fromkeys(names):
            if not name or ODD_NAME.search(name):
                raise _name_error(column, name, "a TREC run")
    if any(query.startswith(BYTE_ORDER_MARK) for query in set(queries)):
        raise _mark_error("a TREC run")
    rows = zip(queries, items, ranks, map(score_text, scores), strict=True)
    return "".join([f"{query} Q0 {item} {rank} {score} {tag}\n" for query, item, rank, score in rows]).encode()


def score_text(score: float) -> str:
    """A number as polars writes it: the shortest text that reads back the same.

    >>> score_text(0.1), score_text(1e-5), score_text(2.5e-7), score_text(1e20), score_text(float("nan"))
    ('0.1', '0.00001', '2.5e-7', '1e+20', 'NaN')
    """
    text = repr(score)
    if "e-" in text:
        digits, _, exponent = text.partition("e-")
        if exponent == "05":
            sign, digits = "-" * digits.startswith("-"), digits.replace("-", "").replace(".", "")
            return f"{sign}0.0000{digits}"
        return f"{digits}e-{int(exponent)}"
    return "NaN" if text == "nan" else text


def demand_words(frame: pl.DataFrame, columns: list[str], what: str, blank: str = BLANK) -> None:
    """A DataError for the first name that a blank-separated format cannot represent."""
    odd = pl.col(columns).str.contains(blank) | (pl.col(columns) == "")
    for column, found in frame.select(odd.any()).row(0, named=True).items():
        if found:
            names = frame[column]
            raise _name_error(column, names.filter(names.str.contains(blank) | (names == ""))[0], what)


def _name_error(column: str, name: str, what: str) -> DataError:
    if not name:
        return DataError(f"{what} cannot represent an empty name, and the data has one ({column} '')")
    sign = "a NUL" if "\0" in name else "whitespace"
    return DataError(f"{what} cannot represent {sign} in a name: {column} {name!r}; write a table instead")


def demand_no_mark(queries: pl.Series, what: str) -> None:
    """A DataError where a file might begin with a byte order mark, which readers skip."""
    if queries.str.starts_with(BYTE_ORDER_MARK).any():
        raise _mark_error(what)


def _mark_error(what: str) -> DataError:
    return DataError(f"{what} cannot represent a query whose name begins with U+FEFF; write a table instead")
