"""Figure 2 of Bhowmik and Ghosh (WWW 2017): lists and item features of OHSUMED, MQ2008 and MQ2007."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import juryrank as jr
from studies.arrays import Floats, lists_by_score
from studies.console import track
from studies.papers.experiment import Context
from studies.papers.findings import EXCEPT, NOT, REPRODUCED, Claim, Findings, OverviewRow
from studies.papers.folds import randomisation_test
from studies.papers.item_features import letor, letor_of_paper, ohsumed, supervised_scores, with_list
from studies.papers.overview import absent, unstated, without_results
from studies.papers.trials import consensus_methods
from studies.papers.workers import workers
from studies.pictures import Figure
from studies.tables import Table, p_text

OURS = "monotone-retargeting"
PAPER = ("borda", "combmnz", "combmin", "combmax", "mc1", "mc2", "mc3", "mc4")
DEPTHS = range(1, 21)
AS_PRINTED = {"start": "borda", "moves": "ties", "inner": 20, "max_iter": 25, "list_l2": 1e-9, "feature_l2": 1e-9}
BY_QUERY = {**AS_PRINTED, "inner": 1, "coefficients": "query"}
PRINTED = {f"as printed, {side}": {**AS_PRINTED, "output": side} for side in ("lists", "features")}
SIDES = {f"ours, {side}": {"output": side} for side in ("lists", "features")}
PAPERS_LISTS = "the paper's lists"
CURVE = "a curve: above the eight baselines at each K"
FIGURES = {"OHSUMED": ("2(a)", "2(b)"), "MQ2008": ("2(c)", "2(d)"), "MQ2007": ("2(e)", "2(f)")}

Comparison = Any  # what ``jr.compare`` returns


def real(name: str, context: Context) -> Findings:
    """Figure 2: nDCG@K on all queries at once, without and with the list of a supervised ranker."""
    whole = ohsumed(context.data) if name == "OHSUMED" else letor(context.data, name)
    scores = supervised_scores(whole)
    sets = {name: whole, f"{name} + list": with_list(whole, "supervised", scores)}
    if name != "OHSUMED":
        papers = letor_of_paper(context.data, name)
        label = f"{name}, {PAPERS_LISTS}"
        sets |= {label: papers, f"{label} + list": with_list(papers, "supervised", scores)}
    by_query = () if context.quick else tuple(label for label in sets if "+ list" not in label)
    others = PAPER if context.quick else consensus_methods()
    waiting = {
        label: workers(context).submit(_compared, PAPER if PAPERS_LISTS in label else others, each, label in by_query)
        for label, each in sets.items()
    }
    found = {label: done.result() for label, done in track(list(waiting.items()), name)}
    mine = [label for label in sets if PAPERS_LISTS not in label]
    of_paper = [label for label in sets if PAPERS_LISTS in label] or mine
    shown = (OURS, "as printed, lists")
    claims = [_above(label, each, method) for label, each in found.items() for method in shown]
    claims += [_raised(found, label, method) for label in dict.fromkeys((mine[0], of_paper[0])) for method in shown]
    if name != "OHSUMED":
        claims.append(_why(whole, papers, found, name))
    targets = []
    if not context.quick:
        claims += [_undecided(label, found[label]) for label in mine]
        targets = [_best(label, found[label]) for label in mine]
    panels = zip(FIGURES[name], ("", " + list"), of_paper, mine, strict=True)
    rows = [_overview(f"Figure {panel}, {name}{what}", found, label, own) for panel, what, label, own in panels]
    return Findings(
        claims=tuple(claims),
        targets=tuple(targets),
        tables=(*(_means(label, each) for label, each in found.items()), _parameters()),
        figures=(_curves(name, found),),
        notes=tuple(f"{label}: {_lists_of(data)}." for label, data in sets.items()),
        overview=(*rows, *(_not_possible(context) if name == "MQ2008" else ())),
    )


def _compared(others: Sequence[str], data: jr.Dataset, by_query: bool) -> Comparison:
    retargeting: dict[str, dict[str, Any]] = {OURS: {}, **SIDES, **PRINTED}
    if by_query:
        retargeting["as printed, by query"] = {**BY_QUERY, "output": "lists"}
    models = {label: jr.method(OURS, **params) for label, params in retargeting.items()}
    methods = {**models, **{other: jr.method(other) for other in others}}
    return jr.compare(methods, replace(data, folds=()), [f"nDCG@{k}" for k in DEPTHS], baseline=OURS)


@dataclass(frozen=True)
class Lead:
    """The mean × 100 of a method, its paired difference to the best baseline of the paper, and the noise of that."""

    mean: float
    best: str
    difference: float
    error: float
    p: float

    @classmethod
    def of(cls, found: Comparison, method: str) -> Lead:
        best = max(PAPER, key=lambda name: found.mean(name, "nDCG@10"))
        pair = 100 * (_by_query(found, method) - _by_query(found, best))
        error = pair.std(ddof=1) / np.sqrt(len(pair))
        p = float(randomisation_test(pair[:, None])[0])
        return cls(100 * found.mean(method, "nDCG@10"), best, float(pair.mean()), float(error), p)

    def __str__(self) -> str:
        return (
            f"{self.mean:.2f}, {self.difference:+.2f} ± {self.error:.2f} to {self.best}, the best baseline "
            f"(p {p_text(self.p)})"
        )


def _by_query(found: Comparison, method: str) -> Floats:
    values: Floats = found.values[found.names.index(method), [str(m) for m in found.metrics].index("nDCG@10")]
    return np.nan_to_num(values)


def _above(label: str, found: Comparison, method: str) -> Claim:
    """Against the baselines of the paper."""
    lead, name = Lead.of(found, method), "ours" if method == OURS else method
    text = f"Above the paper's baselines in nDCG@10, {name}: {label}"
    return Claim(text, str(lead), lead.difference > 0, noisy=lead.p >= 0.05)


def _raised(found: dict[str, Comparison], label: str, method: str) -> Claim:
    gains = {m: _gain(found, label, m) for m in ("borda", method)}
    name = "ours" if method == OURS else method
    measured = f"nDCG@10 {gains[method]:+.2f}, Borda {gains['borda']:+.2f}"
    return Claim(f"One good list raises it more than Borda, {name}: {label}", measured, gains[method] > gains["borda"])


def _gain(found: dict[str, Comparison], label: str, method: str) -> float:
    return float(100 * (found[f"{label} + list"].mean(method, "nDCG@10") - found[label].mean(method, "nDCG@10")))


def _best_consensus(found: Comparison) -> str:
    others = [m for m in found.names if m != OURS and m not in PRINTED and m not in SIDES and "by query" not in m]
    best: str = max(others, key=lambda method: found.mean(method, "nDCG@10"))
    return best


def _best(label: str, found: Comparison) -> Claim:
    """Against every consensus method in the comparison."""
    best = _best_consensus(found)
    versus = found.versus[best, "nDCG@10"]
    ours = 100 * found.mean(OURS, "nDCG@10")
    measured = f"{ours:.2f}; {best}, the best, {100 * versus.difference:+.2f}, p {p_text(versus.p_random)}"
    return Claim(f"retargeting above every consensus method in nDCG@10: {label}", measured, versus.difference < 0)


def _undecided(label: str, found: Comparison) -> Claim:
    """Whether the queries are enough to tell ours from the best of all consensus methods."""
    best = _best_consensus(found)
    versus = found.versus[best, "nDCG@10"]
    low, high = 100 * versus.low, 100 * versus.high
    measured = f"{best} minus ours {100 * versus.difference:+.2f}, 95 % interval {low:+.2f} to {high:+.2f}"
    return Claim(f"The queries tell ours from the best consensus method: {label}", measured, low > 0 or high < 0)


def _why(whole: jr.Dataset, papers: jr.Dataset, found: dict[str, Comparison], name: str) -> Claim:
    """What the features that remain are worth, even to a ranker that learns from labels, and whom ours follows."""
    worth = [_of_scores(data, supervised_scores(data)) for data in (whole, papers)]
    ours = found[f"{name}, {PAPERS_LISTS}"]
    sides = [
        f"{100 * ours.mean(method, 'nDCG@10'):.2f}" for method in ("ours, lists", "ours, features", "as printed, lists")
    ]
    measured = (
        f"a ranker trained on labels with all features {worth[0]:.2f}, with those left {worth[1]:.2f}; with the "
        f"paper's lists, those of ours follow the features ({sides[0]} and {sides[1]}); as printed they stay near "
        f"Borda ({sides[2]})"
    )
    return Claim("The features left without retrieval scores are as good as all", measured, worth[1] > worth[0] - 1)


def _of_scores(data: jr.Dataset, scores: Floats) -> float:
    """nDCG@10 × 100 of the scores alone."""
    alone = replace(data, rankings=lists_by_score(data.rankings, ["supervised"], scores[:, None]), folds=())
    return 100 * float(jr.compare(["borda"], alone, ["nDCG@10"]).mean("borda", "nDCG@10"))


def _means(label: str, found: Comparison) -> Table:
    shown = ("nDCG@1", "nDCG@5", "nDCG@10", "nDCG@20")
    rows = []
    for method in sorted(found.names, key=lambda n: -found.mean(n, "nDCG@10")):
        tested = ["", "", ""]
        if (versus := found.versus.get((method, "nDCG@10"))) is not None:
            noise = "noise" if versus.p_random >= 0.05 else ""
            tested = [f"{-100 * versus.difference:+.2f}", p_text(versus.p_random), noise]
        label_of = f"{method} *" if method in PAPER else f"ours: {method}" if method == OURS else method
        rows.append([label_of, *(f"{100 * found.mean(method, m):.2f}" for m in shown), *tested])
    columns = ["method", *shown, "ours better by", "p", "difference is"]
    return Table(label, columns, rows, note="* a baseline of the paper; differences and p-values are of nDCG@10.")


def _curves(name: str, found: dict[str, Comparison]) -> Figure:
    shown = (OURS, *PRINTED, *PAPER)
    panels = [
        {
            "x": list(DEPTHS),
            "series": {m: [100 * each.mean(m, f"nDCG@{k}") for k in DEPTHS] for m in shown},
            "bold": [OURS],
            "xlabel": "K",
            "ylabel": "nDCG@K",
            "title": label,
        }
        for label, each in found.items()
    ]
    return Figure(f"www2017-figure2-{name}", f"Figure 2: {name}", "lines", {"panels": panels})


def _overview(what: str, found: dict[str, Comparison], label: str, aggregation: str) -> OverviewRow:
    """A panel of Figure 2 with the paper's lists; ours also with the lists of the aggregation set, if these differ."""
    printed = max((Lead.of(found[label], side) for side in PRINTED), key=lambda lead: lead.mean)
    ours = f"nDCG@10 {Lead.of(found[label], OURS)}"
    if aggregation != label:
        ours += f"; with the lists of the aggregation set alone {Lead.of(found[aggregation], OURS)}"
    noise = " within noise" if printed.p >= 0.05 else ""
    text, curve = f"the better side: nDCG@10 {printed}", CURVE
    verdict = REPRODUCED if not noise else f"{EXCEPT} that the lead, {printed.difference:+.2f}, is{noise}"
    if printed.difference <= 0:
        verdict = f"{NOT}: as printed it is not above the best baseline, {printed.difference:+.2f}{noise}"
    if (without := label.removesuffix(" + list")) != label:
        gains = [_gain(found, without, method) for method in ("as printed, lists", "borda")]
        text += f"; the list adds {gains[0]:+.2f} to its lists, {gains[1]:+.2f} to Borda"
        curve += "; the good list adds far more than to the baselines"
        if printed.difference <= 0 and gains[0] > gains[1]:
            verdict = f"{EXCEPT} that it is not above the best baseline, {printed.difference:+.2f}{noise}"
    return OverviewRow(what, curve, text, ours, verdict)


def _not_possible(context: Context) -> list[OverviewRow]:
    """What has no results, and the figures of MQ2007 if it is not there."""
    shown = "examples of Bregman divergences, and the algorithms"
    rows = [without_results("Table 1, Algorithms 1 and 2", shown)]
    if missing := context.missing(("MQ2007-agg", "MQ2007")):
        for panel, what in zip(FIGURES["MQ2007"], ("", " + list"), strict=True):
            rows.append(absent(f"Figure {panel}, MQ2007{what}", CURVE, missing[0]))
    return rows


def _lists_of(data: jr.Dataset) -> str:
    assert data.features is not None
    return f"{len(data.rankings.experts)} lists and {data.features.shape[1]} features"


def _parameters() -> Table:
    rows = [
        ["first consensus of the printed algorithm", "borda", "ours: the paper says any aggregation method"],
        ["sub-steps of algorithm 1, at most", "20", "ours: the paper says until convergence"],
        ["steps of algorithm 2, at most", "25", "ours"],
        ["penalties of the printed algorithm", "1e-9", "ours: none, up to rounding"],
        ["coefficients", "shared, and by query", "the paper writes one query; both are shown"],
        ["start, output and penalties of ours", "defaults", "on every second query of the four datasets without the "
         "paper's lists; no label of the other half"],
    ]  # fmt: skip
    return unstated(rows)
