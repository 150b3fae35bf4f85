"""An explanation as one self-contained HTML page: tables, and pictures drawn as SVG."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

from juryrank.report import Table, escape_controls, html_page, html_table
from juryrank.tasks.explain.contributions import QueryMatrix
from juryrank.tasks.explain.parts import Parts
from juryrank.tasks.explain.redundancy import Redundancy

CELL = 26  # pixels of a square of the grid
POSITIVE, NEGATIVE, LINE = "#1f5fa8", "#c8502d", "#d8dce2"


def page(found: Parts, tables: Sequence[Table]) -> str:
    """The whole page: the tables of an explanation, with a picture below some of them."""
    parts = [html_table(table) for table in tables]
    pictures = {0: hinton(found.weights) if found.weights else ""}
    if found.redundancy is not None:
        pictures[len(parts) - 1 - (found.matrix is not None)] = agreement(found.redundancy)
    if found.matrix is not None:
        pictures[len(parts) - 1] = matrix(found.matrix)
    body = "\n".join(part + f'\n<div class="w">{pictures.get(n, "")}</div>' for n, part in enumerate(parts))
    return html_page(f"juryrank: {found.method}", body)


def hinton(weights: dict[str, dict[str, float]]) -> str:
    """Squares whose area is the size of a weight: blue is positive, red negative; one row per kind of weight."""
    kinds = list(next(iter(weights.values())))
    values = np.array([[row[kind] for row in weights.values()] for kind in kinds])
    largest = np.abs(values).max(axis=1, keepdims=True)
    share = np.divide(values, largest, out=np.zeros_like(values), where=largest > 0)
    return _grid(share, kinds, list(weights), squares=True)


def agreement(found: Redundancy) -> str:
    """Agreement of experts: above chance in blue, below in red."""
    share = 2 * np.nan_to_num(found.share, nan=0.5) - 1
    np.fill_diagonal(share, 0.0)
    return _grid(share, list(found.experts), list(found.experts), squares=True)


def matrix(found: QueryMatrix) -> str:
    """Items by experts: the colour is the contribution, the number is the rank."""
    largest = np.abs(found.contributions).max(initial=0.0)
    share = found.contributions / (largest or 1.0)
    text = [["" if np.isnan(rank) else f"{rank:g}" for rank in row] for row in found.ranks]
    names = [
        f"{n}. {item}" + ("" if np.isnan(label) else f" ({label:g})")
        for n, (item, label) in enumerate(zip(found.items, found.labels, strict=True), 1)
    ]
    return _grid(share, names, list(found.experts), squares=False, text=text)


def _grid(
    share: np.ndarray, rows: list[str], columns: list[str], *, squares: bool, text: list[list[str]] | None = None
) -> str:
    """Values from -1 to 1 as squares of proportional area, or as cells of proportional opacity with a text."""
    rows, columns = list(map(escape_controls, rows)), list(map(escape_controls, columns))
    left = 12 + 7 * max(map(len, rows))
    slant = 12 + round(5.2 * max(map(len, columns)))  # space for names at 45 degrees
    top, width, height = slant, left + CELL * len(columns) + slant, slant + CELL * len(rows) + 4
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-size="12" role="img">']
    for x, name in enumerate(columns):
        at = left + CELL * (x + 0.5)
        out.append(f'<text transform="translate({at + 4} {top - 6}) rotate(-45)">{html.escape(name)}</text>')
    for y, name in enumerate(rows):
        middle = top + CELL * (y + 0.5)
        out.append(f'<text x="{left - 6}" y="{middle + 4}" text-anchor="end">{html.escape(name)}</text>')
        for x in range(len(columns)):
            size = 0.9 * CELL * np.sqrt(abs(share[y, x])) if squares else CELL - 1
            at = left + CELL * (x + 0.5) - size / 2
            colour = POSITIVE if share[y, x] > 0 else NEGATIVE
            strength = 1.0 if squares else 0.85 * abs(share[y, x])
            title = html.escape(f"{name}, {columns[x]}: {share[y, x]:+.2f}")
            out.append(
                f'<rect x="{left + CELL * x}" y="{top + CELL * y}" width="{CELL}" height="{CELL}" fill="none" '
                f'stroke="{LINE}"/><rect x="{at:.1f}" y="{middle - size / 2:.1f}" width="{size:.1f}" '
                f'height="{size:.1f}" fill="{colour}" fill-opacity="{strength:.2f}"><title>{title}</title></rect>'
            )
            if text is not None and text[y][x]:
                ink = "#fff" if strength > 0.5 else "#222"
                at, down = left + CELL * (x + 0.5), middle + 4
                out.append(f'<text x="{at}" y="{down}" text-anchor="middle" fill="{ink}">{text[y][x]}</text>')
    return "\n".join([*out, "</svg>"])
