"""Position tables for any language: JSON, CSV, a Python function, an SQL query."""

from __future__ import annotations

import json

from juryrank._export.table import PositionTable
from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.report import csv_text

FORMAT = "juryrank-position-table"
OTHERS = "*"  # the name of all other experts in CSV


def to_json(table: PositionTable) -> str:
    """The table as JSON: points[expert][rank - 1]; the last number of a list stands for deeper ranks."""
    head = {"format": FORMAT, "version": 1, "method": table.method, "exact": table.holds, "depth": table.depth}
    points = {name: row.tolist() for name, row in zip(table.experts, table.points, strict=True)}
    return json.dumps({**head, "points": points, "other": table.other.tolist()}) + "\n"


def to_csv(table: PositionTable) -> str:
    """One row per expert and rank; the expert * stands for all others."""
    if OTHERS in table.experts:
        raise DataError(f"an expert is named {OTHERS!r}, which stands for all others in CSV; export to json")
    curves = [*zip(table.experts, table.points, strict=True), (OTHERS, table.other)]
    rows = [(name, rank, value) for name, curve in curves for rank, value in enumerate(curve.tolist(), 1)]
    return csv_text([("expert", "rank", "points"), *rows])


PYTHON = '''"""Fused ranking by {method}, exported from juryrank; needs nothing but Python.

Exact {holds}. fuse({{"expert": ["best item", "next", ...], ...}}) -> {{item: score}}, best first.
"""

POINTS = {{
{points}
}}
OTHER = {other}


def fuse(lists):
    """Sum the points of every item over the lists; items with equal scores are ordered by name, 9 before 10."""
    scores = {{}}
    for expert in sorted(lists, key=_natural):
        points = POINTS.get(expert, OTHER)
        for rank, item in enumerate(lists[expert]):
            scores[item] = scores.get(item, 0.0) + points[min(rank, len(points) - 1)]
    return dict(sorted(scores.items(), key=lambda scored: (-scored[1], _natural(str(scored[0])))))


def _natural(name):
    """Numbers first; the order of a sum decides its last digit, and so the order of near ties."""
    number = name.isascii() and name.isdigit() and len(name) <= 18 and (name[0] != "0" or name == "0")
    return (not number, int(name) if number else 0, name)
'''


def to_python(table: PositionTable) -> str:
    """A Python file with a function ``fuse``."""
    rows = zip(table.experts, table.points, strict=True)
    points = "\n".join(f"    {name!a}: {row.tolist()!r}," for name, row in rows)
    return PYTHON.format(method=table.method, holds=table.holds, points=points, other=repr(table.other.tolist()))


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
    for name in table.experts:
        if "\0" in name:
            raise DataError(f"the expert {name!r} has a character that SQL cannot represent; export to json")
    rows = zip(table.experts, table.points, strict=True)
    values = [f"({_text(name)}, {place}, {_array(curve)})" for place, (name, curve) in enumerate(rows)]
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


def _text(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _array(values: Floats) -> str:
    """Numbers with an exponent, which databases read as floats; others they read as decimals and round."""
    texts = [repr(value) for value in values.tolist()]
    return "CAST(ARRAY[" + ", ".join(t if "e" in t else t + "e0" for t in texts) + "] AS DOUBLE PRECISION[])"
