"""One query of 10,000 items and 50 lists, for methods that compare all pairs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

import juryrank as jr
from studies.speed.clock import Effort, Timing, time_call
from studies.speed.inputs import Inputs
from studies.speed.peers import load
from studies.speed.table import Results, Row, skipped_row

N_ITEMS, N_LISTS, LENGTH = 10_000, 50, 1_000
PATIENCE = 60.0  # time limit of a peer in seconds
PEERS = {"mc4": ("MarkovChains", "MC4"), "copeland": ("Majoritarian", "CopelandWinners")}
CODE = """
import json, sys, time
from importlib import import_module
module, kind, path, out = sys.argv[1:]
aggregator = getattr(import_module(f"pyflagr.{module}"), kind)
start = time.perf_counter()
frame = aggregator(eval_pts=10).aggregate(input_file=path, out_dir=out)[0]
scores = dict(zip(map(str, frame["ItemID"]), map(float, frame["Score"])))
print("RESULT" + json.dumps([time.perf_counter() - start, scores]))
"""


def entries() -> pl.DataFrame:
    """query, expert, item, rank: noisy lists of the best of all items."""
    rng = np.random.default_rng(0)
    worth = rng.normal(size=N_ITEMS)
    order = np.argsort(-(worth + rng.normal(size=(N_LISTS, N_ITEMS))), axis=1)[:, :LENGTH]
    return pl.DataFrame(
        {
            "query": pl.Series(["1"]).gather(np.zeros(order.size, np.int64)),
            "expert": pl.Series([f"e{m}" for m in range(N_LISTS)]).gather(np.repeat(np.arange(N_LISTS), LENGTH)),
            "item": pl.Series([f"i{i}" for i in range(N_ITEMS)]).gather(order.ravel()),
            "rank": np.tile(np.arange(1.0, LENGTH + 1), N_LISTS),
        }
    )


def measure(inputs: Inputs, effort: Effort) -> Results:
    """MC4 and Copeland, each peer in a separate process with a time limit."""
    frame = entries()
    data = jr.read(frame, candidates=_all_items())
    table = inputs.folder / "many_items.csv"
    frame.with_columns(score=-pl.col("rank"), dataset=pl.lit("bench")).write_csv(table, include_header=False)
    return [_row(name, data, table, PATIENCE * effort.patience) for name in PEERS], []


def _all_items() -> pl.DataFrame:
    return pl.DataFrame({"query": ["1"] * N_ITEMS, "item": [f"i{i}" for i in range(N_ITEMS)]})


def _row(name: str, data: jr.Dataset, table: Path, patience: float) -> Row:
    task = f"{name}, {N_ITEMS:,} items, {N_LISTS} lists of {LENGTH:,}"
    timing, consensus = time_call(lambda: jr.method(name).fit_predict(data), most=3, budget=30.0)
    if load("pyflagr") is None:
        return skipped_row(task, "pyflagr", timing)
    command = [sys.executable, "-c", CODE, *PEERS[name], str(table), str(table.parent)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        return Row(task, "pyflagr", timing, None, f"pyflagr was not done after {patience:.0f} s")
    if done.returncode or "RESULT" not in done.stdout:
        return Row(task, "pyflagr", timing, None, f"pyflagr ended with code {done.returncode}")
    seconds, scores = json.loads(done.stdout.rpartition("RESULT")[2])
    ours = consensus.to_dict()["1"]
    agreed = np.corrcoef([ours[i] for i in scores], list(scores.values()))[0, 1]
    return Row(task, "pyflagr", timing, Timing(None, seconds, 1), f"correlation {agreed:.3f}; reads and writes files")
