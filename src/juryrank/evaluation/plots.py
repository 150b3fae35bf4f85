"""Pictures of a comparison, by matplotlib."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from juryrank.figures import drawn_names, saved_drawing

if TYPE_CHECKING:
    from juryrank.evaluation.comparison import Comparison

BETTER, WORSE, NEITHER = "#1f5fa8", "#c8502d", "#8a8a8a"


def draw_differences(found: Comparison, path: str | PathLike[str]) -> None:
    """One panel per metric: differences to the baseline with their intervals, best by the first metric on top."""
    order = np.argsort(-found.means[:, 0], kind="stable")
    n_metrics = len(found.metrics)
    names = drawn_names([found.names[n] for n in order])
    baseline = names[[found.names[n] for n in order].index(found.baseline)]
    with saved_drawing(path, 1.2 + 0.08 * max(map(len, names)) + 3.4 * n_metrics, 1.3 + 0.24 * len(order)) as figure:
        panels = figure.subplots(1, n_metrics, sharey=True, squeeze=False)[0]
        for k, axes in enumerate(panels):
            _panel(axes, found, order, k, baseline)
        panels[0].set_yticks(np.arange(len(order)), names)
        panels[0].set_ylim(len(order) - 0.5, -0.5)
        figure.suptitle(
            f"Difference to {baseline} with 95 % intervals, {len(found.queries)} queries\n"
            "blue: better, red: worse (randomisation test, Holm, p < 0.05)",
            fontsize="small",
        )


def _panel(axes: Any, found: Comparison, order: Any, k: int, baseline: str) -> None:
    metric = str(found.metrics[k])
    base = float(found.means[found.names.index(found.baseline), k])
    for at, n in enumerate(order):
        versus = found.versus.get((found.names[n], metric))
        if versus is None:
            axes.plot(0.0, at, "D", color="black", markersize=4)
            continue
        colour = _colour(found.direction(found.names[n], metric))
        axes.hlines(at, versus.low, versus.high, color=colour, linewidth=2, alpha=0.6)
        axes.plot(versus.difference, at, "o", color=colour, markersize=4)
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_xlabel(f"{metric} ({baseline}: {base:.4f})")
    axes.grid(axis="x", alpha=0.3)


def _colour(direction: int) -> str:
    return {1: BETTER, -1: WORSE, 0: NEITHER}[direction]
