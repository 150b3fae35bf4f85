"""Fusion on Spark beside a query written by hand, polars and DuckDB, on the same Parquet files of several sizes."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies.speed.clock import Effort, Timing
from studies.speed.inputs import Inputs
from studies.speed.peers import load, silent
from studies.speed.queries import duckdb_rrf, polars_rrf
from studies.speed.table import Results, Row
from studies.speed.targets import Target, at_most_times, times

EXPERTS, LENGTH, POOL, STEP = 10, 100, 300, 2_000  # STEP queries in a file: 2 million rows
SIZES = {Effort.QUICK: (20_000, 40_000), Effort.USUAL: (2_000_000, 20_000_000)}  # rows; the last is compared
LARGEST = (2_000_000, 20_000_000, 60_000_000)  # with --slow
FACTORS = {"rrf": 1.2, "jury": 1.2, "combsum": 2.0, "mc4": 2.0}  # of the CPU of the query by hand
COMPARED = ("rrf", "borda", "combsum", "mc4", "copeland")  # and a jury: with one machine, on the first file
LINEAR = 1.3  # the CPU of a row in the largest size, as a multiple of that in the smallest
HAND = "Spark SQL by hand"
BY_HAND = """
    WITH ranked AS (
        SELECT query, item, rank() OVER (PARTITION BY query, expert ORDER BY score DESC) AS rank FROM entries
    ), fused AS (SELECT query, item, sum(1 / (60 + rank)) AS score FROM ranked GROUP BY query, item)
    SELECT query, item, score, rank() OVER (PARTITION BY query ORDER BY score DESC) AS rank FROM fused
"""

Way = Callable[[list[Path], int], None]  # fuses so many rows of the files


@dataclass(frozen=True)
class Session:
    """A session of Spark, and the seconds of CPU of its processes."""

    spark: Any

    def cpu(self) -> float:
        """Of this process and all that it has started: the JVM, and the workers in Python."""
        return time.process_time() + sum(map(cpu_of, descendants(os.getpid())))

    def timed(self, way: Way, files: list[Path], size: int) -> Timing:
        """One call, by clock and by CPU."""
        start, busy = time.perf_counter(), self.cpu()
        way(files, size)
        return Timing(None, time.perf_counter() - start, 1, self.cpu() - busy)


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Every way on every size, after a small run of it that compiles; results are compared with one machine."""
    missing = next((name for name in ("pyspark", "pyarrow", "duckdb") if load(name) is None), None)
    if missing is not None or shutil.which("java") is None:
        return [], [Target("fusion on Spark", "–", None, peer=f"{missing or 'Java'} is not installed")]
    sizes = LARGEST if effort is Effort.SLOW else SIZES[effort]
    files = write_files(inputs.folder / "spark", sizes[-1])
    with silent():
        session = Session(start_session())
    try:
        ways = ways_of(session.spark, small := files[:1])
        for way in ways.values():
            way(small, min(sizes[0], 200_000))
        found = {size: {name: session.timed(way, files, size) for name, way in ways.items()} for size in sizes}
        agree = same_results(session.spark, files[0], effort)
    finally:
        session.spark.stop()
    return rows_of(found, agree), targets_of(found, agree)


def rows_of(found: dict[int, dict[str, Timing]], agree: bool) -> list[Row]:
    """Our ways of fusing beside all others, at every size."""
    text = "six methods as on one machine" if agree else "OTHER SCORES"
    return [
        Row(task_of(ours, size), peer, timings[ours], timings[peer], text, agree)
        for size, timings in found.items()
        for ours in FACTORS
        for peer in (HAND, "polars", "duckdb")
    ]


def targets_of(found: dict[int, dict[str, Timing]], agree: bool) -> list[Target]:
    """The limits of the largest comparison, and that every way grows linearly."""
    sizes, targets = list(found), []
    rows, size = rows_of(found, agree), sizes[min(1, len(sizes) - 1)]
    for name, factor in FACTORS.items():
        target = f"{name} takes at most {factor:g} × the CPU of {HAND}"
        targets += at_most_times(target, rows, [task_of(name, size)], HAND, factor)
    for name in FACTORS:
        first, last = (found[n][name].cpu or 0.0 for n in (sizes[0], sizes[-1]))
        growth = (last / sizes[-1]) / (first / sizes[0])
        text = f"{name}: CPU per row from {sizes[0]:,} to {sizes[-1]:,} rows grows at most {LINEAR:g} ×"
        targets.append(Target(text, "–", growth <= LINEAR, times(growth), growth <= LINEAR))
    return targets


def task_of(name: str, size: int) -> str:
    return f"{name} on Spark, {size:,} rows of Parquet"


def write_files(folder: Path, rows: int) -> list[Path]:
    """Parquet files of 10 lists of 100 of 300 items for each query; those that exist are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{part:03}.parquet" for part in range(-(-rows // (STEP * EXPERTS * LENGTH)))]
    for part, file in enumerate(files):
        if file.exists():
            continue
        rng, n = np.random.default_rng(part), STEP * EXPERTS
        items = np.argsort(rng.random((n, POOL), np.float32), axis=1)[:, :LENGTH].ravel()
        number = pl.Series("query", part * STEP + np.repeat(np.arange(STEP), EXPERTS * LENGTH))
        frame = pl.DataFrame({"query": number, "item": items})
        expert = np.tile(np.repeat(np.arange(EXPERTS), LENGTH), STEP)
        frame = frame.with_columns(expert=expert, score=rng.random(n * LENGTH))
        frame.select(
            pl.format("q{}", "query").alias("query"),
            pl.format("document-{}", "item").alias("item"),
            pl.format("e{}", "expert").alias("expert"),
            "score",
        ).sample(fraction=1.0, shuffle=True, seed=part).write_parquet(file)
    return files


def ways_of(spark: Any, small: list[Path]) -> dict[str, Way]:
    """What is timed, by name."""
    fuse = import_module("juryrank.integrations.spark").fuse
    model = learned_model(small[0])

    def rows(files: list[Path], size: int) -> Any:
        per_file = STEP * EXPERTS * LENGTH
        read = spark.read.parquet(*map(str, files[: -(-size // per_file)]))
        return read if size >= per_file else read.limit(size)

    def ours(how: Any) -> Way:
        return lambda files, size: discard(fuse(rows(files, size), how))

    def by_hand(files: list[Path], size: int) -> None:
        rows(files, size).createOrReplaceTempView("entries")
        discard(spark.sql(BY_HAND))

    def by_polars(files: list[Path], size: int) -> None:
        names = files[: -(-size // (STEP * EXPERTS * LENGTH))]
        polars_rrf(pl.scan_parquet(names).head(size)).collect()

    def by_duckdb(files: list[Path], size: int) -> None:
        names = [str(file) for file in files[: -(-size // (STEP * EXPERTS * LENGTH))]]
        with load_duckdb().connect() as connection:
            query = duckdb_rrf(f"(select * from read_parquet({names!r}) limit {size})")
            connection.execute(f"create temp table fused as {query} order by query, score desc, item")

    named = {name: ours(model if name == "jury" else name) for name in FACTORS}
    return {HAND: by_hand, **named, "polars": by_polars, "duckdb": by_duckdb}


def load_duckdb() -> Any:
    return import_module("duckdb")


def discard(df: Any) -> None:
    """Compute all rows and write them nowhere."""
    df.write.format("noop").mode("overwrite").save()


def learned_model(file: Path) -> Any:
    """A jury of random labels, whose points are a table."""
    some = pl.read_parquet(file).filter(pl.col("query").is_in([f"q{n}" for n in range(20)]))
    pairs = some.select("query", "item").unique().sort("query", "item")
    labels = pairs.with_columns(label=np.random.default_rng(1).integers(0, 3, pairs.height))
    return jr.fit(some, "jury", labels=labels)


def same_results(spark: Any, file: Path, effort: Effort) -> bool:
    """Whether the items, ranks and scores (to 1e-12) of a file are those of juryrank on one machine."""
    fuse = import_module("juryrank.integrations.spark").fuse
    ending, keys = "7" if effort is Effort.QUICK else "", ["query", "item"]
    rows = spark.read.parquet(str(file)).where(f"query LIKE '%{ending}'")
    data = jr.read(pl.read_parquet(file).filter(pl.col("query").str.ends_with(ending)))
    for how in (*map(jr.method, COMPARED), learned_model(file)):
        found = pl.DataFrame(pl.from_arrow(fuse(rows, how).toArrow())).sort(keys)
        fitted = how if how.is_fitted else how.fit(data)
        wanted = fitted.predict(data).to_frame().sort(keys)
        same = found.select(*keys, "rank").equals(wanted.select(*keys, "rank"))
        if not same or not np.allclose(found["score"], wanted["score"], rtol=1e-12, atol=1e-12):
            return False
    return True


def start_session() -> Any:
    """Two cores of this machine, on loopback alone."""
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[2]").appName("juryrank bench")
    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "6g", "spark.driver.host": "127.0.0.1"}
    for name, value in {**settings, "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR"}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def descendants(parent: int) -> list[int]:
    """The processes that a process has started, and those that they have started."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found, new = [], [parent]
    while new:
        new = [child for one in new for child in children.get(one, [])]
        found += new
    return found


def cpu_of(process: int) -> float:
    """Seconds of CPU of a process and of its children that have ended."""
    fields = _stat(process)
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") if fields else 0.0


def _stat(process: int) -> list[str]:
    """The fields after the name in Linux' report of a process; none if it has ended."""
    try:
        return re.sub(r".*\)", "", Path(f"/proc/{process}/stat").read_text(), flags=re.DOTALL).split()
    except OSError:
        return []
