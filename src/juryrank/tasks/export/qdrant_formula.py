"""The exact points of a model as a formula query of Qdrant.

A formula is computed from ``$score[n]``, the score of the n-th prefetch. Where that prefetch is an RRF of a single list
with k = 1, the score is 1 / rank, so that a formula can be any function of the ranks; it is 0 by default, for points
that the list does not contain.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.tasks.export.table import PositionTable

TOLERANCE = 1e-10  # of the largest points: how close the curves below must be to count as equal
NEGLIGIBLE = 1e-12  # of the largest points: terms that are left out
RECIPROCALS = (60.0, 10.0)  # constants of the curves c / (c + rank) of jury and rrf
LOG_CONSTANT = 100.0  # of the curve log(1 + c / rank) of jury


def to_formula(table: PositionTable) -> str:
    """The request, with ``<query of EXPERT>`` where the query of each expert goes."""
    prefetch = [ranks_of({"query": f"<query of {name}>", "limit": table.depth}, table.depth) for name in table.experts]
    whole = {
        "for": "Qdrant 1.16 or newer, a collection of one shard: body of POST /collections/<name>/points/query",
        "exact": table.holds,
        "request": {"prefetch": prefetch, "query": formula_query(table.points)},
    }
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def ranks_of(search: Any, limit: int) -> dict[str, Any]:
    """A prefetch whose scores are 1 / rank in the list of another."""
    return {"prefetch": [search], "query": {"rrf": {"k": 1}}, "limit": limit}


def formula_query(points: Sequence[Floats] | Floats) -> dict[str, Any]:
    """The formula whose value is the sum of the points; the n-th prefetch has the ranks of the n-th list."""
    terms = [term for n, curve in enumerate(points) for term in _terms(curve, f"$score[{n}]")]
    return {"formula": {"sum": terms}, "defaults": {f"$score[{n}]": 0.0 for n in range(len(points))}}


def _terms(curve: Floats, score: str) -> list[Any]:
    """Terms that sum to the points of a rank, and to 0 where the score is 0."""
    rank = np.arange(1.0, len(curve) + 1)
    reciprocals = [c / (c + rank) for c in RECIPROCALS]
    columns = np.column_stack([*reciprocals, np.log1p(LOG_CONSTANT / rank), np.ones(len(curve))])
    weights = np.linalg.lstsq(columns, curve, rcond=None)[0]
    largest = np.abs(curve).max()
    if np.abs(columns @ weights - curve).max() > TOLERANCE * largest:
        return [{"mult": [_is_listed(score), {"sum": _line_terms(curve, score)}]}]
    expressions = [*(_reciprocal(score, c) for c in RECIPROCALS), _logarithm(score), _is_listed(score)]
    return [
        {"mult": [float(w), expression]}
        for w, expression in zip(weights, expressions, strict=True)
        if abs(w) > NEGLIGIBLE * largest
    ]


def _is_listed(score: str) -> dict[str, Any]:
    return {"div": {"left": score, "right": score, "by_zero_default": 0.0}}


def _reciprocal(score: str, constant: float) -> dict[str, Any]:
    """c / (c + rank) as c s / (c s + 1)."""
    scaled = {"mult": [constant, score]}
    return {"div": {"left": scaled, "right": {"sum": [1.0, scaled]}}}


def _logarithm(score: str) -> dict[str, Any]:
    return {"ln": {"sum": [1.0, {"mult": [LOG_CONSTANT, score]}]}}


def _line_terms(curve: Floats, score: str) -> list[Any]:
    """Any curve: straight lines between whole ranks, as a + b rank + the sum of h_j |rank - j|."""
    steps = np.diff(curve)
    bends = np.diff(steps) / 2  # h_j for j = 2, 3, …
    kept = np.flatnonzero(np.abs(bends) > NEGLIGIBLE * np.abs(curve).max())
    first = steps[0] if len(steps) else 0.0
    slope = first + bends[kept].sum()
    start = curve[0] - first - (bends[kept] * (kept + 2)).sum()
    rank = {"div": {"left": 1.0, "right": score, "by_zero_default": 1.0}}
    turns = [{"mult": [float(bends[n]), {"abs": {"sum": [-float(n + 2), rank]}}]} for n in kept]
    return [float(start), {"mult": [float(slope), rank]}, *turns]
