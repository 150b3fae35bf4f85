"""Thirty million labelled entries under a memory limit: fit, evaluate, compare and convert, each in a fresh process.

``python -m studies.speed.beyond_memory [FOLDER]`` prints the peak of memory, the time and the output of each command.
The files, 1.5 GB, are made in FOLDER, or in a temporary folder.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from studies.speed.large import COLLECTION, N_QUERIES, POOL, STEP, write_files

JUDGED = 20  # items of a query
LIMIT = "500MB"
PROGRAM = """
import runpy, sys
sys.argv = ["juryrank", *sys.argv[1:]]
try:
    runpy.run_module("juryrank", run_name="__main__")
finally:
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    print("PEAK", peak.split()[1], file=sys.stderr)
"""


def write_qrels(path: Path) -> None:
    """Labels from 0 to 2 of some items of each query."""
    names = pl.Series([f"doc-{i:07d}" for i in range(COLLECTION)])
    apart = COLLECTION // POOL
    with path.open("wb") as file:
        for first in range(0, N_QUERIES, STEP):
            pool = np.random.default_rng(first).integers(0, apart, (STEP, POOL)) + apart * np.arange(POOL)
            rng = np.random.default_rng(N_QUERIES + first)
            chosen = rng.random((STEP, POOL)).argsort(1)[:, :JUDGED]
            query = pl.Series([str(q + 1) for q in range(first, first + STEP)])
            frame = pl.DataFrame(
                {
                    "query": query.gather(np.repeat(np.arange(STEP), JUDGED)),
                    "iteration": pl.Series(["0"]).new_from_index(0, STEP * JUDGED),
                    "item": names.gather(np.take_along_axis(pool, chosen, 1).ravel()),
                    "label": rng.integers(0, 3, STEP * JUDGED),
                }
            )
            file.write(frame.write_csv(include_header=False, separator=" ", quote_style="never").encode())


def run(*words: str | Path) -> tuple[str, float, float]:
    """What a command prints, its peak of memory in MB and its seconds."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", PROGRAM, *map(str, words)], capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout, int(done.stderr.rpartition("PEAK ")[2].split()[0]) / 1000, seconds


def main(folder: Path) -> None:
    runs, qrels = folder / "large" / "TREC", folder / "labels.qrels"
    if not qrels.exists():
        write_files(folder / "large")
        write_qrels(qrels)
    commands: dict[str, list[str | Path]] = {
        "fit": ["fit", runs, "--labels", qrels, "-o", folder / "model.json"],
        "evaluate": ["evaluate", runs, "--labels", qrels, "-m", "nDCG@10", "-m", "AP", "-o", folder / "out.json"],
        "compare": ["compare", runs, "--labels", qrels, "--methods", "rrf,jury", "--folds", "5"],
        "convert": ["convert", runs, folder / "out.csv"],
    }
    for name, words in commands.items():
        text, peak, seconds = run(*words, "--memory", LIMIT)
        print(f"{name}: with {LIMIT}: peak {peak:.0f} MB, {seconds:.0f} s", flush=True)
        print(text, flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name))
