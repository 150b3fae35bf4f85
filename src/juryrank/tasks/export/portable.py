"""Position tables for any language: JSON, CSV, a Python function."""

from __future__ import annotations

import json

from juryrank.errors import DataError
from juryrank.report import csv_text
from juryrank.tasks.export.table import PositionTable

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
