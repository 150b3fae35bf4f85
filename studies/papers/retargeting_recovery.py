"""Why the algorithm of Bhowmik and Ghosh (WWW 2017), as printed, does not recover the order; which lists it drops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import kendalltau, rankdata

import juryrank as jr
from studies.arrays import Floats
from studies.console import track
from studies.papers.experiment import Context
from studies.papers.findings import EXCEPT, NOT, REPRODUCED, Claim, Findings, OverviewRow
from studies.papers.item_features import Drawn, draw, from_matrix, synthetic
from studies.papers.overview import unstated
from studies.papers.retargeting_as_printed import Path, Printed, Side, aggregate
from studies.tables import Table

EXACT = 1 - 1e-9
OURS = "monotone-retargeting"
SYNTHETIC = {"start": "borda", "list_l2": 1e-9, "feature_l2": 1e-9, "tol": 1e-9, "max_iter": 25}
MODELS: dict[str, dict[str, Any]] = {
    "gaussian": SYNTHETIC,
    "poisson": {**SYNTHETIC, "loss": "poisson", "values": "share"},
}
KINDS = {
    "shifted": slice(0, 2),
    "noise added": slice(2, 5),
    "noise multiplied": slice(5, 7),
    "pure noise": slice(7, 10),
}
L1 = (0.0, 0.001, 0.01, 0.1)

Start = Callable[[Drawn], Floats]


def by_method(name: str) -> Start:
    """Scores of a consensus method."""
    return lambda drawn: jr.method(name).fit_predict(from_matrix(drawn.lists, drawn.truth)).scores


def tau_of(orders: Sequence[Floats], truth: Floats) -> list[float]:
    """Kendall's tau of each order to the truth; 0 where all items are tied."""
    return [float(np.nan_to_num(kendalltau(order, truth).statistic)) for order in orders]


BORDA = by_method("borda")


@dataclass(frozen=True)
class Variation:
    """One choice that differs from the base: of the algorithm, of its start, or of the data."""

    text: str
    how: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    start: Start = BORDA
    ranks: bool = False


def _random_order(drawn: Drawn) -> Floats:
    return np.random.default_rng(len(drawn.truth)).normal(size=len(drawn.truth))


def variations() -> list[Variation]:
    """The base first; then one change at a time."""
    return [
        Variation("base: Borda first, variance 1, algorithm 1 until it converges"),
        Variation("one sub-step of algorithm 1 in each step", {"sub_steps": 1}),
        Variation("one sub-step, 500 steps", {"sub_steps": 1, "steps": 500}),
        Variation("lists before features", {"lists_first": True}),
        Variation("scores not normalised", {"scale": "none"}),
        Variation("margin 1 between best and worst (section 4.1)", {"scale": "margin"}),
        Variation("start: CombMNZ", start=by_method("combmnz")),
        Variation("start: MC4", start=by_method("mc4")),
        Variation("start: a random order", start=_random_order),
        Variation("start: the true order", start=lambda d: d.truth),
        Variation("lists as places, not scores", ranks=True),
        Variation("50 items", data={"n_items": 50}),
        Variation("1,000 items", data={"n_items": 1000}),
        Variation("40 lists", data={"times": 4}),
        Variation("400 lists", data={"times": 40}),
        Variation("noise of the good lists / 10", data={"noise": 0.1}),
        Variation("no lists of pure noise", data={"poor": 0}),
        Variation("no lists of pure noise, noise / 10", data={"noise": 0.1, "poor": 0}),
    ]  # fmt: skip


def recovery(context: Context) -> Findings:
    """Each choice that the paper leaves open is varied on its own."""
    seeds = range(2 if context.quick else 10)
    tried = [v for v in variations() if not context.quick or not (v.data or v.how.get("steps"))]
    tables, claims = [], []
    for model in MODELS:
        rows, exact = [], {}
        for variation in track(tried, f"as printed, {model}"):
            values = np.array([_tau_at_end(variation, model, seed) for seed in seeds])
            exact[variation.text] = int((values[:, 1:3].min(axis=1) > EXACT).sum())
            rows.append([variation.text, *_cells(values), f"{exact[variation.text]} of {len(seeds)}"])
        for text, params in LIBRARY.items():
            if context.quick and params.get("list_l1"):
                continue
            values = np.array([_library(model, seed, params) for seed in seeds])
            count = int((values[:, 1:].min(axis=1) > EXACT).sum())
            rows.append(
                [text, f"{values[:, 0].mean():.3f}", "–", "–", *_means(values[:, 1:]), f"{count} of {len(seeds)}"]
            )
        tables.append(Table(f"Recovery as printed, {model}", COLUMNS, rows, note=NOTE))
        claims += _stops(model, seeds)
        away = sum(n for text, n in exact.items() if text != "start: the true order")
        claims.append(Claim(f"Some choice makes the printed algorithm exact, {model}",
                            f"{away} of {len(seeds) * (len(tried) - 1)} draws of all variations that do not start from "
                            "the true order", away > 0))  # fmt: skip
    return Findings(claims=tuple(claims), tables=(*tables, _parameters()), notes=(WHY,))


LIBRARY: dict[str, dict[str, Any]] = {
    "juryrank, moves=ties": {"moves": "ties"},
    "juryrank, moves=ties, list_l1=0.1 (section 5.1)": {"moves": "ties", "list_l1": 0.1},
    "ours: juryrank, moves=free": {},
}
COLUMNS = ["variation", "tau of start", "r", "z", "Rβ", "Xω", "r and z exact"]
NOTE = (
    "Mean Kendall's tau to the true order at the end: r and z are the retargeted scores of lists and of features, ties "
    "ordered by Rβ and Xω (footnote 5). juryrank gives Rβ and Xω, and exact is counted for these."
)
WHY = (
    "Items change places only while one side ties them and the other does not order them. The iteration stops at a "
    "stationary point near its start; pairs in the wrong order that neither side ties are exchanged by no further step."
)


def _parameters() -> Table:
    rows = [
        [
            "kinds of lists",
            "2 shifted, 3 with noise added, 2 multiplied by noise, 3 of pure noise",
            "ours; noise varied",
        ],
        ["noise", "1/4, 1/2 and 1 standard deviation; factors 1 + noise of 1/4, 1/2", "ours; varied"],
        ["features of an item", "10", "ours"],
        ["first consensus", "Borda", "ours; varied"],
        ["scale of retargeted scores", "variance 1", "ours; varied: without it scores of 0 are the best"],
        ["steps, sub-steps", "at most 25 and 100", "ours; varied"],
        ["penalties", "1e-9", "ours: none, up to rounding; L1 varied"],
    ]
    return unstated(rows)


def _cells(values: Floats) -> list[str]:
    return [f"{values[:, 0].mean():.3f}", *_means(values[:, 1:])]


def _means(values: Floats) -> list[str]:
    return [f"{value:.3f}" for value in values.mean(axis=0)]


def _tau_at_end(variation: Variation, model: str, seed: int) -> list[float]:
    drawn = draw(seed, model, **variation.data)
    start = variation.start(drawn)
    path, _, _ = run(drawn, start, model, ranks=variation.ranks, **variation.how)
    return tau_of([start, *path.retargeted[-1], *path.predictors[-1]], drawn.truth)


def run(drawn: Drawn, start: Floats, model: str, *, ranks: bool = False, **how: Any) -> tuple[Path, Side, Side]:
    """The algorithm as printed, on a draw."""
    lists = rankdata(drawn.lists, axis=0) if ranks else drawn.lists
    return aggregate(lists, drawn.features, start, Printed(poisson=model == "poisson", **how))


def _library(model: str, seed: int, params: dict[str, Any]) -> list[float]:
    data = synthetic(seed, model)
    start = jr.method("borda").fit_predict(data).scores
    history = _fitted(model, data, params).learned()["history_"]
    tau = [history[f"tau of {side}"][-1] for side in ("lists", "features")]
    return [*tau_of([start], data.slot_labels), *tau]


def _fitted(model: str, data: jr.Dataset, params: dict[str, Any]) -> Any:
    if params.get("list_l1"):
        params = {"tol": 1e-4, **params}  # coordinate descent takes long to the last digits
    return jr.method(OURS, **{**MODELS[model], **params}).fit(data)


def _stops(model: str, seeds: range) -> list[Claim]:
    """Where the printed iteration ends, and whether it could go on."""
    stuck, moved, found = [], [], []
    for seed in seeds:
        drawn = draw(seed, model)
        path, r, z = run(drawn, BORDA(drawn), model, steps=200)
        i, j = np.triu_indices(len(drawn.truth), 1)
        order = path.retargeted[-1][0]
        wrong = (order[i] - order[j]) * (drawn.truth[i] - drawn.truth[j]) < 0
        tied = (np.abs(r.scores[i] - r.scores[j]) < 1e-9) | (np.abs(z.scores[i] - z.scores[j]) < 1e-9)
        stuck.append(1 - tied[wrong].mean())
        halfway, last = (tau_of(path.retargeted[k], drawn.truth) for k in (len(path.retargeted) // 2, -1))
        moved.append(np.abs(np.subtract(halfway, last)).max())
        found.append(wrong.mean())
    measured = (
        f"{100 * np.mean(found):.1f} % of pairs are in the wrong order after 200 steps, {100 * np.mean(stuck):.0f} % "
        f"of these tied by neither side; in the second half of the steps tau changes by at most {max(moved):.4f}"
    )
    return [Claim(f"The algorithm moves freely between permutations (section 5.2), {model}", measured, max(found) == 0)]


def poor_lists(context: Context) -> Findings:
    """Which lists keep a coefficient, by the L1 penalty (abstract, section 5.1)."""
    seeds = range(2 if context.quick else 10)
    rows, kept, weight = [], {}, {}
    for label, moves in (("as printed", "ties"), ("ours", "free")):
        for l1 in track(L1, f"poor lists, {label}"):
            counts, shares, tau = [], [], []
            for seed in seeds:
                fitted = _fitted("gaussian", synthetic(seed), {"moves": moves, "list_l1": l1})
                learned = fitted.learned()
                weights = np.abs(np.asarray(learned["weights_"]))[np.argsort(np.array(learned["experts_"]).astype(int))]
                counts.append([np.count_nonzero(weights[kind]) for kind in KINDS.values()])
                shares.append(weights[KINDS["pure noise"]].sum() / weights.sum())
                tau.append([learned["history_"][f"tau of {side}"][-1] for side in ("lists", "features")])
            kept[label, l1], weight[label, l1] = np.mean(counts, axis=0), 100 * np.mean(shares)
            rows.append([label, f"{l1:g}", *(f"{n:.1f}" for n in kept[label, l1]), f"{weight[label, l1]:.1f}",
                         *_means(np.array(tau))])  # fmt: skip
    sizes = [len(range(*kind.indices(10))) for kind in KINDS.values()]
    columns = ["method", "list_l1", *(f"{name} (of {n})" for name, n in zip(KINDS, sizes, strict=True)),
               "weight of pure noise, %", "tau of lists", "tau of features"]  # fmt: skip
    clean = {label: [l1 for l1 in L1 if kept[label, l1][-1] == 0] for label in ("as printed", "ours")}
    text = {label: _first(clean[label], kept, label) for label in clean}
    claims = [
        Claim(f"Poor lists get no weight with a LASSO penalty, {label}", text[label], bool(clean[label]))
        for label in clean
    ]
    for label in clean:
        share, count = weight[label, 0.0], kept[label, 0.0][-1]
        measured = f"{count:.1f} of 3 noise lists keep a coefficient, with {share:.1f} % of the weight of all lists"
        claims.append(Claim(f"Poor lists get no weight without a penalty (abstract), {label}", measured, share < 0.1))
    verdict = NOT + ": some lists of pure noise keep a weight at every penalty tried"
    if all(clean.values()):
        good = min(kept[label, min(clean[label])][:3].sum() for label in clean)
        verdict = REPRODUCED if good == sum(sizes[:3]) else f"{EXCEPT} that lists with noise lose their weight, too"
    overview = OverviewRow(
        "Abstract, section 5.1: poor lists get no weight", "no experiment", text["as printed"], text["ours"], verdict
    )
    note = f"Gaussian model, {len(seeds)} draws: mean number of lists of each kind with a coefficient that is not 0."
    return Findings(claims=tuple(claims), tables=(Table("Lists that keep a weight", columns, rows, note=note),),
                    overview=(overview,))  # fmt: skip


def _first(clean: list[float], kept: dict[tuple[str, float], Floats], label: str) -> str:
    """The smallest penalty without weights of noise lists, and what it leaves of the good ones."""
    if not clean:
        return f"{kept[label, L1[-1]][-1]:.1f} of 3 noise lists keep one at list_l1={L1[-1]:g}"
    good = kept[label, clean[0]][:3].sum()
    return f"from list_l1={clean[0]:g} on, 0 of 3 noise lists and {good:.1f} of 7 good lists keep one"
