"""Methods that compare pairs or search: next to Copeland at every size, at 5,000 items, and with many queries."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

import juryrank as jr
from juryrank.errors import JuryrankError
from studies.speed.clock import Effort, Timing, seconds_text, time_in_turns
from studies.speed.inputs import Inputs
from studies.speed.scaling import measure_growth
from studies.speed.table import Results, Row, Series
from studies.speed.targets import Target, at_most, at_most_times

REFERENCE, FACTOR = "copeland", 10.0
COMPARED = ("mc4", "outranking")
SIZES = ((1000, 20), (50, 100), (10, 300), (1, 1000), (1, 3000))  # queries, items of each
N_LISTS, LISTED = 10, 0.5  # of a query: lists, and the share of the items that a list has
PATIENCE = 20.0  # seconds of a call, after which larger sizes are left out

MANY_ITEMS, SECONDS = 5000, 60.0
AT_MANY_ITEMS = ("generalised-mallows", "supervised-mc4")
LINEAR = ("mallows", "generalised-mallows", "crowd-bt", "kemeny")
MOST_ENTRIES, SLOPE = 1_000_000, 1.15  # a slope up to this counts as linear
GROWTH_PATIENCE = 40.0  # enough for the slowest of LINEAR, which needs 3 to 9 ms per query, to reach the largest size
CODE = """
import sys, time, warnings
warnings.simplefilter("ignore")
from studies.speed.slow_methods import rank, random_orders
rank(sys.argv[1], random_orders(2, 30))
data = random_orders(1, int(sys.argv[2]))
start, busy = time.perf_counter(), time.process_time()
rank(sys.argv[1], data)
print("RESULT", time.perf_counter() - start, time.process_time() - busy)
"""


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Three groups of rows, each with its targets."""
    quick = effort is Effort.QUICK
    found = [
        next_to_copeland(SIZES[:3] if quick else SIZES, PATIENCE * effort.patience),
        at_many_items(500 if quick else MANY_ITEMS, SECONDS * effort.patience),
        with_many_queries(MOST_ENTRIES // 100 if quick else MOST_ENTRIES, GROWTH_PATIENCE * effort.patience),
    ]
    return [row for rows, _ in found for row in rows], [target for _, targets in found for target in targets]


def random_orders(n_queries: int, n_items: int, seed: int = 0) -> jr.Dataset:
    """Noisy partial lists of each query, with labels: the best tenth of the items is relevant."""
    rng = np.random.default_rng(seed)
    names = [f"i{i}" for i in range(n_items)]
    runs: dict[str, dict[str, list[str]]] = {f"e{m}": {} for m in range(N_LISTS)}
    labels: dict[str, dict[str, float]] = {}
    for q in range(n_queries):
        worth = rng.normal(size=n_items)
        noisy = worth + rng.normal(size=(N_LISTS, n_items))
        for expert, values in zip(runs, noisy, strict=True):
            runs[expert][f"q{q}"] = [names[i] for i in np.argsort(-values)[: max(2, int(LISTED * n_items))]]
        best = np.argsort(-worth)[: max(1, n_items // 10)]
        labels[f"q{q}"] = dict.fromkeys(names, 0.0) | {names[i]: 1.0 for i in best}
    return jr.from_dicts(runs, labels=labels)


def rank(name: str, data: jr.Dataset) -> Any:
    """The order of all items of all queries."""
    return jr.method(name).fit(data).predict(data).order


def next_to_copeland(sizes: Iterable[tuple[int, int]], patience: float) -> tuple[list[Row], list[Target]]:
    """Each method in turns with Copeland, until a call takes longer than ``patience``."""
    rows: list[Row] = []
    for name in COMPARED:
        for n_queries, n_items in sizes:
            data = random_orders(n_queries, n_items)
            queries = "one query" if n_queries == 1 else f"{n_queries:,} queries"
            task = f"{name}, {queries} of {n_items:,} items"
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ours, theirs = time_in_turns([partial(rank, name, data), partial(rank, REFERENCE, data)], rounds=3)
            rows.append(Row(task, REFERENCE, ours, theirs, "another method of ours"))
            if ours.seconds > patience:
                break
    targets = [
        target
        for row in rows
        for target in at_most_times(f"≤ {FACTOR:g}× Copeland: {row.task}", [row], [row.task], REFERENCE, FACTOR)
    ]
    return rows, targets


def at_many_items(n_items: int, limit: float) -> tuple[list[Row], list[Target]]:
    """One query of many items, each method in a process of its own with a time limit."""
    rows, targets = [], []
    for name in AT_MANY_ITEMS:
        task = f"{name}, one query of {n_items:,} items"
        try:
            timing = _in_process(name, n_items, 2 * limit)
        except subprocess.TimeoutExpired:
            rows.append(Row(task, "–", Timing(None, 2 * limit, 1), None, "stopped: not done after this time"))
            targets.append(Target(f"{task} ≤ {seconds_text(limit)}", f"> {seconds_text(2 * limit)}", False))
            continue
        rows.append(Row(task, "–", timing, None, "training included" if jr.METHODS[name].supervised else ""))
        targets.append(at_most(task, timing, limit))
    return rows, targets


def _in_process(name: str, n_items: int, limit: float) -> Timing:
    """Seconds of ranking, without the start of Python and compilation; the limit is for the whole process."""
    command = [sys.executable, "-c", CODE, name, str(n_items)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    if done.returncode:
        raise RuntimeError(f"{name} with {n_items:,} items: {''.join(done.stderr.splitlines()[-1:])}")
    seconds, cpu = map(float, done.stdout.rpartition("RESULT")[2].split())
    return Timing(None, seconds, 1, cpu)


def with_many_queries(most: int, patience: float) -> tuple[list[Row], list[Target]]:
    """How the time grows with the number of queries; an early refusal with advice also meets the target."""
    rows, targets = [], []
    for name in LINEAR:
        target = f"linear in queries to {most:,} entries (slope ≤ {SLOPE:g}), or refused: {name}"
        try:
            series = measure_growth(name, patience, most=most)
        except JuryrankError as error:
            targets.append(Target(target, f"refused: {error}"[:120], True))
            continue
        last = Timing(series.seconds[0], series.seconds[-1], 1, None, series.memory[-1])
        task = f"{name}, growth to {series.entries[-1]:,} entries"
        rows.append(Row(task, "–", last, None, f"slope {series.slope:.2f}", series=series))
        targets.append(growth_target(target, series, most))
    return rows, targets


def growth_target(target: str, series: Series, most: int) -> Target:
    """Met if the slope is linear up to the largest size; not measured if it is linear but the run stopped before."""
    reached, linear = series.entries[-1] >= most, series.slope <= SLOPE
    text = f"slope {series.slope:.2f}, {seconds_text(series.seconds[-1])} for {series.entries[-1]:,} entries"
    more = "" if reached else "; larger sizes need --slow"
    return Target(target, text + more, None if linear and not reached else linear)
