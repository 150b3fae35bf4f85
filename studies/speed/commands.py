"""Whole commands, each in a process of its own: seconds by clock and by CPU, peak memory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from studies.speed.clock import Timing, bytes_text, seconds_text, with_bytecode
from studies.tables import Table

LAUNCH = [sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py"))]
OURS = [sys.executable, "-m", "juryrank"]


class CommandError(Exception):
    """A command that ended with an error."""


@dataclass(frozen=True)
class CommandRow:
    """One command; without ``cold``, only warm runs were measured."""

    command: str
    page: str  # the page that shows it
    warm: Timing
    cold: Timing | None = None
    remark: str = ""

    @property
    def difference(self) -> Timing | None:
        """What the first run takes in addition."""
        if self.cold is None:
            return None
        cpu = None if self.cold.cpu is None or self.warm.cpu is None else self.cold.cpu - self.warm.cpu
        return Timing(None, self.cold.seconds - self.warm.seconds, 1, cpu)


def run_command(args: Sequence[str], folder: Path, stdin: Path | None = None, **environment: str) -> Timing:
    """Run one command in a folder; its output goes to a temporary file, and to the error if it fails."""
    with tempfile.NamedTemporaryFile() as out:
        request = {"args": list(args), "folder": str(folder), "stdin": str(stdin or os.devnull), "out": out.name}
        done = subprocess.run(
            LAUNCH, input=json.dumps(request), check=True, capture_output=True, text=True,
            env=with_bytecode(environment),
        )  # fmt: skip
        found = json.loads(done.stdout)
        if found["code"]:
            raise CommandError(f"exit code {found['code']}: {_last_line(Path(out.name))[:150]}")
    return Timing(None, found["clock"], 1, found["cpu"], found["memory"])


def _last_line(path: Path) -> str:
    """The last line of the output that has letters: an error is often in a box."""
    lines = [line.strip("│ ") for line in path.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if re.search(r"\w", line)), "")


def fastest(timings: Sequence[Timing]) -> Timing:
    """The smallest seconds by clock and by CPU, and the smallest peak memory, of several runs of a command."""
    cpu = [t.cpu for t in timings if t.cpu is not None]
    memory = [t.memory for t in timings if t.memory is not None]
    return Timing(
        None, min(t.seconds for t in timings), len(timings), min(cpu, default=None), min(memory, default=None)
    )


def commands_table(rows: Sequence[CommandRow]) -> Table:
    """All commands of a run."""
    columns = [
        "command", "page", "cold", "warm", "difference", "cold, CPU", "warm, CPU", "difference, CPU",
        "memory, warm", "remarks",
    ]  # fmt: skip
    note = (
        "Each command runs in a process of its own. Cold: the first run, with an empty cache of the user; libraries "
        "and their bytecode are in the disk cache. Warm: the fastest of the later runs. "
        "Memory: the peak of the whole process."
    )
    return Table("Commands", columns, [_cells(row) for row in rows], n_names=2, note=note)


def _cells(row: CommandRow) -> list[str]:
    three = (row.cold, row.warm, row.difference)
    clock = ["–" if one is None else signed_seconds(one.seconds) for one in three]
    cpu = ["–" if one is None or one.cpu is None else signed_seconds(one.cpu) for one in three]
    return [row.command, row.page, *clock, *cpu, bytes_text(row.warm.memory), row.remark]


def signed_seconds(seconds: float) -> str:
    """Seconds as text, also for a difference below 0."""
    return seconds_text(seconds) if seconds >= 0 else f"−{seconds_text(-seconds)}"
