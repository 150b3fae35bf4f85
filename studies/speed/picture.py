"""The results of a benchmark as pictures."""

from __future__ import annotations

from studies.pictures import Figure
from studies.speed.table import Benchmark
from studies.speed.targets import times


def ratio_figure(report: Benchmark) -> Figure:
    """One bar per row that has a peer's time; left of 1 the peer is faster."""
    rows = [(row, row.ratio) for row in report.results if row.ratio is not None]
    data = {
        "names": [f"{row.task} · {row.peer}" for row, _ in rows],
        "values": [ratio for _, ratio in rows],
        "texts": [times(ratio) for _, ratio in rows],
        "xlabel": "time of the peer / ours",
    }
    return Figure("speed", "", "ratios", data)


def growth_figure(report: Benchmark) -> Figure:
    """Seconds over entries, one line per method, the slowest first."""
    series = sorted((row.series for row in report.results if row.series), key=lambda s: -s.seconds[-1] / s.entries[-1])
    points = {f"{one.name} ({one.slope:.2f})": (one.entries, one.seconds) for one in series}
    data = {"series": points, "xlabel": "entries", "ylabel": "seconds (in brackets: slope)"}
    return Figure("scaling", "", "growth", data)
