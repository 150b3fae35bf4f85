"""Bhowmik, Ghosh, WWW 2017: aggregation with item features, on synthetic and on real data."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import kendalltau, spearmanr

import juryrank as jr
from studies.arrays import Floats
from studies.console import track
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import NOT, REPRODUCED, Claim, Findings, OverviewRow
from studies.papers.item_features import draw, from_matrix, synthetic
from studies.papers.retargeting_lists import DEPTHS, OURS, PAPER, real
from studies.papers.retargeting_recovery import EXACT, MODELS, poor_lists, recovery, run
from studies.pictures import Figure
from studies.tables import Table

SIDES = ("lists", "features")
SHOWN_STEPS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 25)
PANELS = {"gaussian": ("1(a)", "1(c)", "1(e)"), "poisson": ("1(b)", "1(d)", "1(f)")}

Model = Any  # a fitted method of juryrank


def figure1(model: str, context: Context) -> Findings:
    """Figure 1: how closely each method recovers the true order, and the steps towards it, as printed and ours."""
    seeds = range(3 if context.quick else 10)
    measured: dict[str, list[Floats]] = {}
    paths: dict[str, list[Floats]] = {}
    steps: list[str] = []
    for seed in track(seeds, f"synthetic, {model}"):
        data, drawn = synthetic(seed, model), draw(seed, model)
        scores = {name: jr.method(name).fit_predict(data).scores for name in PAPER}
        fitted = jr.method(OURS, **MODELS[model]).fit(data)
        scores |= {f"ours, {side}": _by(fitted, side).predict(data).scores for side in SIDES}
        path, _, _ = run(drawn, scores["borda"], model)
        scores |= {f"as printed, {side}": order for side, order in zip(SIDES, path.retargeted[-1], strict=True)}
        steps.append(_first_exact(fitted.learned()["history_"]))
        for name, found in scores.items():
            measured.setdefault(name, []).append(_agreement(found, data.slot_labels))
        ours = _steps_of_ours(model, data, SHOWN_STEPS[::4] if context.quick else SHOWN_STEPS)
        for n, side in enumerate(SIDES):
            orders = [each[n] for each in path.retargeted]
            orders += [orders[-1]] * (max(SHOWN_STEPS) + 1 - len(orders))
            found_at = {"as printed": [orders[k] for k in ours], "ours": [each[n] for each in ours.values()]}
            for label, by_step in found_at.items():
                pairs = [(_agreement(order, data.slot_labels)[:2]) for order in by_step]
                paths.setdefault(f"{label}, {side}", []).append(np.array(pairs))
    shown = list(ours)
    means = {name: np.mean(values, axis=0) for name, values in measured.items()}
    errors = {name: np.std(v, axis=0, ddof=1) / np.sqrt(len(v)) for name, v in measured.items()}
    exact = {name: sum(v[0] > EXACT for v in values) for name, values in measured.items()}
    body = [
        [
            n,
            *(f"{v:.4f} ± {e:.4f}" for v, e in zip(means[n][:3], errors[n][:3], strict=True)),
            f"{exact[n]} of {len(seeds)}",
        ]
        for n in means
    ]
    note = (
        f"{len(seeds)} draws of 200 items and 10 lists: mean ± standard error; steps of ours until both sides are "
        f"exact: {' '.join(steps)}. As printed: r and z, ties ordered by Rβ and Xω."
    )
    return Findings(
        claims=tuple(_recovery_claims(means, exact, len(seeds))),
        targets=(_recovery_target(model, means, steps),),
        tables=(
            Table(f"Synthetic, {model}: not × 100", ["method", "tau", "rho", "nDCG@10", "exact"], body, note=note),
        ),
        figures=(_path(model, shown, {name: np.mean(v, axis=0) for name, v in paths.items()}, means),),
        notes=("The paper prints curves, not numbers; its claims are compared.",),
        overview=tuple(_overview(model, means, errors, exact, len(seeds))),
    )


def _steps_of_ours(model: str, data: jr.Dataset, shown: Sequence[int]) -> dict[int, tuple[Floats, Floats]]:
    """Scores of both sides after so many steps; after none, those of Borda, from which all start."""
    start = jr.method("borda").fit_predict(data).scores
    out = {0: (start, start)}
    for step in shown:
        fitted = jr.method(OURS, **{**MODELS[model], "max_iter": step}).fit(data)
        out[step] = (_by(fitted, "lists").predict(data).scores, _by(fitted, "features").predict(data).scores)
    return out


def _overview(
    model: str, means: dict[str, Floats], errors: dict[str, Floats], exact: dict[str, int], n: int
) -> list[OverviewRow]:
    """A row for each panel of Figure 1."""
    panels = PANELS[model]
    rows = []
    for place, (panel, metric) in enumerate(zip(panels, ("tau", "rho", "nDCG@10"), strict=True)):

        def text(label: str, at: int = place, name: str = metric) -> str:
            lists, features = (f"{means[f'{label}, {s}'][at]:.4f} ± {errors[f'{label}, {s}'][at]:.4f}" for s in SIDES)
            found = min(exact[f"{label}, {side}"] for side in SIDES)
            return f"{name} of lists {lists}, of features {features}; both exact in {found} of {n} draws"

        found = min(exact[f"as printed, {side}"] for side in SIDES)
        verdict = REPRODUCED if found == n else f"{NOT}: exact in {found} of {n} draws, see Recovery as printed"
        printed = "curves: 1.0 within a few steps" if place < 2 else "curves: 1.0 at each K"
        rows.append(OverviewRow(f"Figure {panel}, {model}", printed, text("as printed"), text("ours"), verdict))
    return rows


def _recovery_claims(means: dict[str, Floats], exact: dict[str, int], n: int) -> list[Claim]:
    best = max(PAPER, key=lambda name: means[name][0])
    claims = []
    for label in ("as printed", "ours"):
        found = {side: exact[f"{label}, {side}"] for side in SIDES}
        measured = f"lists {found['lists']}, features {found['features']} of {n} draws"
        claims.append(Claim(f"The true order is found exactly, {label}", measured, min(found.values()) >= 0.9 * n))
    text = f"{best}, the best, has tau {means[best][0]:.3f}"
    return [*claims, Claim("No baseline finds it", text, not any(exact[m] for m in PAPER))]


def _recovery_target(model: str, means: dict[str, Floats], steps: list[str]) -> Claim:
    if model == "gaussian":
        found = sum(step != "–" for step in steps)
        text = "retargeting, gaussian: exact on both sides within 25 steps for 9 draws of 10"
        return Claim(text, f"{found} of {len(steps)}", found >= 0.9 * len(steps))
    tau, others = means["ours, features"][0], max(means[m][0] for m in PAPER)
    text = "retargeting, poisson: mean tau of the features ≥ 0.98, and above every baseline"
    return Claim(text, f"{tau:.4f}, the best baseline {others:.4f}", tau >= 0.98 and tau > others)


def _path(model: str, shown: list[int], paths: dict[str, Floats], means: dict[str, Floats]) -> Figure:
    """Tau and rho by step, and nDCG@K by K: means of all draws."""
    ours = [f"ours, {side}" for side in SIDES]
    panels = []
    for place, name in enumerate(("tau", "rho")):
        flat = {method: [float(means[method][place])] * len(shown) for method in PAPER}
        series = {**flat, **{label: path[:, place].tolist() for label, path in paths.items()}}
        panels.append({"x": shown, "series": series, "bold": ours, "xlabel": "step", "ylabel": name})
    depth = {name: means[name][3:].tolist() for name in (*PAPER, *paths)}
    panels.append({"x": list(DEPTHS), "series": depth, "bold": ours, "xlabel": "K", "ylabel": "nDCG@K"})
    title = f"Figure 1: synthetic, {model}; means of all draws, ours bold"
    return Figure(f"www2017-figure1-{model}", title, "lines", {"panels": panels})


def _by(fitted: Model, side: str) -> Model:
    return type(fitted).from_learned({**fitted.params(), "output": side}, fitted.learned())


def _first_exact(history: Mapping[str, list[float]]) -> str:
    exact = np.minimum(history["tau of lists"], history["tau of features"]) > EXACT
    return str(int(np.argmax(exact))) if exact.any() else "–"


def _agreement(scores: Floats, gain: Floats) -> Floats:
    """Tau, rho, nDCG@10, then nDCG at every depth."""
    discount = 1 / np.log2(np.arange(max(DEPTHS)) + 2)
    found, best = (np.argsort(-x, kind="stable")[: max(DEPTHS)] for x in (scores, gain))
    ndcg = np.cumsum(gain[found] * discount) / np.cumsum(gain[best] * discount)
    return np.array([kendalltau(scores, gain).statistic, spearmanr(scores, gain).statistic, ndcg[9], *ndcg])


def large(context: Context) -> Findings:
    """Time to converge on 10,000 items × 50 lists × 100 features."""
    data, truth = _large_query()
    rows, slowest = [], 0.0
    for params in ({}, {"list_l1": 0.01}, {"moves": "ties"}, {"loss": "poisson"}, {"loss": "kl"}):
        model = jr.method(OURS, **params)
        start, busy = time.perf_counter(), time.process_time()
        model.fit(replace(data, labels=None))
        spent = min(time.perf_counter() - start, time.process_time() - busy)
        tau = kendalltau(_by(model, "features").predict(data).scores, truth).statistic
        text = ", ".join(f"{name}={value}" for name, value in params.items()) or "defaults"
        steps = len(model.learned()["history_"]["objective"]) - 1
        slowest = max(slowest, spent)
        rows.append([text, f"{spent:.2f}", str(steps), f"{tau:.4f}"])
    text = "retargeting: 10,000 items × 50 lists × 100 features in under 5 s"
    return Findings(
        targets=(Claim(text, f"{rows[0][1]} s with defaults, at most {slowest:.2f} s", float(rows[0][1]) < 5),),
        tables=(Table("A large query", ["parameters", "seconds", "steps", "tau"], rows),),
    )


def _large_query() -> tuple[jr.Dataset, Floats]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(10_000, 100))
    truth: Floats = features @ rng.normal(size=100)
    noise = [rng.normal(size=len(truth)) * truth.std() for _ in range(50)]
    shares = np.linspace(0.2, 3, 50)
    lists = [truth * (k < 40) + shares[k] * noise[k] for k in range(50)]
    return replace(from_matrix(np.column_stack(lists), truth), features=features), truth


def experiments() -> tuple[Experiment, ...]:
    """Synthetic data, three real sets, and a large query."""
    sets = {"OHSUMED": ("OHSUMED",), "MQ2008": ("MQ2008-agg", "MQ2008"), "MQ2007": ("MQ2007-agg", "MQ2007")}
    experiment = partial(Experiment, paper="www2017")
    on_synthetic_data = (
        experiment(name=f"www2017-figure1-{m}", title=f"Figure 1: synthetic, {m}", needs=(), run=partial(figure1, m))
        for m in MODELS
    )
    on_real_data = (
        experiment(name=f"www2017-figure2-{n}", title=f"Figure 2: {n}", needs=needs, run=partial(real, n))
        for n, needs in sets.items()
    )
    return (
        *on_synthetic_data,
        experiment(name="www2017-as-printed", title="Recovery as printed", needs=(), run=recovery),
        experiment(name="www2017-poor-lists", title="Poor lists get no weight", needs=(), run=poor_lists),
        *on_real_data,
        experiment(name="www2017-large", title="A large query", needs=(), run=large),
    )
