"""How ``python -m studies`` ends: exit codes, one-line errors, broken output and Ctrl-C."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from studies.console import GRACE

TOP = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "studies"]
FULL = Path("/dev/full")


def studies(*args: object, env: dict[str, str] | None = None, **options: object) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(TOP / "src"), str(TOP)])
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        env={**os.environ, "PYTHONPATH": path, **(env or {})},
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["reproduce", "cikm20013"], "no paper or experiment 'cikm20013'; did you mean 'cikm2013'?"),
        (["bench", "--only", "fussion"], "no task 'fussion'; did you mean 'fusion'?"),
        (["data", "fetch", "ml-100", "."], "no dataset 'ml-100'; did you mean 'ml-100k'?"),
        (["curves", "--sets", "MQ2008"], "no dataset 'MQ2008'; did you mean 'MQ2008-agg'?"),
    ],
    ids=["reproduce", "bench", "data", "curves"],
)
def test_an_unknown_name_is_one_line_with_the_nearest_name_and_exit_2(run, args, message):
    done = run(*args)
    assert done.code == 2
    assert done.err.startswith(f"error: {message}")
    assert done.err.count("\n") == 1


def test_an_unknown_format_is_refused_before_anything_is_measured(run):
    done = run("bench", "--format", "yaml")
    assert done.code == 2
    assert "'yaml' is not one of" in done.err


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("args", [["data"], ["reproduce", "--list"]], ids=" ".join)
def test_a_full_disk_is_one_line_and_exit_1(args):
    with FULL.open("w") as full:
        process = studies(*args, stdout=full)
        assert process.communicate()[1] == "error: results cannot be written to stdout: No space left on device\n"
    assert process.returncode == 1


def test_a_reader_that_stops_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    process = studies("data", stdout=writer)
    os.close(writer)
    assert process.communicate()[1] == ""
    assert process.returncode == 141


def test_ctrl_c_ends_a_benchmark_soon_and_removes_its_files(tmp_path):
    process = studies("bench", "--only", "large", stdout=subprocess.DEVNULL, env={"TMPDIR": str(tmp_path)})
    assert process.stderr is not None
    assert "large" in process.stderr.readline()
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    assert time.monotonic() - start < GRACE + 8
    assert list(tmp_path.iterdir()) == []


def test_curves_name_the_data_that_is_missing(run, tmp_path):
    done = run("curves", "--data", tmp_path)
    assert done.code == 1
    assert "contains none of MQ2008-agg, trec-covid-round1, robust03" in done.err


IGNORING = """
import signal, typer
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("ready", flush=True)
from studies.console import run_app

def work() -> None:
    import polars as pl
    for _ in range(300):
        pl.DataFrame({"a": range(9999)}).lazy().sort("a").collect()

app = typer.Typer()
app.command()(work)
run_app(app, "work")
"""


def test_where_interrupts_are_ignored_they_stay_ignored():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TOP / "src"), str(TOP)])}
    process = subprocess.Popen([sys.executable, "-c", IGNORING], env=environment, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    process.stdout.close()
    assert process.returncode == 0


BUSY = """
import hashlib, typer
from studies.console import run_app, temporary_folder

def work() -> None:
    with temporary_folder() as folder:
        (folder / "file").write_text("text")
        print("ready", flush=True)
        hashlib.pbkdf2_hmac("sha512", b"", b"", 2**31 - 1)  # Python does not interrupt it

app = typer.Typer()
app.command()(work)
run_app(app, "work")
"""


def test_a_temporary_folder_is_removed_also_when_compiled_code_does_not_end(tmp_path):
    path = os.pathsep.join([str(TOP / "src"), str(TOP)])
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", BUSY], env=environment, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"ready\n"
    assert len(list(tmp_path.iterdir())) == 1
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
    assert list(tmp_path.iterdir()) == []
