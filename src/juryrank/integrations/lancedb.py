"""LanceDB: a model or method of juryrank as the reranker of a hybrid search."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from juryrank.errors import DataError, MissingExtraError, ParameterError, unknown_names
from juryrank.integrations._retrieval import make_fuser
from juryrank.methods import Aggregator
from juryrank.tasks.fuse.fuser import demand_options

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    from lancedb.rerankers import Reranker
except ImportError as error:
    raise MissingExtraError.of("lancedb", "juryrank.integrations.lancedb needs lancedb") from error

ROW_ID, DISTANCE, SCORE, RELEVANCE = "_rowid", "_distance", "_score", "_relevance_score"
SCORES = (DISTANCE, SCORE)
HYBRID = ("vector", "fts")  # the experts of a hybrid search, in LanceDB's words
NOTHING = pa.table({})  # the result of a search that did not take place


class JuryReranker(Reranker):
    """Orders the rows that several searches of a table have found by a fitted model, or by a method.

    ``model`` is a fitted method or the path of a saved one; ``method`` the name of a method (``rrf`` by default), with
    its ``weights`` and parameters. ``experts`` are the names of the vector search and of the full-text search in the
    model and in ``weights``. ``top`` is the number of rows to return; by default all rows of the lists.
    ``return_score="all"`` keeps the columns ``_distance`` and ``_score``.
    """

    def __init__(
        self,
        model: Aggregator | str | os.PathLike[str] | None = None,
        method: str | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        experts: Sequence[str] | None = None,
        top: int | None = None,
        return_score: str = "relevance",
        **params: Any,
    ) -> None:
        if return_score not in ("relevance", "all"):
            raise ParameterError(f"return_score must be 'relevance' or 'all', got {return_score!r}")
        super().__init__(return_score)
        self._fuser = make_fuser(model, method, weights=weights, **params)
        self._experts = None if experts is None else _checked_names(experts)
        self._weights = weights or {}
        self._demand_lists_of_weights()
        demand_options("score", top)
        self._top = top

    def __str__(self) -> str:
        return f"JuryReranker({self._fuser!r})"

    def rerank_hybrid(self, query: str, vector_results: pa.Table, fts_results: pa.Table) -> pa.Table:
        """The rows of both searches, best first, with the fused score in ``_relevance_score``."""
        vector, fts = self._names(HYBRID)
        return self._rerank({vector: vector_results, fts: fts_results})

    def rerank_vector(self, query: str, vector_results: pa.Table) -> pa.Table:
        """The rows of a vector search, as if a full-text search had found nothing."""
        vector, fts = self._names(HYBRID)
        return self._rerank({vector: vector_results, fts: NOTHING})

    def rerank_fts(self, query: str, fts_results: pa.Table) -> pa.Table:
        """The rows of a full-text search, as if a vector search had found nothing."""
        vector, fts = self._names(HYBRID)
        return self._rerank({vector: NOTHING, fts: fts_results})

    def rerank_multivector(
        self, vector_results: Sequence[Any], query: str | None = None, deduplicate: bool = True
    ) -> pa.Table:
        """The rows of several searches: tables with ``_rowid``, or queries that are not yet executed.

        The names of the lists are ``experts``, or vector1, vector2, … A row is always returned once.
        """
        tables = [one if isinstance(one, pa.Table) else one.to_arrow() for one in vector_results]
        if not tables:
            raise DataError("rerank_multivector needs the results of at least one search, got an empty list")
        names = self._names([f"vector{n}" for n in range(1, len(tables) + 1)])
        return self._rerank(dict(zip(names, tables, strict=True)))

    def _names(self, default: Sequence[str]) -> Sequence[str]:
        if self._experts is None:
            return default
        if len(self._experts) != len(default):
            raise ParameterError(
                f"experts must have one name for each of the {len(default)} lists, got {', '.join(self._experts)}"
            )
        return self._experts

    def _demand_lists_of_weights(self, names: Sequence[str] | None = None) -> None:
        """An error for weights of no list; without ``names``, of none that a search can have."""
        known = names or self._experts or HYBRID
        unknown = self._weights.keys() - set(known)
        if not names and not self._experts and all(map(re.compile(r"vector[1-9]\d*").fullmatch, unknown)):
            return  # of rerank_multivector
        if unknown:
            raise ParameterError(
                f"weights of no list: {unknown_names(unknown, known)}; experts= gives the lists other names"
            )

    def _rerank(self, found: Mapping[str, pa.Table]) -> pa.Table:
        """The rows of all lists in the order of their fused scores."""
        self._demand_lists_of_weights(list(found))
        tables = list(found.values())
        ids = _row_ids(tables)
        lists = ids if not self._fuser.uses_scores else list(map(_scored, ids, tables))
        fused = self._fuser(dict(zip(found, lists, strict=True)), top=self._top)
        rows = pa.concat_tables([_without(table, SCORES) for table in tables], promote_options="default")
        ranked = rows.take(_places(ids, fused))
        if self.score == "all":
            for column in SCORES:
                ranked = _with_column(ranked, column, ids, tables, fused)
        return ranked.append_column(RELEVANCE, pa.array(list(fused.values()), pa.float32()))


def _checked_names(experts: Sequence[str]) -> list[str]:
    names = [experts] if isinstance(experts, str) else list(experts)
    if isinstance(experts, str) or len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        raise ParameterError(f"experts must be different names, one for each list, such as {HYBRID}, got {experts!r}")
    return names


def _row_ids(tables: Sequence[pa.Table]) -> list[list[int]]:
    """The ids of the rows of every table; those of a single search can do without."""
    for table in tables:
        if "query_index" in table.column_names:
            raise DataError(
                "the results of several query vectors are in one list (column query_index), which cannot be ranked; "
                "search with one vector, or give each result to rerank_multivector"
            )
    filled = [table for table in tables if table.num_rows]
    if len(filled) > 1 and not all(ROW_ID in table.column_names for table in filled):
        raise DataError(
            "rows are identified by the column _rowid, which is missing: add .with_row_id(True) to each search"
        )
    return [
        table[ROW_ID].to_pylist() if ROW_ID in table.column_names else list(range(table.num_rows)) for table in tables
    ]


def _scored(ids: list[int], table: pa.Table) -> list[tuple[int, float]]:
    """Pairs of row and score, higher is better; a smaller distance is better."""
    if not ids:
        return []
    if DISTANCE in table.column_names:
        scores = pc.negate(table[DISTANCE])
    elif SCORE in table.column_names:
        scores = table[SCORE]
    else:
        raise DataError(
            f"the method needs scores, but the rows have no column _distance or _score: {table.column_names}"
        )
    return list(zip(ids, scores.to_pylist(), strict=True))


def _without(table: pa.Table, columns: Iterable[str]) -> pa.Table:
    return table.drop_columns([column for column in columns if column in table.column_names])


def _places(ids: Iterable[list[int]], rows: Iterable[int]) -> pa.Array:
    """Where each row is first found in the concatenated lists; null where it is in none."""
    first: dict[int, int] = {}
    for place, row in enumerate(chain.from_iterable(ids)):
        first.setdefault(row, place)
    return pa.array([first.get(row) for row in rows], pa.int64())


def _with_column(
    ranked: pa.Table, column: str, ids: Sequence[list[int]], tables: Sequence[pa.Table], rows: Iterable[int]
) -> pa.Table:
    """The ranked rows with a column of the first list that has it and the row; null where there is no such list."""
    having = [n for n, table in enumerate(tables) if column in table.column_names]
    if not having:
        return ranked
    values = pa.chunked_array(
        [chunk for n in having for chunk in tables[n][column].chunks], tables[having[0]][column].type
    )
    return ranked.append_column(column, values.take(_places([ids[n] for n in having], rows)))
