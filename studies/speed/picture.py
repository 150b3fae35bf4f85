"""The table as a picture: how many times longer each peer takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from juryrank.errors import MissingExtraError
from studies.speed.table import Benchmark, times


def draw(report: Benchmark, path: Path) -> None:
    """One bar per row that has a peer's time, on a logarithmic scale; left of 1 the peer is faster."""
    rows = [row for row in report.found if row.ratio is not None]
    ratios = [row.ratio or 1.0 for row in rows]
    figure, axes = _canvas(9.0, 1.0 + 0.22 * len(rows))
    colours = ["#1f3a5f" if ratio >= 1 else "#b3541e" for ratio in ratios]
    axes.barh(range(len(rows)), [ratio - 1 for ratio in ratios], left=1.0, color=colours)
    for n, ratio in enumerate(ratios):
        axes.text(max(ratio, 1.0), n, f" {times(ratio)}", va="center", fontsize=7)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), [f"{row.task} · {row.peer}" for row in rows], fontsize=7)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xlabel("time of the peer / ours")
    axes.axvline(1.0, color="black", linewidth=0.8)
    figure.savefig(path)


def draw_growth(report: Benchmark, path: Path) -> None:
    """Seconds over entries, both logarithmic, one line per method."""
    figure, axes = _canvas(9.0, 9.0)
    series = sorted((row.series for row in report.found if row.series), key=lambda s: -s.seconds[-1] / s.entries[-1])
    for n, one in enumerate(series):
        style = ("-", "--", ":", "-.")[n // 10 % 4]
        axes.plot(one.entries, one.seconds, style, marker=".", label=f"{one.name} ({one.slope:.2f})")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("entries")
    axes.set_ylabel("seconds (in brackets: slope)")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=3, loc="upper left")
    figure.savefig(path)


def _canvas(width: float, height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError.of("plots", "plots need matplotlib") from None
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()
