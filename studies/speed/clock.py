"""Times of calls and of whole processes; the first call is separate from later ones."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Effort(Enum):
    """How long the benchmark may take."""

    QUICK = "quick"  # fewer repetitions, small sizes: to see that the tasks work
    USUAL = "usual"
    SLOW = "slow"  # more time for slow libraries

    @property
    def patience(self) -> float:
        """The factor of time limits."""
        return 5.0 if self is Effort.SLOW else 1.0

    def repetitions(self, usual: int) -> int:
        """How often something is measured, instead of ``usual`` times."""
        return max(2, usual // 5) if self is Effort.QUICK else usual


SELF = Path("/proc/self")  # where Linux reports and resets the peak memory of this process


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the first, which loads and compiles, and the fastest of the later ones."""

    first: float | None
    seconds: float
    runs: int
    cpu: float | None = None  # seconds of all threads; less than ``seconds`` on a busy machine
    memory: int | None = None  # peak bytes of the later calls, minus the bytes before them

    def over(self, n: float) -> Timing:
        """The time per unit, for a call that processed ``n`` units (also fewer than one)."""
        return replace(self, seconds=self.seconds / n, cpu=None if self.cpu is None else self.cpu / n)


class Repeated(Generic[T]):
    """A call that is timed again and again: at most ``most`` times, within ``budget`` seconds, but at least once.

    Each time, it runs for ``batch`` seconds: a short call is not slowed down by what ran before it.
    """

    def __init__(self, call: Callable[[], T], *, most: int = 7, budget: float = 4.0, batch: float = 0.0) -> None:
        self._call, self._most, self._budget, self._batch = call, most, budget, batch
        self._spent: list[float] = []  # by clock, one for each batch
        self._fastest: list[tuple[float, float]] = []  # by clock and by CPU, of each batch
        self._memory: int | None = None
        self.first, self.result = time_once(call)

    def again(self) -> bool:
        """Time the call again; False if it has been timed often enough."""
        spent = self._spent
        if spent and (len(spent) >= self._most or sum(spent) + spent[-1] > self._budget):
            return False
        held = None if spent else memory_before()
        start = time.perf_counter()
        clock = cpu = math.inf
        while clock == math.inf or time.perf_counter() - start < self._batch:
            busy = time.process_time()
            seconds, self.result = time_once(self._call)
            clock, cpu = min(clock, seconds), min(cpu, time.process_time() - busy)
        spent.append(time.perf_counter() - start)
        if held is not None:
            self._memory = memory_since(held)
        self._fastest.append((clock, cpu))
        return True

    @property
    def timing(self) -> Timing:
        """The fastest call, by clock and by CPU."""
        clock, cpu = (min(column) for column in zip(*self._fastest, strict=True))
        return Timing(self.first, clock, len(self._fastest), cpu, self._memory)


def time_call(call: Callable[[], T], *, most: int = 7, budget: float = 4.0) -> tuple[Timing, T]:
    """The first call, then up to ``most`` more within ``budget`` seconds, at least one; and the result of the last."""
    repeated = Repeated(call, most=most, budget=budget)
    while repeated.again():
        pass
    return repeated.timing, repeated.result


def time_once(call: Callable[[], T]) -> tuple[float, T]:
    """Seconds of one call, and its result."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def memory_before() -> int | None:
    """Reset the peak memory of this process and return the bytes in use; None if the system does not support it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # memory that earlier calls freed would hide the use of this one
        (SELF / "clear_refs").write_text("5")
        return _bytes("VmRSS")
    return None


def memory_since(held: int | None) -> int | None:
    """The peak since ``memory_before`` minus the bytes that were in use then."""
    return None if held is None else max(0, _bytes("VmHWM") - held)


def _bytes(field: str) -> int:
    for line in (SELF / "status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    return 0


def time_in_turns(calls: Sequence[Callable[[], Any]], *, rounds: int) -> list[Timing]:
    """Time short calls in turns, so that other load on the machine affects all of them equally; medians."""
    firsts = [time_once(call)[0] for call in calls]
    timed = [*calls, _nothing]
    spent: list[list[tuple[float, float]]] = [[] for _ in timed]
    for _ in range(rounds):
        for call, times in zip(timed, spent, strict=True):
            busy = time.process_time()
            seconds, _ = time_once(call)
            times.append((seconds, time.process_time() - busy))
    *middle, (_, overhead) = [tuple(map(statistics.median, zip(*times, strict=True))) for times in spent]
    return [
        Timing(first, seconds, rounds, max(0.0, cpu - overhead))
        for first, (seconds, cpu) in zip(firsts, middle, strict=True)
    ]


def _nothing() -> None:
    """A call whose CPU time is the cost of measuring."""


def time_process(code: str, *, runs: int, warm_up: bool = True, above: str = "pass") -> Timing:
    """Seconds of ``code`` in a new Python process, minus those of a process that runs ``above``."""
    if warm_up:
        process(code)  # fills the caches of bytecode and of the disk
    start = _cpu_of_children()
    full = [time_once(lambda: process(code))[0] for _ in range(runs)]
    middle = _cpu_of_children()
    bare = [time_once(lambda: process(above))[0] for _ in range(runs)] if above else [0.0]
    cpu = (2 * middle - start - _cpu_of_children()) / runs if above else (middle - start) / runs
    return Timing(None, statistics.median(full) - statistics.median(bare), runs, cpu)


def process(code: str, **environment: str) -> str:
    """The output of a new Python process that runs ``code``."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=with_bytecode(environment))
    return done.stdout


def with_bytecode(more: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that is measured: it stores bytecode, even if this process does not.

    Otherwise every process would compile the libraries again, which pip does when it installs them.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | dict(more)


def _cpu_of_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def seconds_text(seconds: float | None) -> str:
    """Seconds with a readable unit."""
    if seconds is None:
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def bytes_text(size: int | None) -> str:
    """Bytes with a readable unit."""
    return "–" if size is None else f"{size / 2**20:,.1f} MiB" if size < 2**30 else f"{size / 2**30:.3g} GiB"
