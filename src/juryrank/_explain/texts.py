"""Explanations as tables of text."""

from __future__ import annotations

import numpy as np

from juryrank._explain.alone import Alone
from juryrank._explain.contributions import QueryMatrix
from juryrank._explain.redundancy import Redundancy
from juryrank._explain.without import Without
from juryrank.report import Table, number

LONGEST = 10  # squares of the largest weight
FULL, HOLLOW, BLANK = "■", "□", "\u00a0"  # plain spaces at the end of a cell would be cut


def bar(value: float, largest: float) -> str:
    """A weight as squares, full for positive and hollow for negative ones: a Hinton diagram in one line.

    >>> bar(1.0, 2.0), bar(-2.0, 2.0), bar(0.0, 2.0)
    ('■■■■■', '□□□□□□□□□□', '')
    """
    squares = round(LONGEST * abs(value) / largest) if largest > 0 else 0
    return (FULL if value > 0 else HOLLOW) * squares


def weights_table(method: str, told: str, weights: dict[str, dict[str, float]]) -> Table:
    """The weights of each expert, each with its squares."""
    if not weights:
        return Table(f"{method}: no weights of experts", ["expert"], [], note=told or "All experts count alike.")
    names = list(next(iter(weights.values())))
    largest = {n: max(abs(row[n]) for row in weights.values()) for n in names}
    rows = [
        [expert, *(cell for n in names for cell in (f"{row[n]:.4g}", bar(row[n], largest[n]).ljust(LONGEST, BLANK)))]
        for expert, row in weights.items()
    ]
    columns = ["expert", *(cell for n in names for cell in (n, ""))]
    note = f"Squares: {FULL} positive, {HOLLOW} negative, in units of each column's largest."
    if "*" in weights:
        note += " * stands for all other experts."
    return Table(
        f"{method}: weights of experts",
        columns,
        rows,
        note=" ".join(filter(None, [told, note])),
        groups=[2] * len(names),
    )


def alone_table(alone: Alone, weights: dict[str, dict[str, float]], percent: bool) -> Table:
    """One row per expert, the best alone first; with its weight, where it has one."""
    held = {name: f"{weight:.4g}" for name, _, weight in alone.beside(weights)}
    best_first = sorted(alone.values.items(), key=lambda row: (np.isnan(row[1]), -row[1], row[0]))
    rows = [[name, number(value, percent), *([held.get(name, "–")] if held else [])] for name, value in best_first]
    note = "On the labelled queries for which the expert has a list."
    if held:
        note += " A good expert weighs little where others say the same: see the agreement."
    return Table("Experts alone", ["expert", alone.metric, *(["weight"] if held else [])], rows, note=note, best=[1])


def without_table(without: Without, percent: bool) -> Table:
    """One row per expert, the most dispensable first."""
    columns = ["without", *(cell for m in without.metrics for cell in (m, "change", "± se"))]
    whole = ["nobody", *(cell for mean in without.whole for cell in (number(mean, percent), "", ""))]
    rows = sorted(without.left_out.items(), key=lambda row: -row[1][0][1])
    body = [
        [name, *(t for mean, change, error in values for t in _change(mean, change, error, percent))]
        for name, values in rows
    ]
    how = "Refitted without the expert, tested on other queries" if without.refitted else "The same model, asked again"
    note = f"{how}. A change above 0 says that the expert does harm; within about two standard errors it says nothing."
    groups = [3] * len(without.metrics)
    return Table("Leave one expert out", columns, [whole, *body], note=note, groups=groups)


def _change(mean: float, change: float, error: float, percent: bool) -> list[str]:
    return [number(mean, percent), number(change, percent, "+"), number(error, percent)]


def redundancy_table(found: Redundancy) -> Table:
    """Agreement in percent; columns are numbered as rows are."""
    rows = []
    for a, name in enumerate(found.experts):
        near = found.nearest(a)
        cells = ["" if a == b else _percent(found.share[a, b]) for b in range(len(found.experts))]
        alike = ["–", ""] if near is None else [near[0], _percent(near[1])]
        rows.append([str(a + 1), name, *alike, *cells])
    columns = ["", "expert", "most alike", "percent", *(str(b + 1) for b in range(len(found.experts)))]
    note = "Of the pairs of items that both put in an order, percent in the same order; 50 is chance."
    return Table("Agreement of experts", columns, rows, n_names=3, note=note)


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.0f}"


def matrix_table(method: str, matrix: QueryMatrix) -> Table:
    """One row per item, best first: its label, scores, and rank and contribution under each expert."""
    rows = []
    for i, item in enumerate(matrix.items):
        label = "" if np.isnan(matrix.labels[i]) else f"{matrix.labels[i]:g}"
        cells = [_cell(matrix.ranks[i, k], matrix.contributions[i, k]) for k in range(len(matrix.experts))]
        scores = [f"{matrix.scores[i]:.4g}", f"{matrix.rrf[i]:.4g}", f"{matrix.rrf_places[i]:.0f}"]
        rows.append([str(i + 1), item, label, *scores, *cells])
    columns = ["", "item", "label", method, "rrf", "rrf place", *matrix.experts]
    note = f"{len(rows)} of {matrix.n_items} items. Under an expert: rank, and what it adds to the score of {method}."
    if (matrix.ranks % 1 > 0).any():
        note += " An expert with several lists has the mean of its ranks."
    return Table(f"Query {matrix.query}", columns, rows, n_names=2, note=note)


def _cell(rank: float, gained: float) -> str:
    if np.isnan(rank):
        return "" if gained == 0 else f"{gained:+.2g}"
    return f"{rank:g}: {gained:+.2g}"
