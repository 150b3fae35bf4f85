"""Volkovs, Zemel, CIKM 2013: the conditional random field beside others, its weights, and runtimes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from studies.learners import learner
from studies.papers.evidence import CHOICE, LABELS, RATES, Chosen, chosen
from studies.papers.experiment import Context, Experiment
from studies.papers.experts import UNUSED, without_unused
from studies.papers.findings import ABOVE, BELOW, Claim, Findings, OverviewRow, ResultRow, ResultTable
from studies.papers.overview import absent, judged, unstated
from studies.papers.published import TABLES, WHY, WITHOUT
from studies.papers.runtime import DENSE, MODELS, SAME, Scale, runtime, summary
from studies.papers.targets import learned_targets
from studies.papers.trials import OURS, QUICK, TESTED, Trial, Trials, letor, result_table
from studies.pictures import Figure
from studies.tables import Table

LEARNERS = ("svd-lambdarank", "crf")
ROWS = (
    Trial("cps, θ learned", "theta-cps", {}, "cps"),
    *map(Trial.of, ("svp", "plackett-luce")),
    Trial("condorcet, unranked unknown", "condorcet", {"missing": "ignore"}, "condorcet"),
    *map(Trial.of, ("rrf", *LEARNERS, *OURS)),
)
WEIGHTS = ("alpha", "beta+", "beta-")
USEFUL, REVERSED, IDLE = ("14", "15", "17", "18", "21"), ("10", "11", "12"), ("24", "25")


def table(name: str, context: Context) -> Findings:
    """Table 2 on one set of LETOR 4.0, with our methods below."""
    trials, here = letor(context, name), name == "MQ2008-agg"
    found, both = result_table(trials, ROWS, baseline="crf"), [chosen(trials, kind) for kind in ("sum", "mean")]
    base = trials.values(Trial.of("crf"))
    lines = [one.result(trials, *(trials.lead_of(one.values, base, m) for m in TESTED)) for one in both]
    at = [line.label for line in found.rows].index("crf")
    found = replace(found, rows=(*found.rows[:at], *lines, *found.rows[at:]))
    rows = [_overview(trials, found)]
    if here and context.missing(("MQ2007-agg",)):
        printed = TABLES["MQ2007-agg"]["crf"].values
        rows.append(absent("Table 2, MQ2007-agg", f"CRF: nDCG@5 {printed[4]}, MAP {printed[-1]}", "MQ2007-agg"))
    return Findings(
        results=(found,),
        claims=tuple(_claims(trials)),
        targets=learned_targets(trials) if here else (),
        tables=(_unstated(both), *(() if context.quick else (_seeds(trials),))),
        notes=(WHY,),
        overview=tuple(rows),
    )


NAMES = {  # rows of Table 2
    "cps, θ learned": "CPS, whose published row reads ranks upside down",
    "svp": "SVP",
    "plackett-luce": "Plackett–Luce",
    "condorcet, unranked unknown": "Condorcet fusion, whose treatment of unranked items and ties is not defined",
    "rrf": "RRF",
    "svd-lambdarank": "SVDsup",
    LABELS["sum"]: "CRF",
}


def _overview(trials: Trials, found: ResultTable) -> OverviewRow:
    lines = {line.label: line for line in found.rows}
    at = found.columns.index("nDCG@5")

    def values(label: str) -> str:
        line = lines[label]
        return f"nDCG@5 {line.measured[at]:.2f}, MAP {line.measured[-1]:.2f} ± {line.spread:.2f}"

    def apart(label: str) -> str:
        """The row and where it is apart."""
        where = found.verdict(lines[label])
        return NAMES[label] if "," in NAMES[label] else f"{NAMES[label]} ({where})"

    crf, svd = lines["crf"].published, lines["svd-lambdarank"].published
    return OverviewRow(
        f"Table 2, {trials.name}",
        f"CRF: nDCG@5 {crf[at]}, MAP {crf[-1]}; SVDsup: {svd[at]}, {svd[-1]}",
        f"CRF with sums of preferences: {values(LABELS['sum'])}; SVDsup: {values('svd-lambdarank')}",
        f"CRF with means of preferences: {values(LABELS['mean'])}",
        judged({apart(label): not {ABOVE, BELOW} & set(found.marks(lines[label])) for label in NAMES}),
    )


def _unstated(both: list[Chosen]) -> Table:
    tried = {kind: f"{min(rates):,.0f} to {max(rates):,.0f}" for kind, rates in RATES.items()}
    names = {"sum": "sums", "mean": "means"}
    return unstated(
        [
            *(
                (
                    f"CRF, learning rate with {names[one.kind]}, by fold",
                    one.rates(),
                    f"from {tried[one.kind]}. {CHOICE}",
                )
                for one in both
            ),
            ("CRF, first weights", "0", "ours"),
            ("CRF, the pass whose weights are used", "of the 300 of the paper", "highest metric on validation queries"),
            ("CRF, metric of the loss", "nDCG@10 with all places discounted", "ours; the paper names NDCG"),
            ("CRF, form of preferences", "log rank", "the paper's choice, by validation MAP"),
            ("SVDsup, learning rate and decay", "0.003 and 0.003", "ours: defaults of the library, not tuned here"),
            ("SVDsup, signs of singular vectors", "non-negative", "ours: the decomposition does not determine them"),
        ]
    )


def _claims(trials: Trials) -> list[Claim]:
    like, better = (trials.lead(Trial.of("crf"), Trial.of(name), "AP") for name in ("svd-lambdarank", "rrf"))
    return [
        Claim("CRF and SVDsup are about as good", f"MAP {like}", like.p >= 0.05),
        better.claim("CRF is above RRF", "MAP"),
    ]


def _seeds(trials: Trials) -> Table:
    """MAP of every seed: how much a row changes with the seed."""
    drawn = [t for t in ROWS if len(trials.by_seed(t, "AP")) > 1]
    rows = [[t.label, *(f"{v:.2f}" for v in trials.by_seed(t, "AP"))] for t in drawn]
    columns = ["method", *(f"seed {s}" for s in trials.context.seeds)]
    return Table("MAP by seed", columns, rows, note="Other methods are deterministic.")


def weights(name: str, context: Context) -> Findings:
    """Figure 1: the weights of experts that the CRF learns on the first fold, as means over the seeds."""
    trials = letor(context, name)
    part = trials.parts()[0]
    params: dict[str, Any] = QUICK["crf"] if context.quick else {}
    found = []
    for seed in context.seeds:
        learned = learner("crf", seed=seed, **params).fit(part.train, valid=part.valid).expert_weights()
        experts = sorted((e for e in learned if e != "*"), key=_number)
        found.append([[learned[e][kind] for kind in WEIGHTS] for e in experts])
    values = np.array(found)  # [seeds, experts, weights]
    figure = Figure(
        f"cikm2013-figure1-{name}",
        f"Figure 1: weights of the CRF, {name}, fold 1, means over seeds (squares of a row share a scale)",
        "hinton",
        {"rows": list(WEIGHTS), "columns": experts, "values": values.mean(axis=0).T.tolist(), "by_row": True},
    )
    if name != "MQ2008-agg":
        return Findings(figures=(figure,))
    held = _weight_claims(dict(zip(experts, values.transpose(1, 0, 2), strict=True)))
    row = OverviewRow(
        f"Figure 1, {name}, fold 1",
        f"experts {', '.join(USEFUL)} show relevance, {', '.join(REVERSED)} are read backwards, "
        f"{', '.join(IDLE)} are not used",
        "",
        f"CRF with means of preferences: {'; '.join(held)}",
        judged({text: claim.holds for text, claim in held.items()}),
    )
    note = f"Weights are means over seeds {', '.join(map(str, context.seeds))}; ± is the standard error over seeds."
    if context.quick:
        note = "Weights are those of 60 passes and one seed; those of the full run differ."
    return Findings(claims=tuple(held.values()), figures=(figure,), notes=(note,), overview=(row,))


def _number(expert: str) -> tuple[int, str]:
    return int(expert) if expert.isdigit() else 10**9, expert


def _weight_claims(by_expert: dict[str, np.ndarray]) -> dict[str, Claim]:
    """Claims about weights [seeds, 3] of each expert, by what is to be said of them in short."""
    mean = {e: values.mean(axis=0) for e, values in by_expert.items()}

    def describe(experts: tuple[str, ...]) -> str:
        return "; ".join(f"{e}: α {_weight(by_expert[e][:, 0])}, β {_weight(_net(by_expert[e]))}" for e in experts)

    def backwards(expert: str) -> bool:
        return bool(_net(by_expert[expert]).mean() < 0)

    middle = float(np.median([np.abs(v[1:]).sum() for v in mean.values()]))
    useful = [e for e in USEFUL if mean[e][0] < 0 and not backwards(e)]
    turned = [e for e in REVERSED if backwards(e)]
    idle = [e for e in IDLE if mean[e][0] > 0 or np.abs(mean[e][1:]).sum() < middle]

    def short(some: list[str], of: tuple[str, ...], what: str) -> str:
        return f"{len(some)} of {len(of)} {what}" + (
            f" (not {', '.join(sorted(set(of) - set(some)))})" * (some != list(of))
        )

    return {
        short(useful, USEFUL, "show relevance"): Claim(
            f"Experts {', '.join(USEFUL)} show relevance: negative α, positive β (β⁺ + β⁻)",
            describe(USEFUL),
            useful == list(USEFUL),
        ),
        short(turned, REVERSED, "are read backwards"): Claim(
            f"Experts {', '.join(REVERSED)} are read backwards: negative β (β⁺ + β⁻)",
            describe(REVERSED),
            turned == list(REVERSED),
        ),
        short(idle, IDLE, "are not used"): Claim(
            f"Experts {', '.join(IDLE)} are of little use: positive α, or small β",
            describe(IDLE),
            idle == list(IDLE),
        ),
    }


def _net(values: np.ndarray) -> np.ndarray:
    return np.asarray(values[:, 1] + values[:, 2])


def _weight(by_seed: np.ndarray) -> str:
    error = f" ± {by_seed.std(ddof=1) / np.sqrt(len(by_seed)):.0f}" if len(by_seed) > 1 else ""
    return f"{by_seed.mean():+.0f}{error}"


def fewer_experts(context: Context) -> Findings:
    """Table 3: the CRF without the experts that it does not use."""
    trials, metrics = letor(context, "MQ2008-agg"), tuple(f"nDCG@{k}" for k in range(1, 6))
    params: dict[str, Any] = {"epochs": 30} if context.quick else {}
    rows = {row["model"]: row for row in without_unused(trials.data, context.seeds, **params)}
    published = {"crf": TABLES["MQ2008-agg"]["crf"].values[:5], "crf*, named": WITHOUT}
    lines = tuple(
        ResultRow(
            label,
            tuple(row[metric] for metric in metrics),
            published.get(label, ()),
            "CIKM 2013, Table 3" if label in published else "",
        )
        for label, row in rows.items()
    )
    lead, error = (rows["crf*, named"][f"nDCG@5 {what}"] for what in ("change", "error"))
    text = f"The CRF is as good without experts {', '.join(UNUSED)}"
    claim = Claim(text, f"nDCG@5 {lead:+.2f} ± {error:.2f}", bool(lead > -2 * error))
    note = f"{trials.description()} crf*, named: without experts {', '.join(UNUSED)}; crf*, least used: without the "
    note += "four whose lists change scores least on the training queries of a fold."
    found = ResultTable("Published and measured", metrics, lines, trials.noise(metrics), note=note)
    least = rows["crf*, least used"]
    overview = OverviewRow(
        "Table 3, MQ2008-agg",
        f"nDCG@5 of CRF {published['crf'][-1]}, of CRF* without experts {', '.join(UNUSED)} {WITHOUT[-1]}",
        "",
        f"CRF with means of preferences {rows['crf']['nDCG@5']:.2f}, CRF* {rows['crf*, named']['nDCG@5']:.2f} "
        f"({lead:+.2f} ± {error:.2f}); without the four that are used least {least['nDCG@5']:.2f}",
        judged(
            {
                **{
                    f"{line.label} ({found.verdict(line)})": not {ABOVE, BELOW} & set(found.marks(line))
                    for line in lines[:2]
                },
                "CRF* is below CRF": claim.holds,
            }
        ),
    )
    return Findings(results=(found,), claims=(claim,), overview=(overview,))


def runtimes(context: Context) -> Findings:
    """Figure 2: milliseconds of a query with more experts and with more items."""
    data = letor(context, "MQ2008-agg").data
    scale = Scale(times=(1, 10), repeats=2, dense_queries=4) if context.quick else Scale()
    rows = runtime(data, scale)
    kinds = ["experts", "items"]
    series = [*MODELS, SAME, DENSE]
    panels = [
        {
            "x": [row["times"] for row in rows if row["expansion"] == kind],
            "series": {s: [row[f"{s} ms"] for row in rows if row["expansion"] == kind] for s in series},
            "xlabel": f"times as many {kind}",
            "ylabel": "ms per query",
            "yscale": "log",
        }
        for kind in kinds
    ]
    found = {row["expansion"]: row for row in summary(rows)}
    body = [[kind, *(f"{v:.2f}" for k, v in row.items() if k != "expansion")] for kind, row in found.items()]
    columns = list(next(iter(found.values())))
    ratio = max(value for row in found.values() for key, value in row.items() if "/ crf" in key)
    slower = runtime_claims(rows)
    overview = OverviewRow(
        "Figure 2, MQ2008-agg, fold 1",
        "SVDsup is almost 80 times slower than CRF with ten times the experts, more than 3.5 times with ten times "
        "the items",
        f"dense SVD: {slower[0].measured} slower with ten times the experts, {slower[1].measured} with the items",
        f"our features: at most {ratio:.1f}× the time of CRF at every size",
        judged({"(a), experts": slower[0].holds, "(b), items": slower[1].holds}),
    )
    return Findings(
        claims=tuple(slower),
        targets=(
            Claim("SVD features within 3× of the CRF at every size", f"at most {ratio:.1f}×", ratio <= 3),
            Claim(
                "≥ 50× faster than dense SVD at ten times the items",
                f"{found['items']['dense / features, at last']:.0f}×",
                found["items"]["dense / features, at last"] >= 50,
            ),
        ),
        tables=(Table("Growth with entries (slope of logarithms, 1 is linear) and ratios", columns, body),),
        figures=(Figure("cikm2013-figure2", "Figure 2: time of one query", "lines", {"panels": panels}),),
        notes=(
            f"Times are means over the {rows[0]['queries']} test queries of fold 1. Dense SVD is measured on "
            f"{rows[0]['dense queries']} of them, evenly spaced in the order of their number of entries, and its "
            "ratios are to the CRF and to our features on the same queries.",
            "Times depend on the machine of this run; ratios and slopes hardly do.",
        ),
        overview=(overview,),
    )


def runtime_claims(rows: list[dict[str, Any]]) -> list[Claim]:
    """How many times slower dense SVD is than the CRF, on the same queries, at ten times the size."""
    last = {row["expansion"]: row for row in rows if row["times"] == 10}
    ratio = {k: float(last[k]["dense / crf"]) for k in ("experts", "items")}
    return [
        Claim(
            "SVDsup (dense SVD) is almost 80 times slower than CRF with ten times the experts",
            f"{ratio['experts']:.0f}×",
            ratio["experts"] > 20,
        ),
        Claim(
            "SVDsup (dense SVD) is more than 3.5 times slower with ten times the items",
            f"{ratio['items']:.0f}×",
            ratio["items"] > 3.5,
        ),
    ]


def experiments(sets: tuple[str, ...]) -> tuple[Experiment, ...]:
    """Experiments on each set, and those on MQ2008-agg only."""
    return (
        *(Experiment(f"cikm2013-table2-{s}", "cikm2013", f"Table 2: {s}", (s,), partial(table, s)) for s in sets),
        *(
            Experiment(
                f"cikm2013-figure1-{s}", "cikm2013", f"Figure 1: weights of experts, {s}", (s,), partial(weights, s)
            )
            for s in sets
        ),
        Experiment("cikm2013-table3", "cikm2013", "Table 3: fewer experts", ("MQ2008-agg",), fewer_experts),
        Experiment("cikm2013-figure2", "cikm2013", "Figure 2: runtimes", ("MQ2008-agg",), runtimes),
    )
