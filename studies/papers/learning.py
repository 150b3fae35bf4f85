"""What learners gain elsewhere: two TREC collections, few labelled queries, and the verdict on random subsets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from studies import learning_curves, verdict
from studies.arrays import Floats
from studies.console import track
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Findings
from studies.papers.workers import workers
from studies.tables import Table, p_text

COLLECTIONS = {"robust03": ("nDCG@20", "AP"), "trec-covid-round1": ("nDCG@10", "AP")}
ROWS = ("rrf", "jury", "tuned-rrf", "convex", "convex:norm=tune", "kernel", "blend")
TUNED = "jury,tuned-rrf,convex"  # what is often tuned by hand, beside jury
QUICK = ROWS[:3]
PRIORS = "jury:prior=equal,jury"


def on_trec(context: Context) -> Findings:
    """Learned methods and what is tuned by hand, five folds of the queries of each collection, against RRF."""
    methods = QUICK if context.quick else ROWS
    cells: dict[str, list[str]] = {label: [label] for label in methods}
    columns = ["method"]
    waiting = {name: workers(context).submit(_compared, methods, context.data, name) for name in COLLECTIONS}
    for name, done in track(list(waiting.items()), "TREC"):
        found = done.result()
        for metric in COLLECTIONS[name]:
            columns += [f"{name}, {metric}", "p"]
            for label in methods:
                versus = found.versus.get((label, metric))
                cells[label] += [f"{100 * found.mean(label, metric):.2f}", p_text(versus and versus.p_random)]
    note = "Five folds by query, trec convention, × 100; p of paired randomisation tests against rrf."
    return Findings(tables=(Table("Two TREC collections", columns, list(cells.values()), note=note),))


def _compared(methods: tuple[str, ...], folder: Path, name: str) -> Any:
    data = learning_curves.read_set(folder / name)
    return jr.compare(methods, data, list(COLLECTIONS[name]), folds=5, baseline="rrf")


def few_labels(context: Context) -> Findings:
    """Gains over RRF after learning from 1 to 20 queries: the prior of jury, and what is often tuned by hand."""
    priors, tuned = (2, 2) if context.quick else (50, 10)
    sets = list(learning_curves.SETS)[:1] if context.quick else list(learning_curves.SETS)
    tasks = {
        (methods, name): workers(context).submit(_curves, methods, name, context.data, draws)
        for methods, draws in ((PRIORS, priors), (TUNED, tuned))
        for name in sets
    }
    found = {key: done.result() for key, done in track(list(tasks.items()), "few labels")}
    sizes = [str(n) for n in learning_curves.SIZES]
    prior_rows, tuned_rows, apart = [], [], []
    for (methods, name), gains in found.items():
        data = f"{name}, {learning_curves.SETS[name].metric}"
        for method, values in gains.items():
            if methods == PRIORS:
                label = "equal" if "equal" in method else "auto"
                prior_rows.append(
                    [data, label, *(f"{100 * g.mean():+.2f} ({100 * np.mean(g < 0):.0f} %)" for g in values)]
                )
            else:
                tuned_rows.append([data, method, *(f"{100 * g.mean():+.1f} ({100 * g.min():+.1f})" for g in values)])
        if methods == PRIORS:
            equal, auto = gains.values()
            apart.append([data, *(_interval(100 * (a - e)) for a, e in zip(auto, equal, strict=True))])
    return Findings(
        tables=(
            Table(
                "Priors of jury",
                ["data", "prior", *sizes],
                prior_rows,
                n_names=2,
                note=_note(priors, "share below RRF"),
            ),
            Table("auto less equal", ["data", *sizes], apart, note="Means over draws and their 95 % intervals, × 100."),
            Table("Tuned by hand", ["data", "method", *sizes], tuned_rows, n_names=2, note=_note(tuned, "worst draw")),
        )
    )


def _interval(apart: Floats) -> str:
    return f"{apart.mean():+.2f} ± {1.96 * apart.std(ddof=1) / np.sqrt(len(apart)):.2f}"


def _note(draws: int, bracket: str) -> str:
    return f"Mean gain over RRF after 1 to 20 labelled queries, {draws} draws, × 100, and in brackets the {bracket}."


def _curves(methods: str, name: str, folder: Path, draws: int) -> dict[str, Floats]:
    return learning_curves.measure_all(methods, [name], folder, draws=draws).by_method(name)


def verdicts(context: Context) -> Findings:
    """The verdict on random subsets of experts and labelled queries, by the test queries."""
    draws = 5 if context.quick else verdict.DRAWS
    sets = verdict.SETS[:1] if context.quick else verdict.SETS
    waiting = {m: workers(context).submit(verdict.measure_all, sets, context.data, draws, m) for m in ("jury", "ridge")}
    tables = []
    for method, done in track(list(waiting.items()), "verdicts"):
        means, cover = done.result().tables()
        tables += [Table(f"{method}: {t.title}", t.columns, t.rows, t.n_names, t.note) for t in (means, cover)]
    return Findings(tables=tuple(tables))


EXPERIMENTS = (
    Experiment("learn-trec", "ours", "Learned methods on two TREC collections", tuple(COLLECTIONS), on_trec),
    Experiment("learn-few-labels", "ours", "Learning from few queries", tuple(learning_curves.SETS), few_labels),
    Experiment("learn-verdict", "ours", "Whether the verdict is right", verdict.SETS, verdicts),
)
