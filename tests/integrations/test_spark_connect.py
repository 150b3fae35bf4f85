"""Spark Connect, where the client has no JVM: the results of one machine."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("grpc_status", reason="grpcio-status is not installed: pip install 'pyspark[connect]'")

JOBS = Path(__file__).with_name("spark_jobs.py")


def test_a_connection_has_the_results_of_one_machine(java):
    done = subprocess.run([sys.executable, JOBS, "connect"], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip().endswith("same results"), done.stdout + done.stderr[-4000:]
