"""Position tables as an SQL query."""

from __future__ import annotations

from juryrank._export.table import PositionTable
from juryrank.data.arrays import Floats
from juryrank.errors import DataError

SQL = """-- Fused ranking by {method}, exported from juryrank, for DuckDB and PostgreSQL; exact {holds}.
-- Expects a table entries(query, item, expert, rank): expert is text, rank 1 is best. Gives query, item and score.
WITH points(expert, place, curve) AS (
    VALUES
{values}
)
SELECT
    entries.query,
    entries.item,
    SUM((COALESCE(points.curve, {other}))[LEAST(CAST(entries.rank AS INTEGER), {depth})]
        ORDER BY COALESCE(points.place, {n_experts}), entries.expert) AS score
FROM entries LEFT JOIN points ON points.expert = entries.expert
GROUP BY entries.query, entries.item
ORDER BY entries.query, score DESC, entries.item
"""


def to_sql(table: PositionTable) -> str:
    """An SQL query over a table of entries."""
    rows = zip(table.experts, table.points, strict=True)
    values = [f"({quote_text(name)}, {place}, {_array(curve)})" for place, (name, curve) in enumerate(rows)]
    if not values:
        values = ["(CAST(NULL AS TEXT), 0, " + _array(table.other) + ")"]  # no expert is NULL
    return SQL.format(
        method=table.method,
        holds=table.holds,
        values=",\n".join(" " * 8 + value for value in values),
        other=_array(table.other),
        depth=table.depth,
        n_experts=len(table.experts),
    )


def quote_text(name: str) -> str:
    """The name of an expert as a text of standard SQL, where only quotes have to be doubled."""
    if "\0" in name:
        raise DataError(f"the expert {name!r} has a character that SQL cannot represent; export to json")
    return "'" + name.replace("'", "''") + "'"


def _array(values: Floats) -> str:
    """Numbers with an exponent, which databases read as floats; others they read as decimals and round."""
    texts = [repr(value) for value in values.tolist()]
    return "CAST(ARRAY[" + ", ".join(t if "e" in t else t + "e0" for t in texts) + "] AS DOUBLE PRECISION[])"
