"""Pictures of a comparison, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from juryrank.evaluation.baseline_differences import BaselineDifference
from juryrank.io.pictures import saved_drawing
from juryrank.report.figure import drawn_names

COLOURS = {1: "#1f5fa8", -1: "#c8502d", 0: "#8a8a8a"}  # by direction: better, worse, not significant


@dataclass(frozen=True)
class Panel:
    """The differences of all methods to the baseline by one metric."""

    metric: str
    baseline_mean: float
    differences: Sequence[BaselineDifference | None]  # None for the baseline itself
    directions: Sequence[int]  # 1 or -1 where a difference is significant, else 0


def draw_differences(
    path: str | PathLike[str], names: Sequence[str], baseline: str, panels: Sequence[Panel], n_queries: int
) -> None:
    """One panel per metric, side by side: differences to the baseline with their intervals, in the order of names."""
    shown = drawn_names(names)
    shown_baseline = shown[names.index(baseline)]
    with saved_drawing(path, 1.2 + 0.08 * max(map(len, shown)) + 3.4 * len(panels), 1.3 + 0.24 * len(names)) as figure:
        axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
        for one, panel in zip(axes, panels, strict=True):
            _draw_panel(one, panel, shown_baseline)
        axes[0].set_yticks(np.arange(len(names)), shown)
        axes[0].set_ylim(len(names) - 0.5, -0.5)
        figure.suptitle(
            f"Difference to {shown_baseline} with 95 % intervals, {n_queries} queries\n"
            "blue: better, red: worse (randomisation test, Holm, p < 0.05)",
            fontsize="small",
        )


def _draw_panel(axes: Any, panel: Panel, baseline: str) -> None:
    for at, (one, direction) in enumerate(zip(panel.differences, panel.directions, strict=True)):
        if one is None:
            axes.plot(0.0, at, "D", color="black", markersize=4)
            continue
        axes.hlines(at, one.low, one.high, color=COLOURS[direction], linewidth=2, alpha=0.6)
        axes.plot(one.difference, at, "o", color=COLOURS[direction], markersize=4)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel(f"{panel.metric} ({baseline}: {panel.baseline_mean:.4f})")
    axes.grid(axis="x", alpha=0.3)
