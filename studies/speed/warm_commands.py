"""Commands, next to a process that only imports libraries; and their peak memory."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import juryrank as jr
from studies.speed.clock import Effort, Timing, bytes_text, process
from studies.speed.commands import OURS, CommandRow, fastest, run_command
from studies.speed.inputs import Inputs
from studies.speed.table import Results
from studies.speed.targets import Target, at_most, timing_text

Shape = tuple[int, int, int]  # runs, queries, lines of a query
SMALL_RUNS: Shape = (2, 3, 20)
LARGE_RUNS: Shape = (10, 63, 500)
FUSE, LARGE = "juryrank fuse, two small runs", "juryrank fuse, 315,000 lines"
BOARD, HELP = "juryrank leaderboard, 400 rows", "juryrank --help"
BARE = "import numpy, polars"
LIMITS = {FUSE: 0.35, BOARD: 0.6, HELP: 0.2}  # seconds
OWN_MEMORY = 70_000_000  # bytes above the libraries: half of what they were when kernels were compiled at run time
LIBRARIES = ("numpy", "polars", "scipy")
PROBE = """
import runpy, sys
sys.argv = {argv!r}
try:
    runpy.run_module("juryrank", run_name="__main__")
finally:
    print("LOADED", *[name for name in {libraries!r} if name in sys.modules])
"""


def measure(inputs: Inputs, effort: Effort) -> Results:
    """All commands in turns; the fastest of several runs of each."""
    folder = inputs.folder / "commands"
    lines = command_lines(folder)
    loaded = loaded_libraries(lines[LARGE])
    imports = f"import {', '.join(loaded)}"
    lines |= {code: [sys.executable, "-c", code] for code in (BARE, imports)}
    spent = time_commands(lines, folder, effort.repetitions(11))
    remarks = {LARGE: f"loads {', '.join(loaded)}"}
    rows = [CommandRow(name, "–", timing, remark=remarks.get(name, "")) for name, timing in spent.items()]
    return rows, [*command_targets(spent), *memory_targets(spent[LARGE], spent[imports], imports)]


def command_lines(folder: Path) -> dict[str, list[str]]:
    """The commands, and the files that they read."""
    small, large = (write_runs(folder / name, shape) for name, shape in (("small", SMALL_RUNS), ("large", LARGE_RUNS)))
    battles = Path(jr.__file__).parent / "demo" / "battles.csv"
    return {
        FUSE: [*OURS, "fuse", *map(str, sorted(small.iterdir())), "-o", str(folder / "small.run")],
        BOARD: [*OURS, "leaderboard", str(battles)],
        HELP: [*OURS, "--help"],
        LARGE: [*OURS, "fuse", *map(str, sorted(large.iterdir())), "-o", str(folder / "large.run")],
    }


def write_runs(folder: Path, shape: Shape) -> Path:
    """TREC runs of random items, three times as many as a run lists."""
    n_runs, n_queries, length = shape
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for run in range(n_runs):
        with (folder / f"run{run}.run").open("w") as file:
            for query in range(1, n_queries + 1):
                items, scores = rng.permutation(3 * length)[:length], -np.sort(-rng.random(length))
                file.writelines(
                    f"{query} Q0 doc-{item:07d} {rank} {score:.6f} run{run}\n"
                    for rank, (item, score) in enumerate(zip(items, scores, strict=True), 1)
                )
    return folder


def loaded_libraries(line: list[str]) -> list[str]:
    """The libraries that a command has loaded when it ends."""
    argv = ["juryrank", *line[len(OURS) :]]
    return process(PROBE.format(argv=argv, libraries=LIBRARIES)).rpartition("LOADED")[2].split()


def time_commands(lines: Mapping[str, list[str]], folder: Path, rounds: int) -> dict[str, Timing]:
    """The commands in turns; a run before fills the caches."""
    for line in lines.values():
        run_command(line, folder)
    spent: dict[str, list[Timing]] = {name: [] for name in lines}
    for _ in range(rounds):
        for name, line in lines.items():
            spent[name].append(run_command(line, folder))
    return {name: fastest(timings) for name, timings in spent.items()}


def command_targets(spent: Mapping[str, Timing]) -> list[Target]:
    """Limits in seconds."""
    bare = f"{BARE}: {timing_text(spent[BARE])}"
    return [at_most(name, spent[name], limit, bare) for name, limit in LIMITS.items()]


def memory_targets(command: Timing, libraries: Timing, imports: str) -> list[Target]:
    """The peak memory of a command above that of the libraries that it loads."""
    limit = bytes_text(OWN_MEMORY)
    target, peer = f"{LARGE}: memory without libraries ≤ {limit}", f"{imports}: {bytes_text(libraries.memory)}"
    if command.memory is None or libraries.memory is None:
        return [Target(target, "–", None, peer=peer)]
    own = command.memory - libraries.memory
    return [Target(target, f"{bytes_text(own)} of {bytes_text(command.memory)}", own <= OWN_MEMORY, peer=peer)]
