"""Picture of the pairwise counts of an election, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.io.pictures import saved_drawing
from juryrank.methods.elections.rounds import number
from juryrank.report.figure import drawn_names

ANNOTATED_UP_TO = 25  # candidates for which the counts fit into the cells


def draw_pairs(path: str | PathLike[str], candidates: Iterable[object], counts: Floats, margins: Floats) -> None:
    """The ballots with the candidate of each row above that of each column; blue where the row wins, red where not."""
    n = len(counts)
    reach = float(np.abs(margins).max(initial=0.0)) or 1.0
    with saved_drawing(path, 2.5 + 0.55 * n, 2.0 + 0.55 * n) as figure:
        axes = figure.subplots()
        shown = np.where(np.eye(n, dtype=bool), np.nan, margins)
        image = axes.imshow(shown, cmap="RdBu", vmin=-reach, vmax=reach)
        names = drawn_names(candidates)
        axes.set_xticks(np.arange(n), names, rotation=90)
        axes.set_yticks(np.arange(n), names)
        axes.set_title("ballots with the row above the column")
        if n <= ANNOTATED_UP_TO:
            for i, j in zip(*np.nonzero(~np.eye(n, dtype=bool)), strict=True):
                dark = abs(margins[i, j]) > 0.6 * reach
                text = number(float(counts[i, j]))
                axes.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        figure.colorbar(image, ax=axes, shrink=0.8, label="margin")
