"""The results of the benchmark: rows of times and targets, as tables and JSON."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from studies.speed.clock import Repeated, Timing, bytes_text, seconds_text
from studies.speed.commands import CommandRow, commands_table
from studies.speed.peers import Peer, silent
from studies.speed.targets import Target, targets_table, times
from studies.tables import Report, Table

PACKAGES = (
    "juryrank", "numpy", "scipy", "polars", "duckdb", "ranx", "pyflagr", "trectools", "pytrec-eval-terrier",
    "ir-measures", "langchain-core", "langchain-classic", "llama-index-core", "haystack-ai", "pref_voting", "evalica",
    "choix", "openskill", "trueskill", "arena-rank", "lightgbm",
)  # fmt: skip


@dataclass(frozen=True)
class Series:
    """How a cost grows: entries, seconds and bytes, from small to large."""

    name: str
    entries: list[int]
    seconds: list[float]
    memory: list[int | None]

    @property
    def slope(self) -> float:
        """The slope of seconds over entries in logarithms, for large sizes: 1 is linear."""
        points = list(zip(self.entries, self.seconds, strict=True))
        long = [point for point in points if point[0] >= SLOPE_FROM]
        entries, seconds = np.log(np.array(long if len(long) > 1 else points[-2:], float)).T
        return float(np.polyfit(entries, seconds, 1)[0])


@dataclass(frozen=True)
class Row:
    """Our time and a peer's for one task; ``agrees`` is None if they compute different things."""

    task: str
    peer: str
    ours: Timing
    theirs: Timing | None  # None: the peer did not run, and ``agreement`` says why
    agreement: str
    agrees: bool | None = None
    limit: float | None = None  # seconds of unavoidable memory traffic or parsing
    series: Series | None = None

    @property
    def ratio(self) -> float | None:
        """How many times longer the peer takes."""
        return None if self.theirs is None else self.theirs.seconds / self.ours.seconds

    @property
    def cpu_ratio(self) -> float | None:
        """The same by CPU time, which does not depend on other processes."""
        if self.theirs is None or not self.theirs.cpu or not self.ours.cpu:
            return None
        return self.theirs.cpu / self.ours.cpu


MOST, BATCH = 15, 0.02  # how often a call is timed, and for how many seconds each time
SLOPE_FROM = 10_000  # entries; below, fixed costs are most of the time

Results = tuple[Sequence[Row | CommandRow], list[Target]]


Compare = Callable[[Any, Any], tuple[str, bool | None]]


def side_by_side(
    task: str,
    ours: Callable[[], Any],
    peers: list[Peer],
    compare: Compare,
    *,
    bare: Callable[[], Any] | None = None,
    budget: float = 4.0,
) -> list[Row]:
    """A row for every peer, all timed in turns; ``compare`` describes how far both results agree.

    ``bare`` is the unavoidable work: one pass over the arrays, or parsing the bytes.
    """
    mine = Repeated(ours, most=MOST, budget=budget, batch=BATCH)
    least = None if bare is None else Repeated(bare, most=MOST, budget=budget, batch=BATCH)
    theirs = {n: _started(peer, budget) for n, peer in enumerate(peers)}
    in_turns(mine, *([] if least is None else [least]), *(one for one in theirs.values() if isinstance(one, Repeated)))
    limit = None if least is None else least.timing.seconds
    rows = []
    for n, peer in enumerate(peers):
        one = theirs[n]
        if not isinstance(one, Repeated):
            name = peer.name if one.startswith("failed") else peer.package
            rows.append(Row(task, name, mine.timing, None, one, limit=limit))
            continue
        try:
            text, agrees = compare(mine.result, peer.plain(one.result))
        except Exception as error:
            text, agrees = failed_text(error), False
        text = f"{text}; {peer.note}" if peer.note else text
        rows.append(Row(task, peer.name, mine.timing, one.timing, text, agrees, limit))
    return rows


def _started(peer: Peer, budget: float) -> Repeated[Any] | str:
    """The peer after its first call, or why there is none: an error of a peer must not lose the other rows."""
    try:
        call = peer.call()
        if call is None:
            return skipped_text(peer.package)
        with silent():
            return Repeated(call, most=MOST, budget=budget, batch=BATCH)
    except Exception as error:
        return failed_text(error)


def in_turns(*calls: Repeated[Any]) -> None:
    """Time calls in turns, until each has been timed often enough; what they print is suppressed."""
    with silent():
        while calls:
            calls = tuple(call for call in calls if call.again())


def failed_text(error: Exception) -> str:
    """The remark for a peer that raised an error."""
    return f"failed: {type(error).__name__}: {str(error).partition(chr(10))[0][:80]}"


def skipped_text(package: str) -> str:
    """The remark for a peer that is not installed."""
    return f"skipped: {package} is not installed"


def skipped_row(task: str, package: str, ours: Timing, limit: float | None = None) -> Row:
    """The row of a peer that is not installed."""
    return Row(task, package, ours, None, skipped_text(package), limit=limit)


@dataclass(frozen=True, repr=False)
class Benchmark(Report):
    """All rows and targets of one run."""

    results: list[Row]
    targets: list[Target]
    description: str
    seconds: float
    load: float  # of the machine, in the minute before the start
    commands: list[CommandRow] = field(default_factory=list)

    def tables(self) -> list[Table]:
        speed = [self._cells(row) for row in self.results]
        columns = [
            "task", "peer", "ours, first", "ours", "peer, first", "peer", "peer / ours", "by CPU", "agree?",
            "memory, ours", "memory, peer", "limit", "ours / limit", "remarks",
        ]  # fmt: skip
        note = (
            f"{self.description} First: the first call in the process, with empty caches of compiled code; then the "
            "fastest of later calls. Memory: the peak above the use before. Limit: one pass over the arrays, or "
            f"parsing the bytes, that the task needs. {self.machine}"
        )
        return [
            Table("Speed", columns, speed, n_names=2, note=note),
            *([commands_table(self.commands)] if self.commands else []),
            targets_table(self.targets),
        ]

    @property
    def machine(self) -> str:
        """The machine, its load, and the versions of everything."""
        return (
            f"{os.cpu_count()} cores, load {self.load:.1f} at the start, Python {platform.python_version()}, "
            f"{', '.join(f'{name} {v}' for name, v in versions().items())}. {self.seconds:.0f} s in total."
        )

    def _cells(self, row: Row) -> list[str]:
        theirs = [seconds_text(t) for t in ((row.theirs.first, row.theirs.seconds) if row.theirs else (None, None))]
        ours = [seconds_text(t) for t in (row.ours.first, row.ours.seconds)]
        memory = [bytes_text(row.ours.memory), bytes_text(row.theirs.memory if row.theirs else None)]
        agrees = {True: "yes", False: "NO", None: "–"}[row.agrees]
        limit = [seconds_text(row.limit), times(row.ours.seconds / row.limit if row.limit else None)]
        ratios = [times(row.ratio), times(row.cpu_ratio)]
        return [row.task, row.peer, *ours, *theirs, *ratios, agrees, *memory, *limit, row.agreement]

    def rows(self) -> list[dict[str, Any]]:
        return [{**asdict(row), "ratio": row.ratio, "cpu_ratio": row.cpu_ratio} for row in self.results]

    def to_dict(self) -> dict[str, Any]:
        return {
            "data": self.description,
            "seconds": self.seconds,
            "cores": os.cpu_count(),
            "load": self.load,
            "python": platform.python_version(),
            "versions": versions(),
            "rows": self.rows(),
            "commands": [asdict(row) for row in self.commands],
            "targets": [target.to_dict() for target in self.targets],
        }


def versions() -> dict[str, str]:
    """The versions of the packages."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
