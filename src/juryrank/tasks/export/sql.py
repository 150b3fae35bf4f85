"""Position tables as an SQL query for DuckDB and PostgreSQL."""

from __future__ import annotations

import re

from juryrank.data.arrays import Floats
from juryrank.data.names import DIGITS
from juryrank.errors import DataError
from juryrank.tasks.export.table import PositionTable

# Collation "C" is by code point, as juryrank orders names, and sorts several times as fast as that of a language.
SQL = """-- Fused ranking by {method}, exported from juryrank, for DuckDB and PostgreSQL; exact {holds}.
-- Expects entries(query, item, expert, rank), a table, a view or a query of a WITH: rank 1 is best.
-- Gives query, item and score, best first; equal scores in the order of the names of items, 9 before 10.
WITH points(expert, curve) AS (
    VALUES
{values}
),
-- MATERIALIZED: entries may be a search, which should run once.
listed AS MATERIALIZED (
    SELECT
        query, item, COALESCE(CAST(expert AS TEXT), '') COLLATE "C" AS expert, CAST(rank AS INTEGER) AS rank
    FROM entries
),
-- The place of an expert decides the order in which points are added, and so the last bit of a score.
experts AS MATERIALIZED (
    SELECT
        names.expert,
        ROW_NUMBER() OVER (ORDER BY {expert_order}) AS place,
        CAST(STRING_TO_ARRAY(COALESCE(points.curve, {other}), ',') AS DOUBLE PRECISION[]) AS curve
    FROM (SELECT DISTINCT expert FROM listed) AS names LEFT JOIN points ON points.expert = names.expert
),
-- OFFSET 0: the points of a rank are looked up here, and no whole curve is carried through the sort.
gains AS (
    SELECT
        listed.query,
        listed.item,
        CAST(listed.query AS TEXT) COLLATE "C" AS query_name,
        CAST(listed.item AS TEXT) COLLATE "C" AS item_name,
        experts.place,
        experts.curve[CASE
            WHEN listed.rank >= 1 THEN LEAST(listed.rank, {depth})
            ELSE CAST('a rank must be 1 or more, found ' || COALESCE(CAST(listed.rank AS TEXT), 'NULL') AS INTEGER)
        END] AS gain
    FROM listed JOIN experts ON experts.expert = listed.expert
    OFFSET 0
)
SELECT query, item, SUM(gain ORDER BY place) AS score
FROM gains
GROUP BY query_name, item_name, query, item
ORDER BY query_name, score DESC, {item_order}
"""


def to_sql(table: PositionTable) -> str:
    """An SQL query over a relation of entries."""
    rows = zip(table.experts, table.points, strict=True)
    values = [f"({_name(expert)}, {_curve(points)})" for expert, points in rows]
    if not values:
        values = ["(CAST(NULL AS TEXT), CAST(NULL AS TEXT))"]  # no expert is NULL
    return SQL.format(
        method=table.method,
        holds=table.holds,
        values=",\n".join(" " * 8 + value for value in values),
        other=_curve(table.other),
        depth=table.depth,
        expert_order=_natural_order("names.expert"),
        item_order=_natural_order("item_name"),
    )


def quote_text(name: str) -> str:
    """The name of an expert as a text of standard SQL, where only quotes have to be doubled."""
    if re.search("[\0\ud800-\udfff]", name):
        raise DataError(f"the expert {name!r} has a character that SQL cannot represent; export to json")
    return "'" + name.replace("'", "''") + "'"


def _name(expert: str) -> str:
    """The name as an expression without the signs that drivers and settings of a server may interpret in a text.

    >>> _name("100% it's")
    "('100' || CHR(37) || ' it''s')"
    """
    parts = re.split(r"([%:?\\])", expert)  # parameters of Python and Java; escapes
    texts = [f"CHR({ord(part)})" if n % 2 else quote_text(part) for n, part in enumerate(parts)]
    return texts[0] if len(texts) == 1 else "(" + " || ".join(texts) + ")"


def _curve(points: Floats) -> str:
    """All numbers in one text, which databases parse ten times as fast as an array of numbers."""
    return "'" + ",".join(map(repr, points.tolist())) + "'"


def _natural_order(name: str) -> str:
    """The keys of juryrank's order of names: whole numbers by value and first, then text by code point."""
    return f"CASE WHEN {name} ~ '^(0|[1-9][0-9]{{0,{DIGITS - 1}}})$' THEN LENGTH({name}) ELSE {DIGITS + 1} END, {name}"
