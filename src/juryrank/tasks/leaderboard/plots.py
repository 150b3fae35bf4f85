"""Pictures of a leaderboard, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.io.pictures import saved_drawing
from juryrank.report.figure import drawn_names

ANNOTATED_UP_TO = 25  # items for which the probabilities fit into the cells


def draw_intervals(
    path: str | PathLike[str],
    items: Iterable[object],
    score: Floats,
    low: Floats,
    high: Floats,
    group: Ints,
    label: str,
) -> None:
    """Scores from best to worst, each with its interval; lines separate groups of items that never met."""
    at = np.arange(len(score))
    with saved_drawing(path, 7.0, 1.0 + 0.25 * len(score)) as figure:
        axes = figure.subplots()
        if not np.isnan(low).any():
            axes.hlines(at, low, high, color="#7a9cc6", linewidth=3)
        axes.plot(score, at, "o", color="#1f3a5f", markersize=4)
        for place in np.flatnonzero(np.diff(group)):
            axes.axhline(place + 0.5, color="#888888", linewidth=1)
        axes.set_yticks(at, drawn_names(items))
        axes.set_ylim(len(score) - 0.5, -0.5)
        axes.set_xlabel(label)
        axes.grid(axis="x", alpha=0.3)


def draw_wins(path: str | PathLike[str], items: Iterable[object], probability: Floats, title: str) -> None:
    """The probability that the item of each row beats that of each column."""
    n = len(probability)
    with saved_drawing(path, 2.5 + 0.4 * n, 2.0 + 0.4 * n) as figure:
        axes = figure.subplots()
        image = axes.imshow(np.where(np.eye(n, dtype=bool), np.nan, probability), cmap="RdBu", vmin=0.0, vmax=1.0)
        names = drawn_names(items)
        axes.set_xticks(np.arange(n), names, rotation=90)
        axes.set_yticks(np.arange(n), names)
        axes.set_title(title)
        if n <= ANNOTATED_UP_TO:
            for i, j in zip(*np.nonzero(~np.eye(n, dtype=bool) & ~np.isnan(probability)), strict=True):
                axes.text(j, i, f"{probability[i, j]:.2f}", ha="center", va="center", fontsize=7)
        figure.colorbar(image, ax=axes, shrink=0.8)
