"""The text of ``explain``: one table for each part of an explanation."""

from __future__ import annotations

import numpy as np

from juryrank.report import Table, number
from juryrank.tasks.explain.contributions import QueryMatrix
from juryrank.tasks.explain.leave_one_out import LeaveOneOut
from juryrank.tasks.explain.parts import SingleExperts
from juryrank.tasks.explain.redundancy import Redundancy

LONGEST = 10  # squares of the largest weight
FULL, HOLLOW, BLANK = "■", "□", "\u00a0"  # plain spaces at the end of a cell would be cut


def bar(value: float, largest: float) -> str:
    """A weight as squares, filled for positive and hollow for negative ones: a Hinton diagram in one line.

    >>> bar(1.0, 2.0), bar(-2.0, 2.0), bar(0.0, 2.0)
    ('■■■■■', '□□□□□□□□□□', '')
    """
    squares = round(LONGEST * abs(value) / largest) if largest > 0 else 0
    return (FULL if value > 0 else HOLLOW) * squares


def weights_table(method: str, summary: str, weights: dict[str, dict[str, float]], others: str | None = None) -> Table:
    """The weights of each expert, as numbers and as squares."""
    if not weights:
        note = summary or "All experts have the same weight."
        return Table(f"{method}: no weights of experts", ["expert"], [], note=note)
    names = list(next(iter(weights.values())))
    largest = {n: max(abs(row[n]) for row in weights.values()) for n in names}
    rows = [
        [expert, *(cell for n in names for cell in (f"{row[n]:.4g}", bar(row[n], largest[n]).ljust(LONGEST, BLANK)))]
        for expert, row in weights.items()
    ]
    columns = ["expert", *(cell for n in names for cell in (n, ""))]
    note = f"Squares: {FULL} positive, {HOLLOW} negative, relative to the largest value of the column."
    if others is not None:
        note += f" {others} stands for all other experts."
    return Table(
        f"{method}: weights of experts",
        columns,
        rows,
        note=" ".join(filter(None, [summary, note])),
        groups=[2] * len(names),
    )


def single_experts_table(experts: SingleExperts, weights: dict[str, dict[str, float]], percent: bool) -> Table:
    """One row per expert, the best first; with its weight if it has one."""
    shown = {name: f"{weight:.4g}" for name, _, weight in experts.with_weights(weights)}
    best_first = sorted(experts.values.items(), key=lambda row: (np.isnan(row[1]), -row[1], row[0]))
    rows = [[name, number(value, percent), *([shown.get(name, "–")] if shown else [])] for name, value in best_first]
    note = "Over the labelled queries for which the expert has a list."
    if shown:
        note += " A good expert gets a small weight if it agrees with others: see the agreement."
    columns = ["expert", experts.metric, *(["weight"] if shown else [])]
    return Table("Single experts", columns, rows, note=note, best=[1])


def leave_one_out_table(found: LeaveOneOut, percent: bool) -> Table:
    """One row per expert, the most dispensable first."""
    columns = ["without", *(cell for m in found.metrics for cell in (m, "change", "± se"))]
    whole = ["none", *(cell for mean in found.whole for cell in (number(mean, percent), "", ""))]
    rows = sorted(found.left_out.items(), key=lambda row: -row[1][0][1])
    body = [
        [name, *(t for mean, change, error in values for t in _change(mean, change, error, percent))]
        for name, values in rows
    ]
    how = "Refitted without the expert, evaluated on held-out queries" if found.refitted else "Same model, not refitted"
    note = (
        f"{how}. A change above 0 means that the expert is harmful; within about two standard errors it may be noise."
    )
    groups = [3] * len(found.metrics)
    return Table("Leave one expert out", columns, [whole, *body], note=note, groups=groups)


def _change(mean: float, change: float, error: float, percent: bool) -> list[str]:
    return [number(mean, percent), number(change, percent, "+"), number(error, percent)]


def redundancy_table(found: Redundancy) -> Table:
    """Agreement in percent; columns are numbered as rows are."""
    rows = []
    for a, name in enumerate(found.experts):
        near = found.nearest(a)
        cells = ["" if a == b else _percent(found.share[a, b]) for b in range(len(found.experts))]
        similar = ["–", ""] if near is None else [near[0], _percent(near[1])]
        rows.append([str(a + 1), name, *similar, *cells])
    columns = ["", "expert", "most similar", "percent", *(str(b + 1) for b in range(len(found.experts)))]
    note = "Of the item pairs that both experts order, the percentage in the same order; 50 is expected at random."
    return Table("Agreement of experts", columns, rows, n_names=3, note=note)


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.0f}"


def matrix_table(method: str, matrix: QueryMatrix) -> Table:
    """One row per item, best first: its label, its scores, and its rank and contribution by each expert."""
    rows = []
    for i, item in enumerate(matrix.items):
        label = "" if np.isnan(matrix.labels[i]) else f"{matrix.labels[i]:g}"
        cells = [_cell(matrix.ranks[i, k], matrix.contributions[i, k]) for k in range(len(matrix.experts))]
        scores = [f"{matrix.scores[i]:.4g}", f"{matrix.rrf[i]:.4g}", f"{matrix.rrf_places[i]:.0f}"]
        rows.append([str(i + 1), item, label, *scores, *cells])
    columns = ["", "item", "label", method, "rrf", "rrf place", *matrix.experts]
    note = f"{len(rows)} of {matrix.n_items} items. For each expert: rank, and contribution to the score of {method}."
    if (matrix.ranks % 1 > 0).any():
        note += " For an expert with several lists, the mean of its ranks."
    return Table(f"Query {matrix.query}", columns, rows, n_names=2, note=note)


def _cell(rank: float, contribution: float) -> str:
    if np.isnan(rank):
        return "" if contribution == 0 else f"{contribution:+.2g}"
    return f"{rank:g}: {contribution:+.2g}"
