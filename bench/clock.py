"""How long things take: the first call apart from the later ones, and whole processes."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Timing:
    """Seconds of one call: the first, which loads and compiles, and the median of the later ones."""

    first: float | None
    seconds: float
    runs: int


def timed(call: Callable[[], T], *, most: int = 7, budget: float = 4.0) -> tuple[Timing, T]:
    """The first call, then up to ``most`` more within ``budget`` seconds, at least one; and what the last returned."""
    first, result = once(call)
    later: list[float] = []
    while not later or (len(later) < most and sum(later) + later[-1] <= budget):
        seconds, result = once(call)
        later.append(seconds)
    return Timing(first, statistics.median(later), len(later)), result


def once(call: Callable[[], T]) -> tuple[float, T]:
    """Seconds of one call, and what it returned."""
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def alternating(calls: Sequence[Callable[[], Any]], *, rounds: int) -> list[Timing]:
    """Short calls taken in turns, so that what else the machine does falls on all of them alike."""
    firsts = [once(call)[0] for call in calls]
    later: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, seconds in zip(calls, later, strict=True):
            seconds.append(once(call)[0])
    return [Timing(first, statistics.median(s), rounds) for first, s in zip(firsts, later, strict=True)]


def fresh_process(code: str, *, runs: int, warm_up: bool = True) -> Timing:
    """Seconds that ``code`` takes in a new Python process, less those of one that does nothing."""

    def process(text: str) -> None:
        subprocess.run([sys.executable, "-c", text], check=True, capture_output=True)

    if warm_up:
        process(code)  # fills the caches of bytecode and of the disk
    pairs = [(once(lambda: process(code))[0], once(lambda: process("pass"))[0]) for _ in range(runs)]
    return Timing(None, statistics.median(full - bare for full, bare in pairs), runs)


def seconds_text(seconds: float | None) -> str:
    """Seconds as a person reads them."""
    if seconds is None:
        return "–"
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"
