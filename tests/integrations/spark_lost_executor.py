"""Fits a model on a standalone cluster of two workers, kills an executor meanwhile, and prints the model.

``python tests/integrations/spark_lost_executor.py ROWS LABELS`` (Parquet files). The first line that is printed says
what was killed and when.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
from spark_cluster import cluster, session

from juryrank.integrations.spark import fit
from juryrank.models import to_json


def executors(app: str) -> list[int]:
    """The processes of the executors of an application of ours."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:  # no process, or one that has ended
            continue
        if app in words and any(word.endswith("CoarseGrainedExecutorBackend") for word in words):
            found.append(int(folder.name))
    return sorted(found)


def kill_one(spark: Any, told: list[str]) -> None:
    """Kill an executor as soon as a task runs whose job has begun after this call."""
    tracker, app = spark.sparkContext.statusTracker(), spark.sparkContext.applicationId
    end = time.monotonic() + 120
    while time.monotonic() < end:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        running = sum(stage.numActiveTasks for stage in stages if stage is not None)
        if running and (there := executors(app)):
            os.kill(there[0], signal.SIGKILL)
            told.append(f"killed {there[0]} of {len(there)} executors, {running} tasks were running")
            return
        time.sleep(0.005)


def main() -> None:
    """Fit while an executor is killed."""
    rows, labels = (pl.read_parquet(path) for path in sys.argv[1:3])
    with cluster() as address:
        settings = {
            "spark.executor.memory": "512m",
            "spark.executor.cores": "1",
            "spark.ui.showConsoleProgress": "false",
        }
        spark = session(address, **settings)
        spark.conf.set("spark.sql.adaptive.enabled", "false")
        df, judged = (spark.createDataFrame(frame.to_arrow()).repartition(4) for frame in (rows, labels))
        df.count()  # both executors are there
        told: list[str] = []
        killer = threading.Thread(target=kill_one, args=(spark, told))
        killer.start()
        model = fit(df, judged, "jury")
        killer.join()
        print(*told)
        print(to_json(model))
        spark.stop()


if __name__ == "__main__":
    main()
