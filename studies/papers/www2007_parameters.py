"""WWW 2007: what the paper does not state, the margin and the shrinkage, measured on validation queries."""

from __future__ import annotations

from typing import Any

import juryrank as jr
from studies.papers.evidence import MEAN_PRECISION, chosen_by_fold, validation
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Claim, Findings
from studies.papers.overview import unstated
from studies.papers.trials import METRICS, Trial, Trials, letor
from studies.tables import Table

SET, METHOD = "MQ2008-agg", "supervised-mc2"
MARGINS, SHRINKS = (0.0, 1.0, 3.0, 6.0), (0.0, 0.01)
SHOWN = ("nDCG@5", "AP")
QUICK_FOLDS = 1


def study(context: Context) -> Findings:
    """Each margin, and each shrinkage with our margin, on halves of the validation queries."""
    trials = letor(context, SET)
    if context.quick:
        trials = Trials(context, SET, trials.data, trials.splits[:QUICK_FOLDS], variant="a part of the folds")
    held_out = validation(trials)
    known = jr.method(METHOD).params()
    margins = [_trial(known, margin=m) for m in (MARGINS[::2] if context.quick else MARGINS)]
    shrinks = [] if context.quick else [_trial(known, shrink=s) for s in SHRINKS]
    rows = [*margins, *shrinks]
    held_out.prepare(rows)
    best = chosen_by_fold(held_out, rows)
    ours = next(t for t in margins if t.params["margin"] == known["margin"])
    body = []
    for trial in rows:
        lead = ["", ""] if trial is ours else [_lead(held_out, trial, ours, metric) for metric in SHOWN]
        means = [f"{held_out.means(trial)[METRICS.index(m)]:.2f}" for m in SHOWN]
        folds = " ".join(str(f + 1) for f, t in enumerate(best) if t is trial)
        body.append([*(f"{trial.params[p]:g}" for p in ("margin", "shrink")), *means, *lead, folds])
    top = max(rows, key=lambda t: held_out.means(t)[MEAN_PRECISION])
    behind = held_out.lead(top, ours, "AP")
    columns = ["margin", "shrinkage", *SHOWN, *(f"{m} less ours" for m in SHOWN), "best on folds"]
    note = (
        "On each fold, one half of the validation queries chooses the pass, the other is measured; in turn. × 100, "
        "± standard error over queries, seed 0. Test queries choose nothing."
    )
    return Findings(
        claims=(
            Claim(
                f"No margin or shrinkage is better than our margin of {known['margin']:g} on validation queries",
                "none has a higher MAP" if top is ours else f"the best, {top.label}: MAP {behind}",
                top is ours or behind.p >= 0.05,
            ),
        ),
        tables=(Table("Margin and shrinkage on validation queries", columns, body, n_names=2, note=note), _stated()),
    )


def _trial(known: dict[str, Any], **changes: float) -> Trial:
    params = {name: changes.get(name, known[name]) for name in ("margin", "shrink")}
    label = ", ".join(f"{name} {value:g}" for name, value in changes.items())
    return Trial(label, METHOD, {**params, "seed": 0})


def _lead(trials: Trials, one: Trial, other: Trial, metric: str) -> str:
    lead = trials.lead(one, other, metric)
    return f"{lead.lead:+.2f} ± {lead.error:.2f}"


def _stated() -> Table:
    """Our value of each parameter, and how it was chosen."""
    chain, borda = jr.method(METHOD).params(), jr.method("supervised-borda").params()
    compared = f"ours; compared with {', '.join(f'{m:g}' for m in MARGINS)} on validation queries of {SET}, see above"
    rows = [
        ["margin, supervised chains", f"{chain['margin']:g}", compared],
        ["shrinkage, supervised chains", f"{chain['shrink']:g}", "ours; compared on the same queries"],
        ["passes, supervised chains", f"at most {chain['epochs']}", "the pass with the highest MAP on validation"],
        ["teleport, supervised chains", f"{chain['teleport']:g}", "ours; validation queries of MQ2008-agg"],
        ["margin, supervised Borda", f"{borda['margin']:g}", "ours; the largest difference of two places in a list"],
        [
            "queries, pairs of the semidefinite program",
            "10 (OHSUMED 1), 100",
            "ours; a sample by seed, for the time it takes",
        ],
    ]
    return unstated(rows)


EXPERIMENT = Experiment("www2007-parameters", "www2007", "Margin and shrinkage of supervised chains", (SET,), study)
