"""An explanation as a picture, drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from juryrank.errors import UnknownNameError
from juryrank.report.figure import drawing, drawn_names, picture_bytes
from juryrank.tasks.explain.contributions import QueryMatrix
from juryrank.tasks.explain.leave_one_out import LeaveOneOut
from juryrank.tasks.explain.parts import Parts, SingleExperts
from juryrank.tasks.explain.redundancy import Redundancy

FORMS = ("png", "svg")
POSITIVE, NEGATIVE = "#1f5fa8", "#c8502d"  # as on the page
CELL = 0.32  # inches of a square of a grid


def picture(found: Parts, form: str) -> bytes:
    """The parts of an explanation, one below the other."""
    if form not in FORMS:
        raise UnknownNameError.of("picture format", form, FORMS)
    width = max(6.5, 3.2 + CELL * _columns(found))
    parts = _parts(found, width)
    heights = [height for height, _ in parts]
    with drawing(width, sum(heights), **{"font.size": 9}) as figure:
        rows = figure.subfigures(len(parts), 1, height_ratios=heights, squeeze=False)[:, 0]
        for row, (_, draw) in zip(rows, parts, strict=True):
            draw(row.subplots())
        return picture_bytes(figure, form, metadata={"Date": None} if form == "svg" else {"Software": None})


def _columns(found: Parts) -> int:
    return max(len(found.weights), 0 if found.redundancy is None else len(found.redundancy.experts))


def _parts(found: Parts, width: float) -> list[tuple[float, Callable[[Any], None]]]:
    """The height of each part in inches, and the function that draws it."""
    kinds = len(next(iter(found.weights.values()), {}))
    wide = min(0.6, (width - 0.5) / max(len(found.weights), 1))  # squares that fill the width
    parts: list[tuple[float, Callable[[Any], None]]] = [
        (1.7 + wide * max(kinds, 1), lambda axes: hinton(axes, found.method, found.weights))
    ]
    if (s := found.single_experts) is not None and s.with_weights(found.weights):
        parts.append((3.2, lambda axes: _single_experts(axes, s, found.weights)))
    if (w := found.leave_one_out) is not None:
        parts.append((1.2 + 0.2 * len(w.left_out), lambda axes: _leave_one_out(axes, w)))
    if (r := found.redundancy) is not None:
        parts.append((1.8 + CELL * len(r.experts), lambda axes: _agreement(axes, r)))
    if (q := found.matrix) is not None:
        parts.append((2.0 + 0.24 * len(q.items), lambda axes: matrix(axes, found.method, q)))
    return parts


def hinton(axes: Any, method: str, weights: dict[str, dict[str, float]]) -> None:
    """Squares whose area is the size of a weight, by kind of weight: blue is positive, red negative."""
    axes.set_title(f"{method}: weights of experts" if weights else f"{method}: no weights of experts", loc="left")
    if not weights:
        axes.axis("off")
        return
    kinds = list(next(iter(weights.values())))
    values = np.array([[row[kind] for row in weights.values()] for kind in kinds])
    squares(axes, values / np.maximum(np.abs(values).max(axis=1, keepdims=True), 1e-300), kinds, list(weights))


def _single_experts(axes: Any, found: SingleExperts, weights: dict[str, dict[str, float]]) -> None:
    """The weight of each expert against its value (WWW 2007, Figure 1)."""
    points = found.with_weights(weights)
    axes.scatter([value for _, value, _ in points], [weight for _, _, weight in points], color=POSITIVE, s=18)
    shown = drawn_names([name for name, _, _ in points])
    for name, (_, value, weight) in zip(shown, points, strict=True):
        axes.annotate(name, (value, weight), xytext=(3, 3), textcoords="offset points", fontsize=7)
    axes.set(xlabel=f"{found.metric} of the single expert", ylabel="weight")
    axes.set_title("weight against accuracy", loc="left")
    axes.spines[["top", "right"]].set_visible(False)


def _agreement(axes: Any, found: Redundancy) -> None:
    axes.set_title("agreement of experts: above chance blue, below red", loc="left")
    share = 2 * np.nan_to_num(found.share, nan=0.5) - 1
    np.fill_diagonal(share, 0.0)
    squares(axes, share, list(found.experts), list(found.experts))


def squares(axes: Any, share: np.ndarray, rows: list[str], columns: list[str]) -> None:
    from matplotlib.patches import Rectangle

    for (y, x), value in np.ndenumerate(share):
        size = 0.92 * np.sqrt(abs(value))
        colour = POSITIVE if value > 0 else NEGATIVE
        axes.add_patch(Rectangle((x - size / 2, y - size / 2), size, size, facecolor=colour))
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5), aspect="equal")
    _names(axes, rows, columns)


def _names(axes: Any, rows: list[str], columns: list[str]) -> None:
    axes.set_xticks(range(len(columns)), drawn_names(columns), rotation=60, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), drawn_names(rows))
    axes.set_xticks(np.arange(len(columns) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(rows) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="#d8dce2", linewidth=0.6)
    axes.tick_params(which="both", length=0)
    axes.set_axisbelow(True)


def _leave_one_out(axes: Any, found: LeaveOneOut) -> None:
    """The change of the first metric without each expert, with its standard error."""
    rows = sorted(found.left_out.items(), key=lambda row: -row[1][0][1])
    change = np.array([values[0][1] for _, values in rows])
    error = np.nan_to_num([values[0][2] for _, values in rows])
    colours = [POSITIVE if value > 0 else NEGATIVE for value in change]
    axes.barh(range(len(rows)), change, xerr=error, color=colours, ecolor="#888", height=0.7)
    axes.set_yticks(range(len(rows)), drawn_names([name for name, _ in rows]))
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.axvline(0, color="#444", linewidth=0.8)
    how = "refitted, held-out queries" if found.refitted else "same model"
    axes.set_title(f"change of {found.metrics[0]} without an expert, ± standard error ({how})", loc="left")
    axes.spines[["top", "right", "left"]].set_visible(False)


def matrix(axes: Any, method: str, found: QueryMatrix) -> None:
    """Items by experts: the colour is the contribution, the number is the rank; the place by RRF is on the right."""
    from matplotlib.colors import LinearSegmentedColormap

    largest = float(np.abs(found.contributions).max(initial=0.0)) or 1.0
    colours = LinearSegmentedColormap.from_list("contribution", [NEGATIVE, "white", POSITIVE])
    axes.imshow(found.contributions, cmap=colours, vmin=-largest, vmax=largest, aspect="auto")
    for (y, x), rank in np.ndenumerate(found.ranks):
        if not np.isnan(rank):
            ink = "white" if abs(found.contributions[y, x]) > 0.6 * largest else "#222"
            axes.text(x, y, f"{rank:g}", ha="center", va="center", fontsize=7, color=ink)
    names = [
        f"{item}  [{'–' if np.isnan(label) else f'{label:g}'}]  {n}"
        for n, (item, label) in enumerate(zip(found.items, found.labels, strict=True), 1)
    ]
    _names(axes, names, list(found.experts))
    right = axes.secondary_yaxis("right")
    places = zip(found.rrf_places, found.scores, strict=True)
    right.set_yticks(range(len(names)), [f"{place:.0f}   {score:.3g}" for place, score in places])
    right.tick_params(length=0)
    axes.set_title(f"query {drawn_names([found.query])[0]}: ranks; colour: contribution to the score", loc="left")
    axes.set_ylabel("item [label] place")
    right.set_ylabel(f"place by RRF, score of {method}")
