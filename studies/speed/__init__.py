"""Our time and our peers', in one run and one table; one task per file."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from juryrank.errors import UnknownNameError
from studies.speed.inputs import find_inputs
from studies.speed.picture import draw, draw_growth
from studies.speed.table import Benchmark, Row, Target

TASKS: dict[str, str] = {  # name -> file; each has ``measure(inputs, slow) -> rows, targets``
    "cold-start": "cold_start",  # first, while this process holds little and nothing is compiled
    "fusion": "fusion",
    "files": "files",
    "evaluation": "evaluation",
    "kemeny": "kemeny",
    "single-query": "single_query",
    "many-items": "many_items",
    "leaderboard": "leaderboard",
    "learned": "learned",
    "scaling": "scaling",
    "large": "large",
}


def run(tasks: Iterable[str], folder: Path, *, slow: bool = False) -> Benchmark:
    """The report on these tasks; files that they need are made in ``folder``."""
    chosen = list(tasks)
    for task in chosen:
        if task not in TASKS:
            raise UnknownNameError.of("task", task, TASKS)
    start, load = time.perf_counter(), os.getloadavg()[0]
    inputs = find_inputs(folder)
    rows: list[Row] = []
    targets: list[Target] = []
    for task in chosen:
        print(f"{time.perf_counter() - start:4.0f} s  {task} …", file=sys.stderr, flush=True)
        try:
            found, reached = import_module(f"studies.speed.{TASKS[task]}").measure(inputs, slow)
        except Exception as error:  # a quarter of an hour is too much to lose; the table says what failed
            found, reached = [], [Target(f"task {task} runs", f"{type(error).__name__}: {error}"[:120], False)]
        rows += found
        targets += reached
    return Benchmark(rows, targets, inputs.described, time.perf_counter() - start, load)


def write(report: Benchmark, folder: Path) -> list[Path]:
    """The files of a report: ``speed.md``, ``speed.json`` and, where matplotlib is installed, pictures."""
    from juryrank.io.files import save

    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"speed.{ending}": report.render(form) for ending, form in (("md", "markdown"), ("json", "json"))}
    for path, text in files.items():
        save(path, text.encode())
    if find_spec("matplotlib") is None:
        return [*files]
    draw(report, folder / "speed.svg")
    if any(row.series for row in report.found):
        draw_growth(report, folder / "scaling.svg")
    return [*files, *sorted(folder.glob("*.svg"))]
