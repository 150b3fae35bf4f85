"""Apache Spark: lists in a DataFrame are fused where they are, with the same result as on one machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from copy import copy
from typing import Any, Literal

from juryrank.errors import DataError, MissingExtraError, NotFittedError, ParameterError, warn_about_data
from juryrank.integrations._spark_entries import Columns, checked_experts, summarise, unknown_expert
from juryrank.integrations._spark_evaluation import compare, evaluate
from juryrank.integrations._spark_leaderboard import leaderboard
from juryrank.integrations._spark_learning import fit
from juryrank.integrations._spark_points import MOST_EXPERTS, fuse_by_points, sql_points
from juryrank.integrations._spark_queries import MOST_ENTRIES, Work, dataset_of, map_whole_queries
from juryrank.methods import Aggregator
from juryrank.models import as_method
from juryrank.tasks.fuse.fuser import demand_options

try:
    import pyarrow as pa
    from pyspark.sql import functions as sf
    from pyspark.sql.window import Window
except ImportError as error:
    raise MissingExtraError.of("spark", "juryrank.integrations.spark needs pyspark and pyarrow") from error

__all__ = ["compare", "evaluate", "fit", "fuse", "leaderboard", "summarise"]

DEPTH = 1000  # ranks of a table of points by default: as deep as TREC runs go
RESULT = ("score", "rank")

Engine = Literal["auto", "sql", "arrow"]


def fuse(
    df: Any,
    model: Aggregator | str | os.PathLike[str] = "rrf",
    *,
    top: int | None = None,
    query: str = "query",
    item: str = "item",
    expert: str = "expert",
    rank: str | None = None,
    score: str | None = None,
    experts: Sequence[str] | None = None,
    engine: Engine = "auto",
    repartition: bool = True,
    depth: int = DEPTH,
    most_entries: int = MOST_ENTRIES,
    **params: Any,
) -> Any:
    """A DataFrame of query, item, score and rank: the consensus of the lists in ``df``, one row per entry.

    ``model`` is a fitted method, the path of a saved one, or the name of a method with its parameters. Scores, ranks
    and the choice of ``top`` items per query are those of ``juryrank.read`` and ``predict`` on the same rows; tied
    items share a rank. ``query``, ``item``, ``expert``, and ``rank`` or ``score`` name the columns.

    Sums of points (rrf, borda, jury and others) become expressions of Spark SQL (``engine="sql"``); other methods run
    in Python on whole queries (``engine="arrow"``), of at most ``most_entries`` rows each. ``experts`` are the names in
    the DataFrame; without them, one pass over it finds them and counts what is dropped. ``repartition=False`` leaves
    shuffles to Spark, which needs none where it knows that ``df`` is partitioned by query. ``depth`` is the deepest
    rank of a list, for methods whose points are a table.
    """
    demand_options("score", top)
    if engine not in ("auto", "sql", "arrow"):
        raise ParameterError(f"engine must be 'auto', 'sql' or 'arrow', got {engine!r}")
    method = _fusable(as_method(model, params))
    columns = Columns.find(df, query=query, item=item, expert=expert, rank=rank, score=score)
    if clash := {query, item} & set(RESULT):
        raise ParameterError(f"the result has columns 'score' and 'rank': rename the column {clash.pop()!r} first")
    names = columns.experts_of(df) if experts is None else checked_experts(experts)
    _warn_of_experts(method, names)
    how = None if engine == "arrow" else sql_points(method, depth)
    if engine == "sql" and how is None:
        raise ParameterError(
            f"{method.name} with these parameters is not a sum of points in SQL; engine='arrow' runs it"
        )
    entries = columns.named_entries(df)
    if how is not None and (len(names) <= MOST_EXPERTS or engine == "sql"):
        ascending = columns.kind == "rank"
        scored = fuse_by_points(entries, names, how, ascending=ascending, repartition=repartition)
        fused = _ranked(scored, top)
    else:
        if experts is not None:
            known = sf.col("expert").isNull() | sf.col("expert").isin(names)
            entries = entries.withColumn("expert", sf.when(known, sf.col("expert")).otherwise(unknown_expert()))
        fused = _fuse_in_python(entries, method, columns, top, most_entries)
    return fused.select(sf.col("query").alias(query), sf.col("item").alias(item), *RESULT)


def _fusable(model: Aggregator) -> Aggregator:
    """The method, or an error where it cannot rank one query after the other."""
    if model.learns and not model.is_fitted:
        raise NotFittedError(f"{model.name} must be fitted before it fuses; fit it with juryrank.fit, or load a model")
    if model.needs_features:
        raise DataError(f"{model.name} needs features of items, which a DataFrame of lists does not have")
    return model


def _warn_of_experts(method: Aggregator, names: Sequence[str]) -> None:
    """The warnings of ``predict`` about experts, for all queries at once."""
    method.demand_a_weight(names)
    for message in filter(None, (method.unknown_weights(names), method.unseen_experts(names))):
        warn_about_data(message)


def _ranked(scored: Any, top: int | None) -> Any:
    """The rows with ranks, equal scores sharing one; the best ``top`` of each query, equal scores by name."""
    best_first = Window.partitionBy("query").orderBy(sf.col("score").desc())
    if top is not None:
        by_name = Window.partitionBy("query").orderBy(sf.col("score").desc(), sf.col("item").cast("string"))
        scored = scored.withColumn("place", sf.row_number().over(by_name))
    ranked = scored.withColumn("rank", sf.rank().over(best_first).cast("long"))
    return ranked if top is None else ranked.where(sf.col("place") <= top)


def _fuse_in_python(entries: Any, method: Aggregator, columns: Columns, top: int | None, most_entries: int) -> Any:
    types = {name: entries.schema[name].dataType for name in ("query", "item")}
    texts = entries.select(
        sf.col("query").cast("string").alias("query"),
        sf.col("item").cast("string").alias("item"),
        "expert",
        sf.col("value").alias(columns.kind),
    )
    schema = "query string, item string, score double, rank long"
    fused = map_whole_queries(texts, _ranker(method, top), schema, most_entries=most_entries)
    return fused.select(*(sf.col(name).cast(kind).alias(name) for name, kind in types.items()), *RESULT)


def _ranker(method: Aggregator, top: int | None) -> Work:
    """What ranks the queries of a table, on an executor."""

    def rank(table: pa.Table) -> pa.Table:
        data = dataset_of(table)
        here = method.for_experts(data.experts)  # an expert may have lists in other queries alone
        fitted = here if here.is_fitted else copy(here).fit(data)
        frame = fitted.predict(data, warn_unknown=False).to_frame(top)
        arrow = frame.select("query", "item", "score", "rank").to_arrow()
        return arrow.cast(
            pa.schema([(name, _plain_type(arrow.schema.field(name).type)) for name in arrow.column_names])
        )

    return rank


def _plain_type(kind: Any) -> Any:
    """The type as Spark takes it: text as string, not as large_string or string_view."""
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
