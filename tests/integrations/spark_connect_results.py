"""Fits, evaluates and compares over Spark Connect, where there is no JVM in reach, and prints the results as JSON.

``python tests/integrations/spark_connect_results.py ROWS LABELS`` (Parquet files).
"""

from __future__ import annotations

import json
import os
import sys

import polars as pl
from pyspark.sql import SparkSession
from spark_cluster import LOOPBACK, SETTINGS, environment

from juryrank.integrations.spark import evaluate, fit, fuse, leaderboard
from juryrank.models import to_json

os.environ.update(environment(), SPARK_TESTING="1")  # so that the server takes any free port
builder = SparkSession.builder.remote("local[2]").config("spark.connect.grpc.binding.address", LOOPBACK)
for name, value in SETTINGS.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
rows, labels = (session.createDataFrame(pl.read_parquet(path).to_arrow()) for path in sys.argv[1:3])
battles = session.createDataFrame([("a", "b", "x"), ("b", "c", "y"), ("a", "c", "y")], ["winner", "loser", "expert"])
results = {
    "model": to_json(fit(rows, labels)),
    "means": evaluate(fuse(rows, "rrf"), labels, ["nDCG@10", "AP"]).means(),
    "board": leaderboard(battles, by="expert", bootstrap=5).items.tolist(),
}
print(json.dumps(results))
session.stop()
