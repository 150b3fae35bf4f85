"""Fusions against one machine, in a process of their own: ``spark_jobs.py cluster ADDRESS``, ``spark_jobs.py connect``.

A process has one session at a time, and either a driver of its own or a connection.
"""

import os
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

from spark_cluster import LOOPBACK, SETTINGS, environment, session
from spark_lists import assert_same, in_spark, on_one_machine, random_entries

import juryrank
from juryrank.integrations.spark import fuse, summarise

METHODS = ("rrf", "borda", "combsum", "mc4", "copeland")


def fuse_all(spark: Any) -> None:
    """Every method, and a model, as on one machine."""
    frame = random_entries(7, "score", odd=False, n_experts=5)
    labels = {query: {item: int(item[1:]) % 3} for query, item in frame.select("query", "item").unique().iter_rows()}
    model = juryrank.fit(frame, "jury", labels={"q0": labels["q0"], "q1": labels["q1"]})
    df = in_spark(spark, frame)
    for method in (*map(juryrank.method, METHODS), model):
        assert_same(fuse(df, method, experts=model.own_), on_one_machine(frame, method))
        print(f"{method.name}: same", flush=True)
    assert summarise(df)["entries"] == frame.height


def executors(application: str) -> list[int]:
    """The processes of the executors of an application."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            command = (folder / "cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in command and application in command:
            found.append(int(folder.name))
    return found


def fuse_while_an_executor_dies(spark: Any, method: str) -> None:
    """Kill an executor when the first of many tasks has ended; the result is the same."""
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", "24")
    frame = random_entries(8, "score", odd=False, n_queries=500)
    wanted, results, tracker = on_one_machine(frame, juryrank.method(method)), [], spark.sparkContext.statusTracker()
    fused = fuse(in_spark(spark, frame, 8), method)
    at_work = threading.Thread(target=lambda: results.append(fused.toArrow()))
    before = executors(spark.sparkContext.applicationId)
    at_work.start()
    while at_work.is_alive() and not any(
        info and info.numTasks == 24 and info.numCompletedTasks >= 1
        for info in map(tracker.getStageInfo, tracker.getActiveStageIds())
    ):
        time.sleep(0.005)
    assert at_work.is_alive(), "the job ended before an executor could be killed"
    os.kill(before[0], signal.SIGKILL)
    print("an executor is killed", flush=True)
    at_work.join(120)
    assert results, "the job failed"

    class Found:
        toArrow = staticmethod(lambda: results[0])  # noqa: N815

    assert_same(Found, wanted)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not set(executors(spark.sparkContext.applicationId)) - set(before):
        time.sleep(0.1)
    assert set(executors(spark.sparkContext.applicationId)) - set(before), "no executor was started in its place"


def on_cluster(address: str) -> None:
    spark = session(address, **{"spark.executor.memory": "512m", "spark.executor.cores": "1"})
    assert len(executors(spark.sparkContext.applicationId)) <= 2
    fuse_all(spark)
    fuse_while_an_executor_dies(spark, "mc4")
    spark.stop()


def on_connection() -> None:
    from pyspark.sql import SparkSession

    os.environ.update(environment())
    builder = SparkSession.builder.remote("local[2]")
    for name, value in {**SETTINGS, "spark.connect.grpc.binding.address": LOOPBACK}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    assert "connect" in type(spark).__module__
    fuse_all(spark)
    spark.stop()


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    on_cluster(sys.argv[2]) if sys.argv[1] == "cluster" else on_connection()
    print("same results")
