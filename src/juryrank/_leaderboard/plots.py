"""Pictures of a leaderboard, by matplotlib."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

import numpy as np

from juryrank.figures import drawn_names, saved_drawing

if TYPE_CHECKING:
    from juryrank._leaderboard.board import Leaderboard

WRITTEN_UP_TO = 25  # items for which the chances fit into the cells


def draw_intervals(board: Leaderboard, path: str | PathLike[str]) -> None:
    """Scores from best to worst, each with its interval."""
    at = np.arange(len(board))
    with saved_drawing(path, 7.0, 1.0 + 0.25 * len(board)) as figure:
        axes = figure.subplots()
        if not np.isnan(board.low).any():
            axes.hlines(at, board.low, board.high, color="#7a9cc6", linewidth=3)
        axes.plot(board.score, at, "o", color="#1f3a5f", markersize=4)
        axes.set_yticks(at, drawn_names(board.items))
        axes.set_ylim(len(board) - 0.5, -0.5)
        axes.set_xlabel(f"score by {board.method}, {board.level:.0%} interval by {board.interval}")
        axes.grid(axis="x", alpha=0.3)


def draw_wins(board: Leaderboard, path: str | PathLike[str]) -> None:
    """The chance that each item beats each other."""
    chance = board.win_probability()
    n = len(board)
    with saved_drawing(path, 2.5 + 0.4 * n, 2.0 + 0.4 * n) as figure:
        axes = figure.subplots()
        image = axes.imshow(np.where(np.eye(n, dtype=bool), np.nan, chance), cmap="RdBu", vmin=0.0, vmax=1.0)
        names = drawn_names(board.items)
        axes.set_xticks(np.arange(n), names, rotation=90)
        axes.set_yticks(np.arange(n), names)
        axes.set_title(f"chance that the row beats the column ({board.method})")
        if n <= WRITTEN_UP_TO:
            for i, j in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
                axes.text(j, i, f"{chance[i, j]:.2f}", ha="center", va="center", fontsize=7)
        figure.colorbar(image, ax=axes, shrink=0.8)
