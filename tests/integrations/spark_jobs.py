"""Fusion and learning against one machine: ``spark_jobs.py cluster ADDRESS``, or ``spark_jobs.py connect``.

A process has one session at a time, and either a driver of its own or a connection.
"""

import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spark_cluster import LOOPBACK, SETTINGS, environment, session
from spark_labels import assert_same_model, random_labelled
from spark_lists import assert_same, in_spark, on_one_machine, random_entries

import juryrank
from juryrank.integrations.spark import evaluate, fit, fuse, leaderboard, summarise

TASKS = 8  # of the stages in which an executor is killed
METHODS = ("rrf", "borda", "combsum", "mc4", "copeland")


def fuse_all(spark: Any, methods: tuple[str, ...] = METHODS) -> None:
    """Every method, and a model, as on one machine."""
    frame = random_entries(7, "score", odd=False, n_experts=5)
    labels: dict[str, dict[str, int]] = {}
    for query, item in frame.select("query", "item").unique().iter_rows():
        labels.setdefault(query, {})[item] = int(item[1:]) % 3
    model = juryrank.fit(frame, "jury", labels=labels)
    df = in_spark(spark, frame)
    for method in (*map(juryrank.method, methods), model):
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


def learn_all(spark: Any) -> None:
    """A model, an evaluation and a leaderboard, as on one machine."""
    rows, labels = random_labelled(10)
    df, judged = in_spark(spark, rows), in_spark(spark, labels)
    assert_same_model(fit(df, judged), juryrank.fit(rows, labels=labels))
    consensus = juryrank.method("rrf").fit_predict(juryrank.read(rows))
    expected, found = (
        juryrank.evaluate(consensus, labels, ["nDCG@10", "AP"]),
        evaluate(fuse(df, "rrf"), judged, ["nDCG@10", "AP"]),
    )
    assert found.queries == expected.queries
    assert abs(found.values - expected.values).max() <= 1e-12
    battles = [("a", "b", "x"), ("b", "c", "y"), ("a", "c", "y")]
    board = leaderboard(spark.createDataFrame(battles, ["winner", "loser", "expert"]), by="expert", bootstrap=5)
    assert board.items.tolist() == ["a", "b", "c"]
    print("model, evaluation and leaderboard: same", flush=True)


@contextmanager
def killing_an_executor(spark: Any) -> Iterator[None]:
    """Kill an executor when the first of many tasks of a stage has ended; another one must take its place."""
    application, tracker = spark.sparkContext.applicationId, spark.sparkContext.statusTracker()
    before, killed, over = executors(application), list[int](), threading.Event()

    def kill() -> None:
        while not over.is_set():
            stages = filter(None, map(tracker.getStageInfo, tracker.getActiveStageIds()))
            if any(stage.numTasks == TASKS and stage.numCompletedTasks >= 1 for stage in stages):
                os.kill(before[0], signal.SIGKILL)
                killed.append(before[0])
                return
            time.sleep(0.005)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield
    finally:
        over.set()
        killer.join()
    assert killed, "the job ended before an executor could be killed"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not set(executors(application)) - set(before):
        time.sleep(0.1)
    assert set(executors(application)) - set(before), "no executor was started in its place"


def work_while_executors_die(spark: Any) -> None:
    """A fusion and a fit, each with an executor that is killed, give what one machine gives."""
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.shuffle.partitions", str(TASKS))
    frame = random_entries(8, "score", odd=False, n_queries=200)
    fused = fuse(in_spark(spark, frame, 8), "mc4")
    with killing_an_executor(spark):
        found = fused.toArrow()

    class Found:
        toArrow = staticmethod(lambda: found)  # noqa: N815

    assert_same(Found, on_one_machine(frame, juryrank.method("mc4")))
    print("fuse, an executor was killed: same", flush=True)
    rows, labels = random_labelled(9, n_queries=80)
    df, judged = in_spark(spark, rows, 2), in_spark(spark, labels, 2)
    with killing_an_executor(spark):
        model = fit(df, judged)
    assert_same_model(model, juryrank.fit(rows, labels=labels))
    print("fit, an executor was killed: same", flush=True)


def on_cluster(address: str) -> None:
    spark = session(address, **{"spark.executor.memory": "512m", "spark.executor.cores": "1"})
    assert len(executors(spark.sparkContext.applicationId)) <= 2
    fuse_all(spark, ("rrf", "mc4"))  # by Spark itself, and by juryrank on the executors
    work_while_executors_die(spark)
    spark.stop()


def on_connection() -> None:
    from pyspark.sql import SparkSession

    os.environ.update(environment(), SPARK_TESTING="1")  # so that the server takes any free port
    builder = SparkSession.builder.remote("local[2]")
    for name, value in {**SETTINGS, "spark.connect.grpc.binding.address": LOOPBACK}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    assert "connect" in type(spark).__module__
    fuse_all(spark)
    learn_all(spark)
    spark.stop()


if __name__ == "__main__":
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    on_cluster(sys.argv[2]) if sys.argv[1] == "cluster" else on_connection()
    print("same results")
