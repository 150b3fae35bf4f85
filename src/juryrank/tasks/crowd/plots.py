"""The picture of a crowd, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from juryrank.data.arrays import Floats
from juryrank.io.pictures import saved_drawing
from juryrank.report.figure import drawn_names
from juryrank.tasks.crowd.review import Worker

ANNOTATED_UP_TO = 12  # classes for which the shares fit into the cells
NAMED = 8  # workers to review whose names are drawn


def draw_crowd(path: str | PathLike[str], workers: Sequence[Worker], classes: Sequence[str], confusion: Floats) -> None:
    """Left, the workers by number of answers and reliability; right, the confusion matrix of the average worker."""
    with saved_drawing(path, 12.0, 5.0) as figure:
        left, right = figure.subplots(1, 2, width_ratios=[1.3, 1])
        for marked, colour, text in ((False, "#1f3a5f", "workers"), (True, "#c0392b", "to review")):
            some = [each for each in workers if bool(each.reasons) is marked]
            left.plot(
                [w.answers for w in some], [w.reliability for w in some], "o", color=colour, alpha=0.5, label=text
            )
        busiest = sorted((w for w in workers if w.reasons), key=lambda w: (-w.answers, w.worker))[:NAMED]
        for each, name in zip(busiest, drawn_names(w.worker for w in busiest), strict=True):
            left.annotate(name, (each.answers, each.reliability), xytext=(4, 4), textcoords="offset points", fontsize=7)
        left.set_xscale("log")
        left.xaxis.set_major_formatter("{x:g}")  # the usual labels are formulas, which are off
        left.set_ylim(-0.02, 1.02)
        left.set_xlabel("answers")
        left.set_ylabel("reliability: estimated share of right answers")
        left.legend(loc="lower right")
        left.grid(alpha=0.3)
        image = right.imshow(confusion, cmap="Blues", vmin=0.0, vmax=1.0)
        names = drawn_names(classes)
        right.set_xticks(range(len(names)), names, rotation=90 if max(map(len, names)) > 6 else 0)
        right.set_yticks(range(len(names)), names)
        right.set_xlabel("label given")
        right.set_ylabel("label")
        right.set_title("average worker")
        if len(names) <= ANNOTATED_UP_TO:
            for i in range(len(names)):
                for j in range(len(names)):
                    shade = "white" if confusion[i, j] > 0.6 else "black"
                    right.text(j, i, f"{confusion[i, j]:.2f}", ha="center", va="center", fontsize=8, color=shade)
        figure.colorbar(image, ax=right, shrink=0.8)
