"""Fusion, learning and evaluation on Spark beside one machine, on whole data sets: the largest differences.

``python tests/integrations/spark_cluster.py`` starts a cluster of two workers to try it on.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.errors import DataError
from studies.arrays import Floats
from studies.console import note
from studies.speed.spark import STEP, write_files
from studies.tables import Report, Table

METHODS = ("rrf", "borda", "combsum", "mc4", "copeland")  # and a jury
METRICS = ["nDCG@10", "AP"]
DEPTH = 5000  # ranks of a jury's table of points: MQ2008-agg has lists of a longer ranking
FUSED, LEARNED, EVALUATED = 1e-12, 1e-9, 1e-12  # differences that are allowed
CONNECT = "connect"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "4g",
    "spark.executor.memory": "512m",
    "spark.sql.shuffle.partitions": "8",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}


@dataclass(frozen=True)
class Finding:
    """One result of Spark next to that of one machine."""

    data: str
    what: str
    same_order: bool
    difference: float  # the largest of a number
    allowed: float

    @property
    def equal(self) -> bool:
        return self.same_order and self.difference <= self.allowed


@dataclass(frozen=True, eq=False, repr=False)
class Equality(Report):
    """All findings on one kind of Spark."""

    master: str
    findings: list[Finding]

    def tables(self) -> list[Table]:
        rows = [
            [one.data, one.what, "yes" if one.same_order else "NO", f"{one.difference:.1e}", f"{one.allowed:.0e}",
             "equal" if one.equal else "DIFFERENT"]
            for one in self.findings
        ]  # fmt: skip
        columns = ["data", "result", "same order", "largest difference", "allowed", ""]
        return [Table(f"Spark ({self.master}) next to one machine", columns, rows, n_names=2)]

    def rows(self) -> list[dict[str, Any]]:
        return [{"master": self.master, **asdict(one), "equal": one.equal} for one in self.findings]

    def to_dict(self) -> dict[str, Any]:
        return {"master": self.master, "findings": self.rows()}


def measure(folder: Path, data: Path, sets: list[str], master: str, *, quiet: bool = False) -> Equality:
    """Every result on every set; ``folder`` is for files that Spark reads."""
    with session(master) as spark:
        findings = [one for name in sets for one in compare_set(spark, name, table_of(name, folder, data), quiet=quiet)]
    return Equality(master, findings)


def table_of(name: str, folder: Path, data: Path) -> Path:
    """A Parquet file of all entries of a set, with labels."""
    file = folder / f"{name}.parquet"
    if name == RANDOM:
        add_labels(pl.read_parquet(write_files(folder, STEP)[0])).write_parquet(file)
        return file
    jr.write(SETS[name](data), file)
    frame = pl.read_parquet(file)
    if "score" in frame.columns:  # combsum needs the scores, and Spark takes one of the two
        frame.drop("rank").write_parquet(file)
    return file


def add_labels(frame: pl.DataFrame) -> pl.DataFrame:
    """Entries with random labels of their items; better scores make higher labels likelier."""
    best = frame.group_by("query", "item").agg(pl.col("score").mean()).sort("query", "item")
    noise = np.random.default_rng(0).normal(0, 0.2, best.height)
    label = np.digitize(best["score"].to_numpy() + noise, [0.6, 0.8])
    return frame.join(best.select("query", "item").with_columns(label=label), on=["query", "item"])


def read_mq2008(data: Path) -> Any:
    return jr.read([data / "MQ2008-agg" / f"Fold{k}" / "test.txt" for k in range(1, 6)])


def read_trec_covid(data: Path) -> Any:
    folder = data / "trec-covid-round1"
    return jr.read(folder / "runs", labels=folder / "qrels.txt")


RANDOM = "two-million-rows"
SETS: dict[str, Callable[[Path], Any]] = {"MQ2008-agg": read_mq2008, "trec-covid-round1": read_trec_covid}
NAMES = (*SETS, RANDOM)


def compare_set(spark: Any, name: str, file: Path, *, quiet: bool) -> Iterator[Finding]:
    """Six ways to fuse, a fit and an evaluation."""
    ours = import_module("juryrank.integrations.spark")
    df, data = spark.read.parquet(str(file)), jr.read(pl.read_parquet(file))
    found: Any = ours.fit(df, None, "jury")
    model: Any = jr.fit(data, "jury")
    difference = largest_difference(weights(found), weights(model))
    yield Finding(name, "fit jury", found.report() == model.report(), difference, LEARNED)
    lists, keys = df.drop("label"), ["query", "item"]
    for how in (*map(jr.method, METHODS), model):
        note(f"{name}: {how.name}", quiet=quiet)
        fused = pl.DataFrame(pl.from_arrow(ours.fuse(lists, how, depth=DEPTH).toArrow())).sort(keys)
        wanted = (how if how.is_fitted else how.fit(data)).predict(data).to_frame().sort(keys)
        same = fused.select(*keys, "rank").equals(wanted.select(*keys, "rank"))
        scores = [frame["score"].to_numpy() for frame in (fused, wanted)]
        yield Finding(name, f"fuse {how.name}", same, largest_difference(*scores), FUSED)
    labels = df.where("label is not null").select("query", "item", "label").distinct()
    evaluation = ours.evaluate(ours.fuse(lists, model, depth=DEPTH), labels, METRICS)
    expected = jr.evaluate(model.predict(data), data, METRICS)
    difference = largest_difference(evaluation.values, expected.values)
    yield Finding(name, "evaluate", evaluation.queries == expected.queries, difference, EVALUATED)


def largest_difference(found: Floats, wanted: Floats) -> float:
    """The largest difference, relative for numbers above 1; infinite where one has no number and the other has.

    >>> largest_difference(np.array([1.0, 200.0]), np.array([1.0, 100.0])), largest_difference(np.zeros(2), np.zeros(3))
    (1.0, inf)
    >>> largest_difference(np.array([np.nan, 0.5]), np.array([np.nan, np.nan]))
    inf
    """
    if found.shape != wanted.shape or (np.isnan(found) != np.isnan(wanted)).any():
        return np.inf
    known = ~np.isnan(wanted)
    size = np.maximum(np.abs(wanted[known]), 1.0)
    return float((np.abs(found[known] - wanted[known]) / size).max(initial=0.0))


def weights(model: Any) -> Floats:
    """All weights of all experts."""
    return np.array([list(curves.values()) for _, curves in sorted(model.expert_weights().items())])


@contextmanager
def session(master: str) -> Iterator[Any]:
    """A session on this machine (``local[2]``), on the cluster of a master, or over Spark Connect."""
    builder = import_module("pyspark.sql").SparkSession.builder
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    if master == CONNECT:
        os.environ["SPARK_TESTING"] = "1"  # so that the server takes any free port
        builder = builder.remote("local[2]").config("spark.connect.grpc.binding.address", "127.0.0.1")
    else:
        builder = builder.master(master).appName("juryrank equality")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    if (master == CONNECT) != ("connect" in type(spark).__module__):
        raise DataError(f"the session is {type(spark).__module__}, which is not what {master} asks for")
    try:
        yield spark
    finally:
        spark.stop()
