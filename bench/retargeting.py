"""The studies of Bhowmik and Ghosh (WWW 2017): ``python bench/retargeting.py [PART …] [--pictures FOLDER]``.

Parts: gaussian and poisson (synthetic lists, ten seeds), real (OHSUMED and MQ2008, each without and with a list of a
supervised ranker), large (a query of 10,000 items). Pictures show nDCG@K by K, as the paper's figures do.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import kendalltau, spearmanr

import juryrank
from item_features import SHARED, from_matrix, mq2008, ohsumed, supervised_scores, synthetic, with_list
from juryrank.compare import Comparison
from juryrank.data import Dataset
from juryrank.errors import ConvergenceWarning
from juryrank.methods import Aggregator, consensus_methods
from juryrank.report import Table, chance

OURS = "monotone-retargeting"
PAPER = ("borda", "combmnz", "combmin", "combmax", "mc1", "mc2", "mc3", "mc4")
SIDES = ("lists", "features")
DEPTHS = range(1, 21)
SEEDS = range(10)
SYNTHETIC = {"start": "borda", "list_l2": 1e-9, "feature_l2": 1e-9, "tol": 1e-9, "max_iter": 25}
MODELS: dict[str, dict[str, Any]] = {
    "gaussian": SYNTHETIC,
    "poisson": {**SYNTHETIC, "loss": "poisson", "values": "share"},
}


def recovery(model: str) -> Iterator[Table]:
    """How near everyone comes to the true order, and after how many steps we have it on both sides."""
    measured: dict[str, list[tuple[float, float, float]]] = {}
    steps: dict[str, list[str]] = {}
    for seed in SEEDS:
        data = synthetic(seed, model)
        consensus = {name: juryrank.method(name).fit_predict(data).scores for name in PAPER}
        for moves in ("free", "ties"):
            fitted = juryrank.method(OURS, **MODELS[model], moves=moves).fit(data)
            consensus |= {f"ours, {moves}, {side}": _by(fitted, side).predict(data).scores for side in SIDES}
            steps.setdefault(moves, []).append(_first_exact(fitted.learned()["history_"]))
        for name, scores in consensus.items():
            measured.setdefault(name, []).append(_agreement(scores, data.slot_labels))
    rows = [[name, *(f"{v:.4f}" for v in np.mean(values, axis=0)), _exact(values)] for name, values in measured.items()]
    note = "Steps until both sides are exact, by seed: " + "; ".join(f"{m}: {' '.join(s)}" for m, s in steps.items())
    yield Table(
        f"Synthetic, {model}, {len(SEEDS)} seeds", ["method", "tau", "rho", "nDCG@10", "exact"], rows, note=note
    )


def _by(fitted: Aggregator, side: str) -> Aggregator:
    return type(fitted).from_learned({**fitted.params(), "output": side}, fitted.learned())


def _first_exact(history: Mapping[str, list[float]]) -> str:
    exact = np.minimum(history["tau of lists"], history["tau of features"]) > 1 - 1e-9
    return str(int(np.argmax(exact))) if exact.any() else "–"


def _agreement(scores: Any, gain: Any) -> tuple[float, float, float]:
    discount = 1 / np.log2(np.arange(10) + 2)
    found, best = np.argsort(-scores, kind="stable")[:10], np.argsort(-gain)[:10]
    ndcg = gain[found] @ discount / (gain[best] @ discount)
    return kendalltau(scores, gain).statistic, spearmanr(scores, gain).statistic, ndcg


def _exact(values: list[tuple[float, float, float]]) -> str:
    return f"{sum(tau > 1 - 1e-9 for tau, *_ in values)} of {len(values)}"


def data_sets() -> dict[str, Dataset]:
    """Both data sets, without and with the supervised list."""
    plain = {"OHSUMED": ohsumed(), "MQ2008": mq2008()}
    more = {f"{name} + list": with_list(d, "supervised", supervised_scores(d)) for name, d in plain.items()}
    return {name: replace(each, folds=()) for name, each in {**plain, **more}.items()}


def real(pictures: Path | None) -> Iterator[Table]:
    """nDCG of everyone on each data set, all queries at once, and what one good list adds."""
    metrics = [f"nDCG@{k}" for k in DEPTHS]
    found: dict[str, Comparison] = {}
    for name, data in data_sets().items():
        found[name] = juryrank.compare([OURS, *consensus_methods()], data, metrics, baseline=OURS)
        yield _means(name, found[name])
        if pictures is not None:
            draw(found[name], name, pictures / f"{name.replace(' ', '-')}.png")
    yield _gains(found)


def _means(name: str, found: Comparison) -> Table:
    shown = ("nDCG@1", "nDCG@5", "nDCG@10", "nDCG@20")
    rows = []
    for method in sorted(found.names, key=lambda n: -found.mean(n, "nDCG@10")):
        tested = ["", "", ""]
        if (versus := found.versus.get((method, "nDCG@10"))) is not None:
            tested = [f"{-versus.difference:+.4f}", chance(versus.p_t), chance(versus.p_random)]
        label = f"{method} *" if method in PAPER else method
        rows.append([label, *(f"{found.mean(method, m):.4f}" for m in shown), *tested])
    columns = ["method", *shown, "ours better by", "p (t)", "p (rand.)"]
    return Table(name, columns, rows, note="* a baseline of the paper; differences and p-values are of nDCG@10.")


def _gains(found: dict[str, Comparison]) -> Table:
    """What the list of the supervised ranker adds to nDCG@10."""
    rows = []
    for method in (OURS, "borda", *PAPER[1:]):
        row = [method]
        for name in ("OHSUMED", "MQ2008"):
            row.append(f"{found[f'{name} + list'].mean(method, 'nDCG@10') - found[name].mean(method, 'nDCG@10'):+.4f}")
        rows.append(row)
    return Table("nDCG@10 gained by one supervised list", ["method", "OHSUMED", "MQ2008"], rows)


def draw(found: Comparison, title: str, path: Path) -> None:
    """nDCG@K by K of our method and the paper's baselines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.2), layout="constrained")
    axes = figure.subplots()
    for name in (OURS, *PAPER):
        ours = name == OURS
        values = [found.mean(name, f"nDCG@{k}") for k in DEPTHS]
        axes.plot(DEPTHS, values, label=name, lw=2.5 if ours else 1.2, color="black" if ours else None, marker=".")
    axes.set(title=title, xlabel="K", ylabel="nDCG@K")
    axes.legend(fontsize=8, ncols=2)
    figure.savefig(path, dpi=120)


def large() -> Iterator[Table]:
    """Seconds to settle on 10,000 items × 50 lists × 100 features."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(10_000, 100))
    truth = features @ rng.normal(size=100)
    noise = [rng.normal(size=len(truth)) * truth.std() for _ in range(50)]
    shares = np.linspace(0.2, 3, 50)
    lists = [truth * (k < 40) + shares[k] * noise[k] for k in range(50)]
    data = replace(from_matrix(np.column_stack(lists), truth), features=features)
    rows = []
    for params in ({}, {"list_l1": 0.01}, {"moves": "ties"}, {"loss": "poisson"}, {"loss": "kl"}):
        model = juryrank.method(OURS, **params)
        wall, cpu = time.perf_counter(), time.process_time()
        model.fit(replace(data, labels=None))
        spent = [time.perf_counter() - wall, time.process_time() - cpu]
        tau = kendalltau(_by(model, "features").predict(data).scores, truth).statistic
        told = ", ".join(f"{name}={value}" for name, value in params.items()) or "as it is"
        steps = len(model.learned()["history_"]["objective"]) - 1
        rows.append([told, *(f"{s:.2f}" for s in spent), str(steps), f"{tau:.4f}", str(len(model.dropped()))])  # type: ignore[attr-defined]
    yield Table("A large query", ["parameters", "wall s", "CPU s", "steps", "tau", "lists dropped"], rows)


def main() -> None:
    """Print the tables of the chosen parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--pictures", type=Path, help="also draw nDCG@K by K into this folder")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    parts = {
        "gaussian": lambda: recovery("gaussian"),
        "poisson": lambda: recovery("poisson"),
        "large": large,
        "real": lambda: real(options.pictures),
    }
    if not SHARED.is_dir():
        sys.exit("the data sets are not beside the project (../shared/data): nothing to measure on")
    for part in options.parts or parts:
        for table in parts[part]():
            print(f"**{table.title}**\n")
            print("| " + " | ".join(table.columns) + " |\n|" + "---|" * len(table.columns))
            print("\n".join("| " + " | ".join(row) + " |" for row in table.rows))
            print(f"\n{table.note}\n", flush=True)


if __name__ == "__main__":
    main()
