"""Start-up times of a new process: import, first result, first compilation, help."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from studies.speed.clock import Timing, process, time_once, time_process, with_cpu
from studies.speed.inputs import Inputs
from studies.speed.peers import load
from studies.speed.table import Results, Row, Target, skipped_row

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
HELP = "import runpy, sys; sys.argv[1:] = ['--help']; runpy.run_module('juryrank', run_name='__main__')"

IMPORT, FIRST, EVER, HELPED = (
    "import, fresh process", "import and fuse 2×100, fresh process", "first fuse of 50 queries ever, empty cache",
    "juryrank --help",
)  # fmt: skip
GOALS = {IMPORT: 0.06, FIRST: 0.3, HELPED: 0.4}


def measure(inputs: Inputs, slow: bool) -> Results:
    """Whole processes; import and first result are measured above the time of bare Python."""
    rows = [
        _row(IMPORT, time_process("import juryrank", runs=9), "ranx", lambda: _fresh("import ranx")),
        _row(IMPORT, time_process("import juryrank", runs=3), "evalica", lambda: _fresh("import evalica")),
        _row(FIRST, time_process(FUSE, runs=9), "ranx", lambda: _fresh(RANX)),
        _row(EVER, _with_empty_cache(FUSE_MANY), "ranx", lambda: _with_empty_cache(RANX_MANY)),
        Row(HELPED, "–", time_process(HELP, runs=9, above=""), None, "the whole process"),
    ]
    found = {row.task: row.ours for row in reversed(rows)}
    return rows, [
        Target(f"{task}, ≤ {goal:g} s", with_cpu(found[task].seconds, found[task].cpu), found[task].seconds <= goal)
        for task, goal in GOALS.items()
    ]


def _row(task: str, ours: Timing, peer: str, theirs: Callable[[], Timing]) -> Row:
    if load(peer) is None:
        return skipped_row(task, peer, ours)
    return Row(task, peer, ours, theirs(), "")


def _fresh(code: str) -> Timing:
    return time_process(code, runs=1)


def _with_empty_cache(code: str) -> Timing:
    """One process with empty caches of compiled code."""
    with tempfile.TemporaryDirectory() as folder:
        start = os.times()
        seconds, _ = time_once(
            lambda: process(code, XDG_CACHE_HOME=folder, NUMBA_CACHE_DIR=str(Path(folder) / "numba"))
        )
        end = os.times()
    cpu = end.children_user + end.children_system - start.children_user - start.children_system
    return Timing(None, seconds, 1, cpu)
