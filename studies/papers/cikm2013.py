"""Volkovs, Zemel, CIKM 2013: the conditional random field beside others, its weights, and runtimes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from studies.learners import learner
from studies.papers.experiment import Context, Experiment
from studies.papers.experts import UNUSED, without_unused
from studies.papers.findings import Claim, Findings, ResultRow, ResultTable
from studies.papers.published import TABLES, WHY, WITHOUT
from studies.papers.runtime import DENSE, MODELS, SAME, Scale, runtime, summary
from studies.papers.targets import learned_targets
from studies.papers.trials import OURS, QUICK, Trial, Trials, letor, result_table
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
    trials = letor(context, name)
    found = result_table(trials, ROWS, baseline="crf")
    return Findings(
        results=(found,),
        claims=tuple(_claims(trials)),
        targets=learned_targets(trials) if name == "MQ2008-agg" else (),
        tables=() if context.quick else (_seeds(trials),),
        notes=(WHY,),
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
    """Figure 1: the weights of experts that the CRF learns on the first fold."""
    trials = letor(context, name)
    part = trials.parts()[0]
    model = learner("crf", **(QUICK["crf"] if context.quick else {})).fit(part.train, valid=part.valid)
    learned = model.expert_weights()
    experts = sorted((e for e in learned if e != "*"), key=_number)
    values = np.array([[learned[e][kind] for e in experts] for kind in WEIGHTS])
    figure = Figure(
        f"cikm2013-figure1-{name}",
        f"Figure 1: weights of the CRF, {name}, fold 1 (squares of a row share a scale)",
        "hinton",
        {"rows": list(WEIGHTS), "columns": experts, "values": values.tolist(), "by_row": True},
    )
    claims = _weight_claims(dict(zip(experts, values.T, strict=True))) if name == "MQ2008-agg" else ()
    return Findings(claims=tuple(claims), figures=(figure,))


def _number(expert: str) -> tuple[int, str]:
    return int(expert) if expert.isdigit() else 10**9, expert


def _weight_claims(by_expert: dict[str, np.ndarray]) -> list[Claim]:
    def describe(experts: tuple[str, ...]) -> str:
        return "; ".join(
            f"{e}: α {by_expert[e][0]:+.0f}, β⁺ {by_expert[e][1]:+.0f}, β⁻ {by_expert[e][2]:+.0f}" for e in experts
        )

    def net(expert: str) -> float:
        return float(by_expert[expert][1] + by_expert[expert][2])

    middle = float(np.median([np.abs(v[1:]).sum() for v in by_expert.values()]))
    weak = [e for e in IDLE if by_expert[e][0] > 0 or np.abs(by_expert[e][1:]).sum() < middle]
    return [
        Claim(
            f"Experts {', '.join(USEFUL)} show relevance: negative α, positive β",
            describe(USEFUL),
            all(by_expert[e][0] < 0 and net(e) > 0 for e in USEFUL),
        ),
        Claim(
            f"Experts {', '.join(REVERSED)} are read backwards: negative β",
            describe(REVERSED),
            all(net(e) < 0 for e in REVERSED),
        ),
        Claim(
            f"Experts {', '.join(IDLE)} are of little use: positive α, or small β",
            describe(IDLE),
            len(weak) == len(IDLE),
        ),
    ]


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
    note = f"{trials.description()} crf*, named: without experts {', '.join(UNUSED)}; crf*, least used: without the "
    note += "four whose lists change scores least on the training queries of a fold."
    return Findings(
        results=(ResultTable("Published and measured", metrics, lines, trials.noise(metrics), note=note),),
        claims=(Claim(text, f"nDCG@5 {lead:+.2f} ± {error:.2f}", bool(lead > -2 * error)),),
    )


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
    return Findings(
        claims=tuple(runtime_claims(rows)),
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
