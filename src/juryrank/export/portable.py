"""Position tables for any language: JSON, CSV, a Python function, an SQL query."""

from __future__ import annotations

import csv
import io
import json

from juryrank.export.table import PositionTable

FORMAT = "juryrank-position-table"


def to_json(table: PositionTable) -> str:
    """The table as JSON: points[expert][rank - 1]; the last number of a list stands for deeper ranks."""
    head = {"format": FORMAT, "version": 1, "method": table.method, "depth": table.depth}
    points = {name: row.tolist() for name, row in zip(table.experts, table.points, strict=True)}
    return json.dumps({**head, "points": points, "other": table.other.tolist()}) + "\n"


def to_csv(table: PositionTable) -> str:
    """One row per expert and rank; the expert * stands for all others."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["expert", "rank", "points"])
    for name, curve in [*zip(table.experts, table.points, strict=True), ("*", table.other)]:
        rows.writerows((name, rank, repr(float(value))) for rank, value in enumerate(curve, 1))
    return out.getvalue()


PYTHON = '''"""Fused ranking by {method}, exported from juryrank; needs nothing but Python.

fuse({{"expert": ["best item", "next", ...], ...}}) -> {{item: score}}, best first.
"""

POINTS = {{
{points}
}}
OTHER = {other}


def fuse(lists):
    """Sum the points of every item over the lists; items with equal scores stand in the order of their names."""
    scores = {{}}
    for expert in sorted(lists):
        points = POINTS.get(expert, OTHER)
        for rank, item in enumerate(lists[expert]):
            scores[item] = scores.get(item, 0.0) + points[min(rank, len(points) - 1)]
    return dict(sorted(scores.items(), key=lambda scored: (-scored[1], str(scored[0]))))
'''


def to_python(table: PositionTable) -> str:
    """A Python file with a function ``fuse``."""
    points = "\n".join(
        f"    {name!r}: {row.tolist()!r}," for name, row in zip(table.experts, table.points, strict=True)
    )
    return PYTHON.format(method=table.method, points=points, other=repr(table.other.tolist()))


SQL = """-- Fused ranking by {method}, exported from juryrank, for DuckDB and PostgreSQL.
-- Expects a table entries(query, item, expert, rank), rank 1 is best; gives query, item, score, best first.
WITH points(expert, curve) AS (
    VALUES
{values}
)
SELECT
    entries.query,
    entries.item,
    SUM(COALESCE(points.curve, {other})[LEAST(CAST(entries.rank AS INTEGER), {depth})]) AS score
FROM entries LEFT JOIN points ON points.expert = entries.expert
GROUP BY entries.query, entries.item
ORDER BY entries.query, score DESC, entries.item
"""


def to_sql(table: PositionTable) -> str:
    """An SQL query over a table of entries."""
    rows = [("", table.other), *zip(table.experts, table.points, strict=True)]
    values = ",\n".join(f"        ({_text(name)}, {_array(curve.tolist())})" for name, curve in rows)
    return SQL.format(method=table.method, values=values, other=_array(table.other.tolist()), depth=table.depth)


def _text(name: str) -> str:
    return "'" + name.replace("'", "''") + "'"


def _array(values: list[float]) -> str:
    return "CAST(ARRAY[" + ", ".join(f"{value!r}" for value in values) + "] AS DOUBLE PRECISION[])"
