"""Our time and our peers', in one run and one table: ``python bench/speed.py [--only fusion,kemeny] [--json FILE]``."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console

import evaluation
import files
import fusion
import kemeny
import single_query
from inputs import find_inputs
from table import Benchmark, Row, Target

TASKS = {
    "fusion": fusion.measure,
    "files": files.measure,
    "evaluation": evaluation.measure,
    "kemeny": kemeny.measure,
    "single-query": single_query.measure,
}


def main() -> None:
    """Run the tasks, print the tables, write JSON where asked."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        # First calls compile, as they do for a new user: neither we nor ranx find what an earlier run left.
        os.environ["XDG_CACHE_HOME"] = os.environ["NUMBA_CACHE_DIR"] = f"{folder}/cache"
        report = run(options.only, Path(folder), slow=options.slow)
    if sys.stdout.isatty():
        Console().print(report)
    else:
        print(report)
    if options.json:
        Path(options.json).write_text(report.render("json"))


def run(tasks: list[str], folder: Path, *, slow: bool) -> Benchmark:
    """The report on these tasks."""
    start, load = time.perf_counter(), os.getloadavg()[0]
    inputs = find_inputs(folder)
    rows: list[Row] = []
    targets: list[Target] = []
    for task in tasks:
        print(f"{time.perf_counter() - start:4.0f} s  {task} …", file=sys.stderr, flush=True)
        found, reached = TASKS[task](inputs, slow)
        rows += found
        targets += reached
    return Benchmark(rows, targets, inputs.described, time.perf_counter() - start, load)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write everything to this file")
    parser.add_argument("--slow", action="store_true", help="let pref_voting try all orders of 10 items (minutes)")
    parser.add_argument("--only", default=",".join(TASKS), help=f"tasks, by comma: {', '.join(TASKS)}")
    options = parser.parse_args()
    options.only = options.only.split(",")
    if strange := set(options.only) - set(TASKS):
        parser.error(f"no task {min(strange)!r}; known: {', '.join(TASKS)}")
    return options


if __name__ == "__main__":
    main()
