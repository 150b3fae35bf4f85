"""The same fusion as a query of polars and of DuckDB, from files or frames to a TREC file or a Parquet table."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl

SCHEMA = {
    "query": pl.String, "iteration": pl.String, "item": pl.String, "rank": pl.Float64, "score": pl.Float64,
    "expert": pl.String,
}  # fmt: skip


def polars_rows(files: Sequence[Path]) -> pl.LazyFrame:
    """The rows of TREC runs or Parquet tables."""
    if files[0].suffix == ".parquet":
        return pl.scan_parquet(list(files))
    return pl.scan_csv(list(files), has_header=False, separator=" ", quote_char=None, schema=SCHEMA)


def polars_scan(files: Sequence[Path]) -> pl.DataFrame:
    """Parsing only: every column of every row is summed, so that nothing is stored."""
    sizes = [pl.col(name).str.len_bytes().sum() for name in ("query", "item", "expert")]
    return polars_rows(files).select(*sizes, pl.col("score").sum()).collect(engine="streaming")


def polars_rrf(rows: pl.LazyFrame) -> pl.LazyFrame:
    """query, item, score in order."""
    rank = pl.col("score").rank("min", descending=True).over("query", "expert")
    summed = rows.select("query", "item", score=1 / (60 + rank)).group_by("query", "item").agg(pl.col("score").sum())
    return summed.sort("query", "score", "item", descending=[False, True, False])


def polars_to_file(files: Sequence[Path], out: Path) -> Path:
    """From files to a TREC file or a Parquet table by polars."""
    place = (pl.int_range(pl.len()).over("query") + 1).alias("rank")
    rows = polars_rrf(polars_rows(files))
    if out.suffix == ".parquet":
        rows.select("query", "item", place, "score").collect().write_parquet(out)
        return out
    ranked = rows.select(
        "query", pl.lit("Q0").alias("iteration"), "item", place, "score", pl.lit("polars").alias("expert")
    )
    ranked.collect().write_csv(out, include_header=False, separator=" ", quote_style="never")
    return out


def duckdb_to_file(files: Sequence[Path], out: Path) -> Path:
    """From files to a TREC file or a Parquet table by DuckDB."""
    names = [str(file) for file in files]
    columns = {name: "DOUBLE" if kind == pl.Float64 else "VARCHAR" for name, kind in SCHEMA.items()}
    csv = f"read_csv({names!r}, header=false, delim=' ', quote='', escape='', auto_detect=false, columns={columns!r})"
    rows = f"read_parquet({names!r})" if files[0].suffix == ".parquet" else csv
    connection = import_module("duckdb").connect()
    form = "format parquet" if out.suffix == ".parquet" else "header false, delimiter ' ', quote ''"
    connection.execute(
        f"copy (with ranked as ({duckdb_rrf(rows)}) "
        "select query, 'Q0' as iteration, item, "
        "row_number() over (partition by query order by score desc, item) as place, score, "
        f"'duckdb' as expert from ranked order by query, place) to '{out}' ({form})"
    )
    return out


def duckdb_rrf(rows: str) -> str:
    """The query for query, item, score."""
    return (
        "select query, item, sum(points) as score from (select query, item, "
        f"1.0 / (60 + rank() over (partition by query, expert order by score desc)) as points from {rows}) group by all"
    )


def scores_of(frame: Any) -> dict[str, dict[str, float]]:
    """Rows of query, item, score as dicts."""
    scores: dict[str, dict[str, float]] = {}
    for query, item, score in frame.iter_rows():
        scores.setdefault(str(query), {})[str(item)] = score
    return scores
