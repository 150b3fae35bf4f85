"""Same input, same output: whatever the hash seed, the number of threads, the order of experts and queries."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import juryrank
from juryrank.methods import consensus_methods

data = juryrank.read(sys.argv[1:])
for name in consensus_methods():
    print(name, juryrank.method(name).fit(data).predict(data).to_trec(), sep="\\n")
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    rng = random.Random(7)
    folder = tmp_path_factory.mktemp("runs")
    files = []
    for expert in ("bm25", "dense", "sparse", "title"):
        lines = []
        for query in range(12):
            for item in rng.sample(range(30), 15):
                lines.append(f"{query} Q0 d{item} 0 {rng.randint(0, 12)} {expert}\n")
        rng.shuffle(lines)
        files.append(folder / f"{expert}.run")
        files[-1].write_text("".join(lines))
    return files


def answer(runs: list[Path], hash_seed: str, threads: str) -> str:
    threaded = {"JURYRANK_THREADS": threads, "JURYRANK_THREADS_FROM": "0"}
    environment = {**os.environ, **threaded, "PYTHONHASHSEED": hash_seed, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", SCRIPT, *map(str, runs)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hash_seed_threads_and_order_of_files_change_nothing(runs):
    first = answer(runs, "0", "1")
    assert first.count("Q0 d") > 1000
    assert answer(runs, "1", "2") == first
    assert answer(runs[::-1], "2", "3") == first


def test_the_order_of_lines_changes_nothing(runs, tmp_path):
    first = answer(runs[:2], "0", "1")
    turned = []
    for run in runs[:2]:
        turned.append(tmp_path / run.name)
        turned[-1].write_text("".join(reversed(run.read_text().splitlines(keepends=True))))
    assert answer(turned, "0", "1") == first
