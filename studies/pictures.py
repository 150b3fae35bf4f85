"""Pictures by matplotlib, an extra: the one place in which studies draw."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.errors import MissingExtraError

COLOURS = ("#1f5fa8", "#c8502d", "#2e8b57", "#8e5ea2", "#b8860b", "#3aa6b9", "#a23b72", "#6b705c", "#999999", "#444444")
BOLD = "black"
T_95 = 2.262  # of Student's t with 9 degrees of freedom: ten draws
SHORT = 4  # letters of names that fit between points
STYLE: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "juryrank"}


@dataclass(frozen=True)
class Figure:
    """Data of a picture; ``kind`` is one of ``KINDS``."""

    name: str
    title: str
    kind: str
    data: dict[str, Any]


def draw(figure: Figure, form: str = "png") -> bytes:
    """A figure as PNG or SVG; equal data give equal bytes."""
    try:
        import matplotlib
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise MissingExtraError("plots need matplotlib: pip install 'juryrank[plots]'") from None
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(layout="constrained")
        KINDS[figure.kind](canvas, figure.data)
        if figure.title:
            canvas.suptitle(figure.title, x=0.01, ha="left", fontsize=10)
        out = io.BytesIO()
        canvas.savefig(out, format=form, dpi=110, metadata={"Software": None} if form == "png" else {"Date": None})
    return out.getvalue()


def _panels(canvas: Any, data: dict[str, Any]) -> list[tuple[Any, dict[str, Any]]]:
    panels = data["panels"]
    columns = data.get("columns", len(panels))
    rows = -(-len(panels) // columns)
    canvas.set_size_inches(0.6 + 4.6 * columns, 0.6 + 3.2 * rows)
    return list(zip(canvas.subplots(rows, columns, squeeze=False).ravel(), panels, strict=False))


def lines(canvas: Any, data: dict[str, Any]) -> None:
    """Panels of series over x; the bold ones stand out."""
    for axes, panel in _panels(canvas, data):
        for n, (name, y) in enumerate(panel["series"].items()):
            bold = name in panel.get("bold", ())
            dashed = bold and name != panel["bold"][0]
            colour = BOLD if bold else COLOURS[n % len(COLOURS)]
            axes.plot(
                panel["x"],
                y,
                label=name,
                lw=2.4 if bold else 1.3,
                color=colour,
                marker=".",
                ls="--" if dashed or (not bold and n >= len(COLOURS)) else "-",  # no two lines look the same
                zorder=3 if bold else 2,
            )
        axes.set(xlabel=panel["xlabel"], ylabel=panel["ylabel"], yscale=panel.get("yscale", "linear"))
        axes.set_title(panel.get("title", ""), fontsize=9)
        axes.grid(axis="y", color="#e4e7eb", lw=0.6)
        if all(isinstance(x, int) for x in panel["x"]):
            axes.xaxis.get_major_locator().set_params(integer=True)
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)), fontsize=8, frameon=False)


def bands(canvas: Any, data: dict[str, Any]) -> None:
    """Panels of series over x, on a logarithmic axis: means over draws with 95 % intervals; levels are dashed."""
    for axes, panel in _panels(canvas, data):
        for n, (name, draws) in enumerate(panel["series"].items()):
            values = np.array(draws)  # [n_x, n_draws]
            mean, half = values.mean(axis=1), T_95 * values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])
            axes.plot(panel["x"], mean, label=name, color=COLOURS[n], lw=2.2 if n == 0 else 1.2, marker=".", zorder=3)
            axes.fill_between(panel["x"], mean - half, mean + half, color=COLOURS[n], alpha=0.15, lw=0)
        for n, (name, level) in enumerate(panel["levels"].items()):
            axes.axhline(level, color=BOLD, lw=0.9, ls=(":", "--")[n], label=name)
        axes.set(xlabel=panel["xlabel"], ylabel=panel["ylabel"], xscale="log", ylim=panel.get("ylim"))
        axes.set_xticks(panel["x"], [f"{x:,}" for x in panel["x"]], fontsize=7)
        axes.minorticks_off()
        axes.set_title(panel.get("title", ""), fontsize=9)
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)), fontsize=8, frameon=False)


def scatter(canvas: Any, data: dict[str, Any]) -> None:
    """Panels of points, with their names if there are any."""
    for axes, panel in _panels(canvas, data):
        axes.scatter(panel["x"], panel["y"], s=panel.get("size", 16), alpha=0.6, linewidths=0, color=COLOURS[0])
        for name, x, y in _named(panel):
            axes.annotate(name, (x, y), xytext=(3, 3), textcoords="offset points", fontsize=7)
        axes.set(xlabel=panel["xlabel"], ylabel=panel["ylabel"], xscale=panel.get("xscale", "linear"))
        axes.set_title(panel.get("title", ""), fontsize=9)


def _named(panel: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Points whose names are drawn: all if names are short, else the highest few that do not overlap."""
    points = list(zip(panel.get("names", ()), panel["x"], panel["y"], strict=False))
    if max((len(name) for name, _, _ in points), default=0) <= SHORT:
        return points
    apart: list[tuple[str, float, float]] = []
    spread = float(np.ptp(panel["y"])) or 1.0
    for point in sorted(points, key=lambda point: -point[2]):
        if all(abs(point[2] - other[2]) > 0.05 * spread for other in apart):
            apart.append(point)
    return apart


def bars(canvas: Any, data: dict[str, Any]) -> None:
    """Panels of groups of bars: one group per name, one colour per series."""
    for axes, panel in _panels(canvas, data):
        width = 0.8 / len(panel["series"])
        for n, (name, values) in enumerate(panel["series"].items()):
            at = np.arange(len(values)) + (n - (len(panel["series"]) - 1) / 2) * width
            axes.bar(at, values, width, label=name, color=COLOURS[n])
        axes.set_xticks(range(len(panel["names"])), panel["names"])
        axes.set(xlabel=panel.get("xlabel", ""), ylabel=panel["ylabel"])
        axes.set_ylim(panel.get("lowest", 0))
        axes.set_title(panel.get("title", ""), fontsize=9)
    canvas.set_size_inches(max(5.2, 0.28 * len(panel["names"])) * len(data["panels"]), 3.4)
    handles, labels = axes.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8, frameon=False)


def hinton(canvas: Any, data: dict[str, Any]) -> None:
    """Squares whose area is the size of a weight: blue is positive, red negative."""
    from matplotlib.patches import Rectangle

    values, rows, columns = np.array(data["values"]), data["rows"], data["columns"]
    largest = np.abs(values).max(axis=1, keepdims=True) if data.get("by_row") else np.abs(values).max()
    canvas.set_size_inches(1.4 + 0.3 * values.shape[1], 1.3 + 0.3 * values.shape[0])
    axes = canvas.subplots()
    for (y, x), value in np.ndenumerate(values / np.maximum(largest, 1e-300)):
        size = 0.92 * np.sqrt(abs(value))
        colour = COLOURS[0] if value > 0 else COLOURS[1]
        axes.add_patch(Rectangle((x - size / 2, y - size / 2), size, size, facecolor=colour))
    axes.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(len(columns)), columns, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(len(rows)), rows)
    axes.tick_params(length=0)


def matrix(canvas: Any, data: dict[str, Any]) -> None:
    """Items down, experts across: a rank in each cell, the scores of two methods at the right."""
    ranks = np.array(data["ranks"], float)
    canvas.set_size_inches(3.2 + 0.34 * ranks.shape[1], 1.6 + 0.27 * ranks.shape[0])
    axes = canvas.subplots()
    share = np.where(np.isnan(ranks), np.nan, 1 / np.sqrt(np.where(np.isnan(ranks), 1, ranks)))
    axes.imshow(share, cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
    for (y, x), rank in np.ndenumerate(ranks):
        if not np.isnan(rank):
            axes.text(x, y, f"{rank:g}", ha="center", va="center", fontsize=7)
    axes.set_xticks(range(ranks.shape[1]), data["experts"])
    axes.set_yticks(range(ranks.shape[0]), data["items"])
    axes.tick_params(length=0)
    axes.set(xlabel="expert", ylabel="item [label]")
    right = axes.secondary_yaxis("right")
    right.set_yticks(range(ranks.shape[0]), data["scores"])
    right.tick_params(length=0)
    right.set_ylabel(data["scored_by"])


def ratios(canvas: Any, data: dict[str, Any]) -> None:
    """One bar per ratio, on a logarithmic scale; bars to the left of 1 have another colour."""
    values = data["values"]
    canvas.set_size_inches(9.0, 1.0 + 0.22 * len(values))
    axes = canvas.subplots()
    colours = [COLOURS[0] if ratio >= 1 else COLOURS[1] for ratio in values]
    axes.barh(range(len(values)), [ratio - 1 for ratio in values], left=1.0, color=colours)
    for n, (ratio, text) in enumerate(zip(values, data["texts"], strict=True)):
        axes.text(max(ratio, 1.0), n, f" {text}", va="center", fontsize=7)
    axes.set_xscale("log")
    axes.set_yticks(range(len(values)), data["names"], fontsize=7)
    axes.set_ylim(len(values) - 0.5, -0.5)
    axes.set_xlabel(data["xlabel"])
    axes.axvline(1.0, color="black", linewidth=0.8)


def growth(canvas: Any, data: dict[str, Any]) -> None:
    """Series of points [x, y] with logarithmic axes."""
    canvas.set_size_inches(9.0, 9.0)
    axes = canvas.subplots()
    for n, (name, (x, y)) in enumerate(data["series"].items()):
        axes.plot(x, y, ("-", "--", ":", "-.")[n // 10 % 4], color=COLOURS[n % 10], marker=".", label=name)
    axes.set(xscale="log", yscale="log", xlabel=data["xlabel"], ylabel=data["ylabel"])
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=3, loc="upper left")


KINDS: dict[str, Callable[[Any, dict[str, Any]], None]] = {
    "bands": bands,
    "bars": bars,
    "growth": growth,
    "hinton": hinton,
    "lines": lines,
    "matrix": matrix,
    "ratios": ratios,
    "scatter": scatter,
}
