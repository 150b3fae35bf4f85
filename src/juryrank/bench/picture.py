"""The table as a picture: how many times longer each peer takes."""

from __future__ import annotations

from pathlib import Path

from juryrank.bench.table import Benchmark, times
from juryrank.errors import MissingExtraError


def draw(report: Benchmark, path: Path) -> None:
    """One bar per row that has a peer's time, on a logarithmic scale; left of 1 the peer is faster."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("pictures need matplotlib: pip install 'juryrank[plots]'") from None
    rows = [row for row in report.found if row.ratio is not None]
    ratios = [row.ratio or 1.0 for row in rows]
    figure = Figure(figsize=(9.0, 1.0 + 0.22 * len(rows)), layout="constrained")
    axes = figure.subplots()
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
