"""Start-up times of new processes: import and first result, and the first run of every documented command."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from studies.speed.clock import Effort, Timing, process, time_once, time_process
from studies.speed.commands import OURS, CommandError, CommandRow, fastest, run_command, signed_seconds
from studies.speed.documented import README, Shown, pages, prepare_folder
from studies.speed.inputs import Inputs
from studies.speed.peers import load
from studies.speed.table import Results, Row, skipped_row
from studies.speed.targets import Target, at_most

FUSE = (
    "import juryrank as jr; "
    "jr.fuse({'a': [f'd{i}' for i in range(100, 200)], 'b': [f'd{i}' for i in range(249, 149, -1)]})"
)
MANY = "{e: {f'q{q}': {f'd{q}-{i}': 1.0 / (i + q) for i in range(1, 20)} for q in range(50)} for e in 'ab'}"
FUSE_MANY = f"import juryrank as jr; jr.fuse({MANY})"
# Names as long as ours: ranx compiles again for every length of the longest name.
RANX = (
    "import ranx; r = [ranx.Run({'q': {f'd{i}': 999.0 - i for i in range(100, 200)}}), "
    "ranx.Run({'q': {f'd{i}': float(i) for i in range(150, 250)}})]; ranx.fuse(r, norm=None, method='rrf')"
)
RANX_MANY = f"import ranx; ranx.fuse([ranx.Run(r) for r in {MANY}.values()], norm=None, method='rrf')"

IMPORT, FIRST, EVER = (
    "import, fresh process", "import and fuse 2×100, fresh process", "first fuse of 50 queries ever, empty cache",
)  # fmt: skip
GOALS = {IMPORT: 0.06, FIRST: 0.3}
LIMIT, LIMIT_OF_DEFAULTS = 3.0, 1.0  # seconds that the first run of a command may take in addition


def measure(inputs: Inputs, effort: Effort) -> Results:
    """Whole processes; import and first result are measured above the time of bare Python."""
    runs = effort.repetitions(9)
    process(FUSE_MANY)  # stores the bytecode; for ranx, the rows before do
    rows = [
        _row(IMPORT, time_process("import juryrank", runs=runs), "ranx", lambda: _fresh("import ranx")),
        _row(IMPORT, time_process("import juryrank", runs=3), "evalica", lambda: _fresh("import evalica")),
        _row(FIRST, time_process(FUSE, runs=runs), "ranx", lambda: _fresh(RANX)),
        _row(EVER, _with_empty_cache(FUSE_MANY), "ranx", lambda: _with_empty_cache(RANX_MANY)),
    ]
    found = {row.task: row.ours for row in reversed(rows)}
    commands = list(first_runs([README] if effort is Effort.QUICK else None, inputs.folder, effort.repetitions(3)))
    targets = [at_most(task, found[task], goal) for task, goal in GOALS.items()]
    return [*rows, *(row for _, row in commands)], [*targets, *start_targets(commands)]


def first_runs(names: list[str] | None, folder: Path, runs: int) -> Iterable[tuple[Shown, CommandRow]]:
    """Every command of the pages, in order: once with an empty cache, then ``runs`` times with what that run stored."""
    seen: set[str] = set()
    for page, commands in pages(names).items():
        place = prepare_folder(folder / "pages" / page.replace("/", "-"))
        for shown in commands:
            row = first_run(shown, place, runs)
            if shown.text not in seen:
                yield shown, row
            seen.add(shown.text)


def first_run(shown: Shown, folder: Path, runs: int) -> CommandRow:
    """One command; if it fails, its row says so. A run before, with another cache, stores the bytecode of libraries."""
    stdin = None if shown.stdin is None else folder / shown.stdin
    with tempfile.TemporaryDirectory() as cache:
        try:
            run_command([*OURS, *shown.args], folder, stdin)
            cold = run_command([*OURS, *shown.args], folder, stdin, XDG_CACHE_HOME=cache)
            warm = fastest(
                [run_command([*OURS, *shown.args], folder, stdin, XDG_CACHE_HOME=cache) for _ in range(runs)]
            )
        except CommandError as error:
            nothing = Timing(None, float("nan"), 0)
            return CommandRow(shown.text, shown.page, nothing, remark=str(error))
    return CommandRow(shown.text, shown.page, warm, cold)


def start_targets(commands: Iterable[tuple[Shown, CommandRow]]) -> list[Target]:
    """A target for every command of the README, for every default method, and for all other pages together."""
    targets, others = [], []
    for shown, row in commands:
        if shown.uses_default:
            targets.append(start_target(f"first run, default method: {row.command}", row, LIMIT_OF_DEFAULTS))
        elif shown.page == README:
            targets.append(start_target(f"first run: {row.command}", row, LIMIT))
        else:
            others.append(start_target(f"slowest first run of other pages: {row.command}", row, LIMIT))
            others.sort(key=lambda target: target[0])
    return [target for _, target in [*targets, *others[-1:]]]


def start_target(name: str, row: CommandRow, limit: float) -> tuple[float, Target]:
    """The seconds that the first run takes in addition to a warm one, and the target for them."""
    name = f"{name} ≤ warm + {limit:g} s"
    extra = row.difference
    if extra is None or extra.cpu is None:
        return float("inf"), Target(name, row.remark or "–", False)
    by_cpu = extra.cpu <= limit
    measured, cpu = (f"warm + {signed_seconds(value)}" for value in (extra.seconds, extra.cpu))
    return extra.seconds, Target(name, measured, extra.seconds <= limit, cpu, by_cpu)


def _row(task: str, ours: Timing, peer: str, theirs: Callable[[], Timing]) -> Row:
    if load(peer) is None:
        return skipped_row(task, peer, ours)
    return Row(task, peer, ours, theirs(), "")


def _fresh(code: str) -> Timing:
    return time_process(code, runs=1)


def _with_empty_cache(code: str) -> Timing:
    """One process with empty caches of compiled code; the modules must have been imported before."""
    with tempfile.TemporaryDirectory() as folder:
        start = os.times()
        seconds, _ = time_once(
            lambda: process(code, XDG_CACHE_HOME=folder, NUMBA_CACHE_DIR=str(Path(folder) / "numba"))
        )
        end = os.times()
    cpu = end.children_user + end.children_system - start.children_user - start.children_system
    return Timing(None, seconds, 1, cpu)
