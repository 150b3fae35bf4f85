"""A standalone cluster with two workers: the results of one machine, also when an executor is killed."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from spark_cluster import cluster

JOBS = Path(__file__).with_name("spark_jobs.py")


def test_a_cluster_has_the_results_of_one_machine_also_when_an_executor_dies(java):
    with cluster() as address:
        done = subprocess.run([sys.executable, JOBS, "cluster", address], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip().endswith("same results"), done.stdout + done.stderr[-4000:]
