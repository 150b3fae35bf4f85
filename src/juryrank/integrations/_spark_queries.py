"""Whole queries of a Spark DataFrame through mapInArrow: one shuffle by query, none where Spark knows of one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from juryrank.data import Dataset
from juryrank.errors import DataError, MissingExtraError
from juryrank.io.rows import SLOT, Rows
from juryrank.polars import pl

try:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyspark.sql import functions as sf
    from pyspark.sql.window import Window
except ImportError as error:
    raise MissingExtraError.of("spark", "juryrank.integrations.spark needs pyspark and pyarrow") from error

AT_ONCE = 1 << 18  # entries that Python handles at a time, which limits the memory of a task
MOST_ENTRIES = 5_000_000  # of one query, some 1 GB in a task
ROWS = "rows of the query"  # the name of a column

Work = Callable[[pa.Table], pa.Table]


def map_whole_queries(
    df: Any,
    work: Work,
    schema: Any,
    *,
    query: str = "query",
    at_once: int = AT_ONCE,
    most_entries: int = MOST_ENTRIES,
) -> Any:
    """A DataFrame of what ``work`` makes of the rows of ``df``, given as pyarrow Tables of whole queries.

    ``work`` is sent to the executors, where it is called with about ``at_once`` rows at a time, sorted by the column
    ``query`` and never with a part of a query; the result is a Table with the columns of ``schema`` in that order. A
    query with more than ``most_entries`` rows is an error, because one task must hold it in memory.
    """
    # A window over queries asks Spark for the rows of a query in one place and in one piece: Spark shuffles and sorts
    # only where the DataFrame is not partitioned or sorted like that already.
    counted = df.withColumn(ROWS, sf.count(sf.lit(1)).over(Window.partitionBy(sf.col(quoted(query)))))
    message = sf.format_string(
        f"juryrank: query %s has %d entries, more than most_entries={most_entries}: one task holds all entries of a "
        "query in memory; shorten the lists, or raise most_entries and the memory of the executors",
        sf.col(quoted(query)).cast("string"),
        sf.col(ROWS),
    )
    kept = sf.when(sf.col(ROWS) > most_entries, sf.raise_error(message)).otherwise(sf.col(quoted(query)))
    whole = counted.select(*(kept.alias(name) if name == query else quoted(name) for name in df.columns))

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        use_one_core()
        for table in regroup(batches, query, at_once):
            yield from work(table).to_batches()

    return whole.mapInArrow(run, schema)


def regroup(batches: Iterator[pa.RecordBatch], query: str, at_once: int) -> Iterator[pa.Table]:
    """Tables of whole queries with about ``at_once`` rows, of batches in which the rows of a query are together."""
    held: list[pa.RecordBatch] = []
    n_held = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        held.append(batch)
        n_held += batch.num_rows
        if n_held < at_once:
            continue
        start = _start_of_last_query(batch[query])
        if start == 0 and (len(held) == 1 or held[-2][query][-1].equals(batch[query][0])):
            continue  # the last query began earlier: it goes on until the next one begins
        yield pa.Table.from_batches([*held[:-1], batch.slice(0, start)])
        held, n_held = [batch.slice(start)], batch.num_rows - start
    if held:
        yield pa.Table.from_batches(held)


def _start_of_last_query(names: pa.Array) -> int:
    """Where the last query of a batch begins."""
    others = pc.not_equal(names, names[-1])
    last: int = len(names) - 1 - pc.index(others[::-1], pa.scalar(True)).as_py() if pc.any(others).as_py() else -1
    return last + 1


def use_one_core() -> None:
    """Let polars and the kernels of this process use one thread, as Spark counts a task as one core."""
    for name in ("POLARS_MAX_THREADS", "JURYRANK_THREADS"):
        os.environ.setdefault(name, "1")


def dataset_of(table: pa.Table) -> Dataset:
    """The Dataset of entries with the columns query, item, expert, and rank or score, as ``juryrank.read`` has it.

    A row without an expert or a number is an item that no list ranks. Names are text.
    """
    rows = pl.DataFrame(pl.from_arrow(table))
    value = "rank" if "rank" in rows.columns else "score"
    expert = pl.when(pl.col("expert") != "").then(pl.col("expert"))
    rows = rows.with_columns(expert=expert, **{value: pl.col(value).fill_nan(None)})
    is_entry = rows["expert"].is_not_null() & rows[value].is_not_null()
    rest = None if is_entry.all() else rows.filter(~is_entry).select(SLOT).unique(maintain_order=True)
    return Rows(name="the DataFrame", entries=rows.filter(is_entry), candidates=rest).build()


def quoted(name: str) -> str:
    """A column's name for ``col``, where a dot would be a field of a structure."""
    return "`" + name.replace("`", "``") + "`"


def demand_spark(df: Any, source: str = "the DataFrame") -> None:
    """A DataError for what is no DataFrame of Spark."""
    if not hasattr(df, "mapInArrow"):
        table = "; spark.createDataFrame makes one, and juryrank without Spark takes other tables"
        given = f"{type(df).__name__} of {type(df).__module__.partition('.')[0]}"
        raise DataError(f"{source} must be a DataFrame of Spark, got {given}{table if hasattr(df, 'columns') else ''}")


def demand_columns(df: Any, wanted: dict[str, str]) -> None:
    """A DataError for the first of the columns (by what they mean) that a DataFrame does not have."""
    demand_spark(df)
    for word, name in wanted.items():
        if name not in df.columns:
            raise DataError(f"the DataFrame has no column {name!r} for the {word}; columns are {', '.join(df.columns)}")
