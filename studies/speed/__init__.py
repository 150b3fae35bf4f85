"""Times of juryrank and other libraries, in one run and one table; one task per file."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from juryrank.errors import UnknownNameError
from studies.console import note
from studies.files import make_folder, write_file
from studies.pictures import draw
from studies.speed.clock import Effort
from studies.speed.commands import CommandRow
from studies.speed.inputs import Inputs, find_inputs
from studies.speed.picture import growth_figure, ratio_figure
from studies.speed.table import Benchmark, Results, Row
from studies.speed.targets import Target

Measure = Callable[[Inputs, Effort], Results]

TASKS: dict[str, str] = {  # name -> file; each has a function ``measure(inputs, effort)``
    "cold-start": "cold_start",  # first, while this process is small and nothing is compiled
    "warm-commands": "warm_commands",
    "fusion": "fusion",
    "files": "files",
    "evaluation": "evaluation",
    "kemeny": "kemeny",
    "single-query": "single_query",
    "integrations": "integrations",
    "databases": "databases",
    "service": "service",
    "many-items": "many_items",
    "leaderboard": "leaderboard",
    "crowd": "crowd",
    "learned": "learned",
    "learners": "learners",
    "slow-methods": "slow_methods",
    "scaling": "scaling",
    "large": "large",
    "spark": "spark",
}


def run(tasks: Iterable[str], folder: Path, *, effort: Effort = Effort.USUAL, quiet: bool = False) -> Benchmark:
    """Measure these tasks; the files that they need are written to ``folder``."""
    names = list(tasks)
    for task in names:
        if task not in TASKS:
            raise UnknownNameError.of("task", task, TASKS)
    measures = {task: import_module(f"studies.speed.{TASKS[task]}").measure for task in names}
    return measure(measures, find_inputs(folder), effort=effort, quiet=quiet)


def measure(
    tasks: Mapping[str, Measure], inputs: Inputs, *, effort: Effort = Effort.USUAL, quiet: bool = True
) -> Benchmark:
    """Measure tasks by name; one that fails is a target that is not met."""
    start, load = time.perf_counter(), os.getloadavg()[0]
    rows: list[Row | CommandRow] = []
    targets: list[Target] = []
    for name, task in tasks.items():
        note(f"{time.perf_counter() - start:4.0f} s  {name} …", quiet=quiet)
        try:
            found, reached = task(inputs, effort)
        except Exception as error:  # a quarter of an hour is too much to lose; the table says what failed
            found, reached = [], [Target(f"task {name} runs", f"{type(error).__name__}: {error}"[:120], False)]
        rows += found
        targets += [replace(target, task=name) for target in reached]
    commands = [row for row in rows if isinstance(row, CommandRow)]
    others = [row for row in rows if isinstance(row, Row)]
    return Benchmark(others, targets, inputs.description, time.perf_counter() - start, load, commands)


def write(report: Benchmark, folder: Path) -> list[Path]:
    """Write ``speed.md``, ``speed.json`` and, if matplotlib is installed, pictures to a folder."""
    make_folder(folder)
    page = f"# Benchmark table\n\nWritten by `python -m studies bench --out`.\n\n{report.render('markdown')}"
    contents: dict[str, str | bytes] = {"speed.md": page, "speed.json": report.render("json")}
    if find_spec("matplotlib") is not None:
        if any(row.series for row in report.results):
            contents["scaling.svg"] = draw(growth_figure(report), "svg")
        contents["speed.svg"] = draw(ratio_figure(report), "svg")
    for name, content in contents.items():
        write_file(folder / name, content)
    return [folder / name for name in contents]
