"""Models that leave juryrank: tables for any language, weights for search engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from juryrank.errors import DataError, UnknownNameError
from juryrank.methods import Aggregator
from juryrank.models import labelled_dataset
from juryrank.tasks.export.portable import to_csv, to_json, to_python
from juryrank.tasks.export.qdrant_formula import to_formula
from juryrank.tasks.export.sql import to_sql
from juryrank.tasks.export.sqlite import to_sqlite
from juryrank.tasks.export.table import PositionTable, has_table, position_table

__all__ = ["ENGINES", "PORTABLE", "PositionTable", "export", "has_table", "position_table"]

PORTABLE = {
    "csv": to_csv,
    "json": to_json,
    "python": to_python,
    "qdrant-formula": to_formula,
    "sql": to_sql,
    "sqlite": to_sqlite,
}
ENGINES = ("elasticsearch", "opensearch", "qdrant")


def export(
    model: Aggregator,
    to: str,
    *,
    data: Any = None,
    labels: Any = None,
    depth: int | None = None,
    items: int | None = None,
    experts: Sequence[str] | None = None,
) -> str:
    """The text of a fitted model for another system.

    ``json``, ``csv``, ``python``, ``sql`` and ``sqlite`` are exact for ranks up to ``depth`` (1000 by default, at most
    10 million points in all; if the points of a method depend on them, for lists of ``depth`` items in queries of
    ``items``). ``elasticsearch``, ``opensearch`` and ``qdrant`` take only weights: they get the nearest weighted RRF
    over the lists of ``data``, with a report of the loss; ``data`` and ``labels`` are what ``fit`` takes. ``experts``
    names those that may have a weight; OpenSearch takes at most five. ``qdrant-formula`` has the points of all experts
    as a formula, exact in collections of one shard.
    """
    if to not in PORTABLE and to not in ENGINES:
        raise UnknownNameError.of("export", to, [*PORTABLE, *ENGINES])
    given = None if data is None else labelled_dataset(data, labels)
    if to in PORTABLE:
        if experts is not None:
            raise DataError(f"experts chooses whose weights are fitted, and {to} has the points of all; leave it out")
        return PORTABLE[to](position_table(model, () if given is None else given.experts, depth, items))
    if depth is not None or items is not None:
        raise DataError(f"depth and items are sizes of a table, and {to} takes only weights; leave them out")
    if given is None:
        raise DataError(f"weights for {to} are fitted to lists: give data, with labels if the loss should be measured")
    from juryrank.tasks.export.engines import nearest_rrf
    from juryrank.tasks.export.requests import to_request

    return to_request(nearest_rrf(model, given, to, experts=experts))
