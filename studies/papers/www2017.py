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
from studies.papers.findings import Claim, Findings
from studies.papers.item_features import from_matrix, letor, ohsumed, supervised_scores, synthetic, with_list
from studies.papers.trials import consensus_methods
from studies.papers.workers import workers
from studies.pictures import Figure
from studies.tables import Table, p_text

OURS = "monotone-retargeting"
PAPER = ("borda", "combmnz", "combmin", "combmax", "mc1", "mc2", "mc3", "mc4")
SIDES = ("lists", "features")
DEPTHS = range(1, 21)
SYNTHETIC = {"start": "borda", "list_l2": 1e-9, "feature_l2": 1e-9, "tol": 1e-9, "max_iter": 25}
MODELS: dict[str, dict[str, Any]] = {
    "gaussian": SYNTHETIC,
    "poisson": {**SYNTHETIC, "loss": "poisson", "values": "share"},
}
WHY = {
    "gaussian": "The paper prints curves, not numbers; its claims are compared.",
    "poisson": "The paper claims exact recovery; here a few neighbours with nearly equal scores are swapped.",
}
EXACT = 1 - 1e-9

Model = Any  # a fitted method of juryrank
Comparison = Any  # what ``jr.compare`` returns


def recovery(model: str, context: Context) -> Findings:
    """Figure 1: how closely each method recovers the true order, and our steps towards it."""
    seeds = range(3 if context.quick else 10)
    measured: dict[str, list[Floats]] = {}
    steps: list[str] = []
    history: Mapping[str, list[float]] = {}
    for seed in track(seeds, f"synthetic, {model}"):
        data = synthetic(seed, model)
        scores = {name: jr.method(name).fit_predict(data).scores for name in PAPER}
        fitted = jr.method(OURS, **MODELS[model]).fit(data)
        history = history or fitted.learned()["history_"]
        scores |= {f"ours, {side}": _by(fitted, side).predict(data).scores for side in SIDES}
        steps.append(_first_exact(fitted.learned()["history_"]))
        for name, found in scores.items():
            measured.setdefault(name, []).append(_agreement(found, data.slot_labels))
    means = {name: np.mean(values, axis=0) for name, values in measured.items()}
    exact = {name: sum(v[0] > EXACT for v in values) for name, values in measured.items()}
    body = [[n, *(f"{v:.4f}" for v in means[n][:3]), f"{exact[n]} of {len(seeds)}"] for n in means]
    note = f"{len(seeds)} draws of 200 items and 10 lists; steps until both sides are exact: {' '.join(steps)}."
    return Findings(
        claims=tuple(_recovery_claims(means, exact, len(seeds))),
        targets=(_recovery_target(model, means, steps),),
        tables=(
            Table(f"Synthetic, {model}: not × 100", ["method", "tau", "rho", "nDCG@10", "exact"], body, note=note),
        ),
        figures=(_path(model, history, means),),
        notes=(WHY[model],),
    )


def _recovery_claims(means: dict[str, Floats], exact: dict[str, int], n: int) -> list[Claim]:
    best = max(PAPER, key=lambda name: means[name][0])
    ours = min(exact[f"ours, {side}"] for side in SIDES)
    return [
        Claim("The true order is found exactly", f"{ours} of {n} draws, both sides", ours >= 0.9 * n),
        Claim(
            "No baseline finds it", f"{best}, the best, has tau {means[best][0]:.3f}", not any(exact[m] for m in PAPER)
        ),
    ]


def _recovery_target(model: str, means: dict[str, Floats], steps: list[str]) -> Claim:
    if model == "gaussian":
        found = sum(step != "–" for step in steps)
        text = "retargeting, gaussian: exact on both sides within 25 steps for 9 draws of 10"
        return Claim(text, f"{found} of {len(steps)}", found >= 0.9 * len(steps))
    tau, others = means["ours, features"][0], max(means[m][0] for m in PAPER)
    text = "retargeting, poisson: mean tau of the features ≥ 0.98, and above every baseline"
    return Claim(text, f"{tau:.4f}, the best baseline {others:.4f}", tau >= 0.98 and tau > others)


def _path(model: str, history: Mapping[str, list[float]], means: dict[str, Floats]) -> Figure:
    """Tau by step for the first draw, and nDCG@K by K for all draws."""
    ours = {side: list(history[f"tau of {side}"]) for side in SIDES}
    length = max(map(len, ours.values()))
    flat = {name: [float(means[name][0])] * length for name in PAPER}
    depth = {name.removeprefix("ours, "): means[name][3:].tolist() for name in (*PAPER, *(f"ours, {s}" for s in SIDES))}
    panels = [
        {
            "x": list(range(length)),
            "series": {**flat, **ours},
            "bold": list(SIDES),
            "xlabel": "step",
            "ylabel": "tau (baselines: means)",
        },
        {"x": list(DEPTHS), "series": depth, "bold": list(SIDES), "xlabel": "K", "ylabel": "nDCG@K"},
    ]
    return Figure(f"www2017-figure1-{model}", f"Figure 1: synthetic, {model}; ours bold", "lines", {"panels": panels})


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


def real(name: str, context: Context) -> Findings:
    """Figure 2: nDCG@K on all queries at once, without and with the list of a supervised ranker."""
    data = ohsumed(context.data) if name == "OHSUMED" else letor(context.data, name)
    richer = with_list(data, "supervised", supervised_scores(data))
    others = PAPER if context.quick else consensus_methods()
    sets = {name: data, f"{name} + list": richer}
    waiting = {label: workers(context).submit(_compared, others, each) for label, each in sets.items()}
    found = {label: done.result() for label, done in track(list(waiting.items()), name)}
    with_it, without_it = found[f"{name} + list"], found[name]
    gains = {m: 100 * (with_it.mean(m, "nDCG@10") - without_it.mean(m, "nDCG@10")) for m in ("borda", OURS)}
    return Findings(
        claims=(
            *(_above(label, each) for label, each in found.items()),
            Claim(
                "One good list raises ours more than Borda",
                f"nDCG@10 {gains[OURS]:+.2f}, Borda {gains['borda']:+.2f}",
                gains[OURS] > gains["borda"],
            ),
        ),
        targets=() if context.quick else tuple(_best(label, each) for label, each in found.items()),
        tables=tuple(_means(label, each) for label, each in found.items()),
        figures=(_curves(name, found),),
    )


def _compared(others: Sequence[str], data: jr.Dataset) -> Comparison:
    return jr.compare([OURS, *others], replace(data, folds=()), [f"nDCG@{k}" for k in DEPTHS], baseline=OURS)


def _above(label: str, found: Comparison) -> Claim:
    """Against the baselines of the paper."""
    best = max(PAPER, key=lambda m: found.mean(m, "nDCG@10"))
    versus = found.versus[best, "nDCG@10"]
    measured = f"{best}, the best, {100 * versus.difference:+.2f}, p {p_text(versus.p_random)}"
    noisy = versus.p_random >= 0.05
    return Claim(f"Above the paper's baselines in nDCG@10: {label}", measured, versus.difference < 0, noisy=noisy)


def _best(label: str, found: Comparison) -> Claim:
    """Against every consensus method in the comparison."""
    best = max((m for m in found.names if m != OURS), key=lambda m: found.mean(m, "nDCG@10"))
    versus = found.versus[best, "nDCG@10"]
    ours = 100 * found.mean(OURS, "nDCG@10")
    measured = f"{ours:.2f}; {best}, the best, {100 * versus.difference:+.2f}, p {p_text(versus.p_random)}"
    return Claim(f"retargeting above every consensus method in nDCG@10: {label}", measured, versus.difference < 0)


def _means(label: str, found: Comparison) -> Table:
    shown = ("nDCG@1", "nDCG@5", "nDCG@10", "nDCG@20")
    rows = []
    for method in sorted(found.names, key=lambda n: -found.mean(n, "nDCG@10")):
        tested = ["", "", ""]
        if (versus := found.versus.get((method, "nDCG@10"))) is not None:
            noise = "noise" if versus.p_random >= 0.05 else ""
            tested = [f"{-100 * versus.difference:+.2f}", p_text(versus.p_random), noise]
        label_of = f"{method} *" if method in PAPER else method
        rows.append([label_of, *(f"{100 * found.mean(method, m):.2f}" for m in shown), *tested])
    columns = ["method", *shown, "ours better by", "p", "difference is"]
    return Table(label, columns, rows, note="* a baseline of the paper; differences and p-values are of nDCG@10.")


def _curves(name: str, found: dict[str, Comparison]) -> Figure:
    panels = [
        {
            "x": list(DEPTHS),
            "series": {m: [100 * each.mean(m, f"nDCG@{k}") for k in DEPTHS] for m in (OURS, *PAPER)},
            "bold": [OURS],
            "xlabel": "K",
            "ylabel": "nDCG@K",
            "title": label,
        }
        for label, each in found.items()
    ]
    return Figure(f"www2017-figure2-{name}", f"Figure 2: {name}", "lines", {"panels": panels})


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
        experiment(name=f"www2017-figure1-{m}", title=f"Figure 1: synthetic, {m}", needs=(), run=partial(recovery, m))
        for m in MODELS
    )
    on_real_data = (
        experiment(name=f"www2017-figure2-{n}", title=f"Figure 2: {n}", needs=needs, run=partial(real, n))
        for n, needs in sets.items()
    )
    return (
        *on_synthetic_data,
        *on_real_data,
        experiment(name="www2017-large", title="A large query", needs=(), run=large),
    )
