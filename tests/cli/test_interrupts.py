"""Ctrl-C, in real processes: soon, with what is finished, and without half written files.

The work would take a minute or more; a process that ends within ``SOON`` was interrupted. The promise is two seconds,
on a machine that has time for us.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.conftest import DEMO

SOON = 15.0
REPOSITORY = Path(__file__).parents[2]
ELSEWHERE = """
import hashlib, os, sys, time
from pathlib import Path
from juryrank.cli import interrupts
from juryrank.io.files import save_all
from studies.papers.experiment import Context
from studies.papers.workers import workers

def long_step():  # compiled, and no signal ends it
    print("ready", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 10**9)

def half_a_file():
    def chunks():
        yield b"half"
        long_step()

    save_all({Path(sys.argv[2]): chunks()})

def delivery():
    with interrupts.deliver_once(lambda: print("delivered")):
        long_step()

def processes():
    pool = workers(Context(Path(), Path()))
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 600).result()

if __name__ == "__main__":
    with interrupts.end_on_interrupt():
        globals()[sys.argv[1]]()
"""


@pytest.fixture
def elsewhere(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    script = tmp_path / "elsewhere.py"
    script.write_text(ELSEWHERE)
    return lambda *args: started(script, *args)


def random_lists(folder: Path, n_items: int) -> list[object]:
    """Seven orders of the items at random, and labels: what ``compare`` takes."""
    rng, paths = random.Random(1), [folder / f"{n}.run" for n in range(7)]
    items = [f"d{n}" for n in range(n_items)]
    for path in paths:
        rng.shuffle(items)
        path.write_text("".join(f"1 Q0 {item} {n + 1} {n_items - n} {path.stem}\n" for n, item in enumerate(items)))
    (folder / "labels.qrels").write_text("".join(f"1 0 d{n} {n % 2}\n" for n in range(50)))
    return [*paths, "--labels", folder / "labels.qrels"]


def started(*args: object) -> subprocess.Popen[str]:
    pipe, paths = subprocess.PIPE, [str(REPOSITORY), os.environ.get("PYTHONPATH", "")]
    command, environment = [sys.executable, *map(str, args)], {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, env=environment)


def interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What a process still says after Ctrl-C in the middle of a long step; it must end soon, and with 130."""
    time.sleep(1.0)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert time.monotonic() - began < SOON
    return out, err


def wait_for(line: str, stream: object) -> None:
    for text in stream:  # type: ignore[attr-defined]
        if text.startswith(line):
            return
    pytest.fail(f"ended without {line!r}")


def test_a_kernel_is_interrupted_and_finished_methods_are_shown(tmp_path: Path) -> None:
    lists = random_lists(tmp_path, 4000)
    process = started("-m", "juryrank", "compare", *lists, "--methods", "rrf,generalised-mallows,borda", "--json")
    wait_for("borda", process.stderr)
    out, err = interrupted(process)
    found = json.loads(out)
    assert {row["method"] for row in found["results"]} == {"rrf", "borda"}
    assert found["skipped"] == {"generalised-mallows": "interrupted before it was finished"}
    assert "interrupted: 2 of 3 methods have finished" in err
    assert "Traceback" not in err


def test_an_integer_program_is_interrupted_and_finished_methods_are_written(tmp_path: Path) -> None:
    lists, out = random_lists(tmp_path, 100), tmp_path / "table.json"
    process = started("-m", "juryrank", "compare", *lists, "--methods", "rrf,kemeny:solver=exact", "-o", out)
    wait_for("rrf", process.stderr)
    interrupted(process)
    assert [row["method"] for row in json.loads(out.read_text())["results"]] == ["rrf", "rrf"]


def test_before_anything_is_finished_nothing_is_shown(tmp_path: Path) -> None:
    process = started("-m", "juryrank", "compare", *random_lists(tmp_path, 4000), "--methods", "generalised-mallows")
    wait_for("comparing", process.stderr)
    out, err = interrupted(process)
    assert (out, err) == ("", "")


def test_a_file_that_is_half_written_is_removed(
    elsewhere: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    process = elsewhere("half_a_file", tmp_path / "out" / "fused.run")
    wait_for("ready", process.stdout)
    assert len(list((tmp_path / "out").iterdir())) == 1
    interrupted(process)
    assert list((tmp_path / "out").iterdir()) == []


def test_what_was_registered_is_delivered_once(elsewhere: Callable[..., subprocess.Popen[str]]) -> None:
    process = elsewhere("delivery")
    wait_for("ready", process.stdout)
    assert interrupted(process)[0] == "delivered\n"


def test_worker_processes_end_with_their_parent(elsewhere: Callable[..., subprocess.Popen[str]]) -> None:
    process = elsewhere("processes")
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    process.communicate(timeout=60)
    assert time.monotonic() - began < SOON
    time.sleep(2.0)
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_where_interrupts_are_ignored_they_stay_ignored() -> None:
    # The ignored signals come at every moment of the command, in its polars queries, too.
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('ready', flush=True)\n"
    code += "from juryrank.cli import main; main()"
    process = started("-c", code, "rank", DEMO, "--method", "rrf", "--top", "3")
    wait_for("ready", process.stdout)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out.startswith("q01 Q0 ")
