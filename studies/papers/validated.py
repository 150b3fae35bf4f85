"""Parameters that papers do not state and that have a default here: other values on validation queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from studies.papers.evidence import chosen_by_fold, validation
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Claim, Findings
from studies.papers.trials import METRICS, TESTED, Trial, Trials, letor
from studies.tables import Table

SET = "MQ2008-agg"
QUICK_VALUES = 2


@dataclass(frozen=True)
class Grid:
    """Values of one parameter of a method; the first is the one that the tables have."""

    label: str
    method: str
    params: Mapping[str, Any]
    parameter: str
    values: tuple[float, ...]

    def trials(self) -> list[Trial]:
        """The method with each value."""
        return [
            Trial(f"{self.label}, {self.parameter} {value:g}", self.method, {**self.params, self.parameter: value})
            for value in self.values
        ]


MPM = {"theta": "agreement", "missing": "ignore", "variances": True}
GRIDS = {
    "www2012": (
        Grid("θ-MPM as published", "theta-mpm", MPM, "prior", (0.001, 0.0001, 0.01, 0.1)),
        Grid("theta-mpm (ours)", "theta-mpm", {}, "penalty", (0.1, 0.01, 1.0)),
        Grid("Bradley–Terry", "bradley-terry", {"counts": "difference"}, "prior", (0.1, 0.01, 1.0, 10.0)),
        Grid("Plackett–Luce", "plackett-luce", {}, "prior", (10.0, 1.0, 100.0)),
    ),
    "cikm2013": (
        Grid("SVDsup", "svd-lambdarank", {}, "rate", (0.003, 0.001, 0.01, 0.03)),
        Grid("SVDsup", "svd-lambdarank", {}, "decay", (0.003, 0.001, 0.01)),
    ),
}


def study(paper: str, context: Context) -> Findings:
    """Every value of every grid on validation queries, and what these choose on test queries."""
    trials = letor(context, SET)
    held_out = validation(trials)
    rows, tested, claims = [], [], []
    for whole in GRIDS[paper]:
        grid = replace(whole, values=whole.values[:QUICK_VALUES]) if context.quick else whole
        found, claim = _compared(grid, held_out)
        rows += found
        tested.append(_tested(grid, held_out, trials))
        claims.append(claim)
    columns = ["method", "parameter", "value", *TESTED, "AP less that of the first", "best on folds"]
    note = (
        "The first value of each parameter is the one in the tables. Means over the validation queries of the folds, × "
        "100, ± standard error over queries; where passes are chosen, one half of the queries chooses, the other is "
        "measured, and in turn. Test queries choose nothing."
    )
    on_test = ["method", "parameter", "by fold", *TESTED, "AP less that in the tables"]
    return Findings(
        claims=tuple(claims),
        tables=(
            Table("Values on validation queries", columns, rows, 2, note),
            Table("Chosen on validation queries, measured on test queries", on_test, tested, 3),
        ),
    )


def _compared(grid: Grid, held_out: Trials) -> tuple[list[list[str]], Claim]:
    """The rows of a grid, and whether another value is better than the one in use."""
    trials = grid.trials()
    held_out.prepare(trials)
    used, others = trials[0], trials[1:]
    best = chosen_by_fold(held_out, trials)
    leads = {t: lead for t, (lead,) in zip(map(id, others), held_out.leads(others, used, ["AP"]), strict=True)}
    rows = []
    for trial, value in zip(trials, grid.values, strict=True):
        means = (f"{held_out.means(trial)[METRICS.index(metric)]:.2f}" for metric in TESTED)
        folds = " ".join(str(f + 1) for f, t in enumerate(best) if t is trial)
        rows.append([grid.label, grid.parameter, f"{value:g}", *means, str(leads.get(id(trial), "")), folds])
    top = max(others, key=lambda t: leads[id(t)].lead)
    return rows, Claim(
        f"No other {grid.parameter} of {grid.label} is better than {grid.values[0]:g} on validation queries",
        f"the best other, {top.label}: MAP {leads[id(top)]}",
        not leads[id(top)].clear,
    )


def _tested(grid: Grid, held_out: Trials, trials: Trials) -> list[str]:
    """The test queries of each fold, with the value that its validation queries choose."""
    best = chosen_by_fold(held_out, grid.trials())
    trials.prepare(grid.trials())
    chosen = np.concatenate([trials.by_fold(trials.values(t))[f] for f, t in enumerate(best)], axis=1)
    means = (f"{trials.means_of(chosen)[METRICS.index(metric)]:.2f}" for metric in TESTED)
    lead = trials.lead_of(chosen, trials.values(grid.trials()[0]), "AP")
    values = " ".join(f"{t.params[grid.parameter]:g}" for t in best)
    return [grid.label, grid.parameter, values, *means, str(lead)]


EXPERIMENTS = tuple(
    Experiment(f"{paper}-parameters", paper, "Unstated parameters on validation queries", (SET,), partial(study, paper))
    for paper in GRIDS
)
