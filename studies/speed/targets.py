"""Targets of the benchmark: a limit, the measured value by clock and by CPU, and whether it meets the limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from studies.speed.clock import Timing, seconds_text
from studies.tables import Table

if TYPE_CHECKING:
    from studies.speed.table import Row


@dataclass(frozen=True)
class Target:
    """A limit and what was measured; None as a verdict by clock means that nothing was measured."""

    target: str
    measured: str  # by clock
    by_clock: bool | None
    cpu: str = "–"  # the same by CPU
    by_cpu: bool | None = None  # None: CPU time was not measured
    peer: str = "–"  # the time of the peer in the same run
    task: str = ""

    @property
    def met(self) -> bool | None:
        """Both values must meet the limit: a busy machine makes long runs of peers look longer than they are."""
        return None if self.by_clock is None else self.by_clock and self.by_cpu is not False

    @property
    def verdict(self) -> str:
        """The verdict as text; on a busy machine a limit in seconds may be met by CPU only."""
        if self.by_clock is None:
            return "not measured"
        if self.by_cpu is None or self.by_clock == self.by_cpu:
            return "met" if self.by_clock else "NOT met"
        return "met by CPU only" if self.by_cpu else "met by clock only"

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "met": self.met, "verdict": self.verdict}


def targets_table(targets: Iterable[Target]) -> Table:
    """All targets of a run."""
    columns = ["task", "target", "by clock", "by CPU", "peer", ""]
    rows = [[t.task, t.target, t.measured, t.cpu, t.peer, t.verdict] for t in targets]
    note = "A peer's time is by clock, with CPU time in brackets, from the same run."
    return Table("Targets", columns, rows, n_names=2, note=note)


def times(ratio: float | None) -> str:
    """A ratio as text."""
    return "–" if ratio is None else f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.2f}×"


def timing_text(timing: Timing) -> str:
    """Seconds as text, with CPU seconds in brackets if they are known."""
    return seconds_text(timing.seconds) + ("" if timing.cpu is None else f" ({seconds_text(timing.cpu)})")


def at_most(target: str, timing: Timing, limit: float, peer: str = "–") -> Target:
    """The target that a call takes at most ``limit`` seconds."""
    return Target(
        f"{target} ≤ {seconds_text(limit)}", seconds_text(timing.seconds), timing.seconds <= limit,
        seconds_text(timing.cpu), None if timing.cpu is None else timing.cpu <= limit, peer,
    )  # fmt: skip


def at_least(target: str, rows: Sequence[Row], tasks: Sequence[str], peer: str, factor: float) -> list[Target]:
    """The targets that a peer takes at least ``factor`` times as long, one for each row."""
    return [
        of_ratio(f"{target}: {row.task}", row, row.ratio, row.cpu_ratio, lambda ratio: ratio >= factor)
        for row in rows
        if row.task in tasks and row.peer == peer
    ]


def at_most_times(target: str, rows: Sequence[Row], tasks: Sequence[str], peer: str, factor: float) -> list[Target]:
    """The targets that we take at most ``factor`` times as long as a peer, one for each row."""
    return [
        of_ratio(target, row, _inverse(row.ratio), _inverse(row.cpu_ratio), lambda ratio: ratio <= factor)
        for row in rows
        if row.task in tasks and row.peer == peer
    ]


def _inverse(ratio: float | None) -> float | None:
    return None if ratio is None else 1 / ratio


def of_ratio(target: str, row: Row, clock: float | None, cpu: float | None, meets: Callable[[float], bool]) -> Target:
    """A target for a ratio of a row; it is not met if results disagree, nor measured if the peer did not run."""
    if clock is None or row.theirs is None:
        return Target(target, "–", None, peer=row.agreement)
    peer, agree = f"{row.peer}: {timing_text(row.theirs)}", row.agrees is not False
    by_cpu = None if cpu is None else agree and meets(cpu)
    return Target(target, times(clock), agree and meets(clock), times(cpu), by_cpu, peer)
