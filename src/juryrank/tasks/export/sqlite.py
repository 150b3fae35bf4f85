"""Position tables as a script and a query for SQLite, which has no arrays."""

from __future__ import annotations

from juryrank.data.arrays import Floats
from juryrank.data.names import DIGITS
from juryrank.errors import DataError
from juryrank.tasks.export.sql import quote_text
from juryrank.tasks.export.table import PositionTable

MOST_EXPERTS = 900  # SQLite takes expressions of depth 1000, and the sum below has a level for each expert
OTHERS = -1  # the place of experts that have no row in juryrank_experts
ROWS = 100  # of one INSERT; its time grows with their square
SHIFT = 62  # 1 << 62 is the largest power of two that SQLite has as a whole number

# A savepoint is a transaction that may be inside another: readers have the old points or the new ones.
SCRIPT = """-- Fused ranking by {method}, exported from juryrank, for SQLite 3.30 or newer; exact {holds}.
-- Up to the line "-- Query", this script replaces the points in the tables juryrank_experts and juryrank_points.
-- Points are fractions because not every version of SQLite reads all decimals to the last digit.
SAVEPOINT juryrank;
DROP TABLE IF EXISTS juryrank_experts;
DROP TABLE IF EXISTS juryrank_points;
CREATE TABLE juryrank_experts (expert TEXT NOT NULL PRIMARY KEY, place INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE juryrank_points (
    place INTEGER NOT NULL, rank INTEGER NOT NULL, points REAL NOT NULL, PRIMARY KEY (place, rank)
) WITHOUT ROWID;
{experts}-- Place {others} stands for all other experts, and the last rank for all deeper ones.
{points}RELEASE juryrank;
-- The query expects entries(query, item, expert, rank), a table or a WITH clause: expert is text, rank 1 is best.
-- Query
SELECT
    entries.query,
    entries.item,
    {total} AS score
FROM entries
LEFT JOIN juryrank_experts ON juryrank_experts.expert = entries.expert
JOIN juryrank_points
    ON juryrank_points.place = COALESCE(juryrank_experts.place, {others})
    AND juryrank_points.rank = MIN(
        CAST(entries.rank AS INTEGER), (SELECT MAX(rank) FROM juryrank_points WHERE place = {others})
    )
GROUP BY entries.query, entries.item
ORDER BY
    entries.query,
    score DESC,
    {number} NULLS LAST,
    entries.item
"""

# Whole numbers come first, by value: 9 before 10. Names with leading zeros and very long numbers are text.
NUMBER = (
    "CASE WHEN entries.item NOT GLOB '*[^0-9]*' AND entries.item NOT GLOB '0?*' "
    f"AND LENGTH(entries.item) BETWEEN 1 AND {DIGITS} THEN CAST(entries.item AS INTEGER) END"
)


def to_sqlite(table: PositionTable) -> str:
    """A script that stores the points, and a query over a table of entries."""
    if len(table.experts) > MOST_EXPERTS:
        raise DataError(
            f"a sum in SQLite has at most {MOST_EXPERTS} terms, and the model has {len(table.experts)} experts; "
            "export to json"
        )
    names = [f"INSERT INTO juryrank_experts VALUES ({quote_text(n)}, {p});\n" for p, n in enumerate(table.experts)]
    curves = [*enumerate(table.points), (OTHERS, table.other)]
    return SCRIPT.format(
        method=table.method,
        holds=table.holds,
        experts="".join(names),
        others=OTHERS,
        points="".join(_insert(place, curve) for place, curve in curves),
        total=_total(len(table.experts)),
        number=NUMBER,
    )


def _insert(place: int, curve: Floats) -> str:
    rows = [f"({place}, {rank}, {_fraction(value)})" for rank, value in enumerate(curve.tolist(), 1)]
    parts = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    return "".join("INSERT INTO juryrank_points VALUES\n" + ",\n".join(part) + ";\n" for part in parts)


def _fraction(value: float) -> str:
    """The value as a whole number divided by powers of two, which is exact."""
    numerator, denominator = value.as_integer_ratio()
    whole, rest = divmod(denominator.bit_length() - 1, SHIFT)
    return f"{numerator} * 1.0" + f" / (1 << {SHIFT})" * whole + (f" / (1 << {rest})" if rest else "")


def _total(n_experts: int) -> str:
    """The sum in the order of the experts, as juryrank adds: SUM would add in another order, or round differently."""
    conditions = [f"= {place}" for place in range(n_experts)] + [f"NOT BETWEEN 0 AND {n_experts - 1}"]
    return "\n    + ".join(
        f"TOTAL(juryrank_points.points) FILTER (WHERE juryrank_points.place {condition})" for condition in conditions
    )
