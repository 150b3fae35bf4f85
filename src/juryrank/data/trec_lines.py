"""The lines of a TREC run, the same for every destination: a file, a folder, stdout, text in Python."""

from __future__ import annotations

import io

from juryrank.errors import DataError
from juryrank.forks import require_threads
from juryrank.lazy_polars import pl

BLANK = r"[ \t\n\r\f\v\x00]"  # readers treat these as blanks, and NUL as a sign that a file is not text
BYTE_ORDER_MARK = "\ufeff"  # readers skip one at the start of a file


def run_lines(rows: pl.DataFrame) -> bytes:
    """Rows with columns query, item, rank, score and expert as UTF-8 text; a DataError for a name with blanks."""
    require_threads("to write a TREC run")
    demand_words(rows, ["query", "item", "expert"], "a TREC run")
    demand_no_mark(rows["query"], "a TREC run")
    lines = rows.select("query", pl.lit("Q0").alias("iteration"), "item", "rank", "score", "expert")
    out = io.BytesIO()  # polars writes bytes, without a Python string in between
    lines.write_csv(out, include_header=False, separator=" ", quote_style="never")
    return out.getvalue()


def demand_words(frame: pl.DataFrame, columns: list[str], what: str, blank: str = BLANK) -> None:
    """A DataError for the first name that a blank-separated format cannot represent."""
    odd = pl.col(columns).str.contains(blank) | (pl.col(columns) == "")
    for column, found in frame.select(odd.any()).row(0, named=True).items():
        if not found:
            continue
        names = frame[column]
        bad = names.filter(names.str.contains(blank) | (names == ""))[0]
        if not bad:
            raise DataError(f"{what} cannot represent an empty name, and the data has one ({column} '')")
        sign = "a NUL" if "\0" in bad else "whitespace"
        raise DataError(f"{what} cannot represent {sign} in a name: {column} {bad!r}; write a table instead")


def demand_no_mark(queries: pl.Series, what: str) -> None:
    """A DataError where a file might begin with a byte order mark, which readers skip."""
    if queries.str.starts_with(BYTE_ORDER_MARK).any():
        raise DataError(f"{what} cannot represent a query whose name begins with U+FEFF; write a table instead")
