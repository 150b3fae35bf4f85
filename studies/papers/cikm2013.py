"""Volkovs, Zemel, CIKM 2013: the conditional random field beside others, its weights, and runtimes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from studies.learners import learner
from studies.papers.evidence import CHOICE, LABELS, RATES, Chosen, chosen
from studies.papers.experiment import Context, Experiment
from studies.papers.experts import UNUSED, without_unused
from studies.papers.findings import ABOVE, BELOW, Claim, Findings, OverviewRow, ResultRow, ResultTable
from studies.papers.overview import absent, judged, unstated, without_results
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
EXPERTS_SLOWER = 80  # times that SVDsup is slower in the paper, almost
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
    if here:
        rows.append(without_results("Table 1, Algorithm 1", "notation and the learning procedure"))
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
            ("CRF, first weights", "normal, standard deviation 0.01", "ours: default of the library"),
            ("CRF, the pass whose weights are used", "of the 300 of the paper", "highest metric on validation queries"),
            ("CRF, metric of the loss", "nDCG@10 with all places discounted", "ours; the paper names NDCG"),
            ("CRF, form of preferences", "log rank", "the paper's choice, by validation MAP"),
            (
                "SVDsup, learning rate and decay",
                "0.003 and 0.003",
                "ours; what validation queries choose is in cikm2013-parameters",
            ),
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
    trials, here = letor(context, name), name == "MQ2008-agg"
    kinds = {"means of preferences": Trial.of("crf")}
    if here:
        kinds = {"sums of preferences": chosen(trials, "sum").by_fold[0], **kinds}
    figures, claims, told = [], [], {}
    for kind, trial in kinds.items():
        experts, values = _learned_weights(trials, trial)
        shown = values.mean(axis=0)
        figures.append(
            Figure(
                f"cikm2013-figure1-{name}-{kind.partition(' ')[0]}",
                f"Figure 1: weights of the CRF with {kind}, {name}, fold 1, means over seeds (squares of a row share "
                "a scale)",
                "hinton",
                {"rows": list(WEIGHTS), "columns": experts, "values": shown.T.tolist(), "by_row": True},
            )
        )
        if here:
            told[kind] = weight_claims(dict(zip(experts, values.transpose(1, 0, 2), strict=True)), kind)
            claims += [claim for _, _, claim in told[kind]]
    if not here:
        return Findings(figures=tuple(figures))
    printed, ours = ("; ".join(text for text, _, _ in told[kind]) for kind in kinds)
    rate = kinds["sums of preferences"].params["rate"]
    row = OverviewRow(
        f"Figure 1, {name}, fold 1",
        f"experts {', '.join(USEFUL)} show relevance, {', '.join(REVERSED)} are read backwards, "
        f"{', '.join(IDLE)} are not used",
        f"CRF with sums of preferences, rate {rate:g} chosen on validation queries: {printed}",
        f"CRF with means of preferences: {ours}",
        judged({exception: claim.holds for _, exception, claim in told["sums of preferences"]}),
    )
    note = f"Weights are means over seeds {', '.join(map(str, context.seeds))}; ± is the standard error over seeds."
    if context.quick:
        note = "Weights are those of 60 passes and one seed, which does not tell the sign of a small weight: a claim "
        note += "that does not hold here may hold in a full run, with 300 passes and three seeds."
    return Findings(claims=tuple(claims), figures=tuple(figures), notes=(note,), overview=(row,))


def _learned_weights(trials: Trials, trial: Trial) -> tuple[list[str], np.ndarray]:
    """The experts of the first fold, and their weights, [seeds, experts, weights]."""
    part, context, found, experts = trials.parts()[0], trials.context, [], []
    for seed in context.seeds:
        params = {**trial.params, **(QUICK["crf"] if context.quick else {}), "seed": seed}
        learned = learner("crf", **params).fit(part.train, valid=part.valid).expert_weights()
        experts = sorted((e for e in learned if e != "*"), key=_number)
        found.append([[learned[e][kind] for kind in WEIGHTS] for e in experts])
    return experts, np.array(found)


def _number(expert: str) -> tuple[int, str]:
    return int(expert) if expert.isdigit() else 10**9, expert


def weight_claims(by_expert: dict[str, np.ndarray], kind: str) -> list[tuple[str, str, Claim]]:
    """Claims about weights [seeds, 3] of each expert: in short, what is not so, and the claim."""
    mean = {e: values.mean(axis=0) for e, values in by_expert.items()}
    net = {e: values[1] + values[2] for e, values in mean.items()}
    middle = float(np.median([np.abs(v[1:]).sum() for v in mean.values()]))
    groups: tuple[tuple[tuple[str, ...], str, str, Callable[[str], bool]], ...] = (
        (USEFUL, "show relevance", "negative α, positive β (β⁺ + β⁻)", lambda e: mean[e][0] < 0 < net[e]),
        (REVERSED, "are read backwards", "negative β (β⁺ + β⁻)", lambda e: net[e] < 0),
        (
            IDLE,
            "are not used",
            "positive α, or small β",
            lambda e: mean[e][0] > 0 or np.abs(mean[e][1:]).sum() < middle,
        ),
    )
    found = []
    for experts, what, how, holds in groups:
        right = [e for e in experts if holds(e)]
        wrong = ", ".join(e for e in experts if e not in right)
        short = f"{len(right)} of {len(experts)} {what}" + (f" (not {wrong})" if wrong else "")
        weights = "; ".join(f"{e}: α {_weight(by_expert[e][:, 0])}, β {_weight(_net(by_expert[e]))}" for e in experts)
        alone = " (one seed of a quick run, which does not tell)" if wrong and len(by_expert[experts[0]]) < 2 else ""
        claim = Claim(f"Experts {', '.join(experts)} {what}: {how}; {kind}", f"{weights}{alone}", not wrong)
        found.append((short, f"experts that {what}: not {wrong}{alone}", claim))
    return found


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
    printed = chosen(trials, "sum").best(trials).params
    sums = {row["model"]: row for row in without_unused(trials.data, context.seeds, **{**params, **printed})}
    published = {"crf": TABLES["MQ2008-agg"]["crf"].values[:5], "crf*, named": WITHOUT}
    lines = tuple(
        ResultRow(
            f"{label}{what}",
            tuple(row[metric] for metric in metrics),
            published.get(label, ()),
            "CIKM 2013, Table 3" if label in published else "",
        )
        for what, found in ((", sums", sums), ("", rows))
        for label, row in found.items()
    )
    text = f"The CRF is as good without experts {', '.join(UNUSED)}"
    claims = {what: _as_good(f"{text}{what}", found) for what, found in ((", sums", sums), ("", rows))}
    note = f"{trials.description()} crf*, named: without experts {', '.join(UNUSED)}; crf*, least used: without the "
    note += "four whose lists change scores least on the training queries of a fold. Sums of preferences, as printed, "
    note += f"have rate {printed['rate']:g}, the best of those tried on the validation queries of all folds."
    found = ResultTable("Published and measured", metrics, lines, trials.noise(metrics), note=note)
    printed_lines = [line for line in lines if line.label in {f"{label}, sums" for label in published}]
    overview = OverviewRow(
        "Table 3, MQ2008-agg",
        f"nDCG@5 of CRF {published['crf'][-1]:.2f}, of CRF* without experts {', '.join(UNUSED)} {WITHOUT[-1]:.2f}",
        f"CRF with sums of preferences {_change(sums)}",
        f"CRF with means of preferences {_change(rows)}; without the four that are used least "
        f"{rows['crf*, least used']['nDCG@5']:.2f}",
        judged(
            {
                **{
                    f"{line.label}: {found.verdict(line)}": not {ABOVE, BELOW} & set(found.marks(line))
                    for line in printed_lines
                },
                "CRF* is below CRF": claims[", sums"].holds,
            }
        ),
    )
    return Findings(results=(found,), claims=tuple(claims.values()), overview=(overview,))


def _as_good(text: str, rows: dict[str, dict[str, Any]]) -> Claim:
    lead, error = (rows["crf*, named"][f"nDCG@5 {what}"] for what in ("change", "error"))
    return Claim(text, f"nDCG@5 {lead:+.2f} ± {error:.2f}", bool(lead > -2 * error))


def _change(rows: dict[str, dict[str, Any]]) -> str:
    whole, named = rows["crf"], rows["crf*, named"]
    change, error = (named[f"nDCG@5 {what}"] for what in ("change", "error"))
    return f"{whole['nDCG@5']:.2f}, CRF* {named['nDCG@5']:.2f} ({change:+.2f} ± {error:.2f})"


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
        "the items; the difference is larger for experts",
        f"dense SVD: {slower[0].measured} slower with ten times the experts, {slower[1].measured} with the items",
        f"our features: at most {ratio:.1f}× the time of CRF at every size",
        judged(
            {
                f"the {EXPERTS_SLOWER} times for experts, {slower[0].measured} here": slower[0].holds,
                "the 3.5 times for items": slower[1].holds,
                f"that the difference is larger for experts than for items ({slower[2].measured})": slower[2].holds,
            }
        ),
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
    """How many times slower dense SVD is than the CRF, on the same queries, at ten times the size.

    "Almost 80" holds within a quarter.
    """
    last = {row["expansion"]: row for row in rows if row["times"] == 10}
    ratio = {k: float(last[k]["dense / crf"]) for k in ("experts", "items")}
    text = {k: f"{value:.0f}×" for k, value in ratio.items()}
    return [
        Claim(
            f"SVDsup (dense SVD) is almost {EXPERTS_SLOWER} times slower than CRF with ten times the experts",
            text["experts"],
            abs(ratio["experts"] - EXPERTS_SLOWER) <= EXPERTS_SLOWER / 4,
        ),
        Claim(
            "SVDsup (dense SVD) is more than 3.5 times slower with ten times the items",
            text["items"],
            ratio["items"] > 3.5,
        ),
        Claim(
            "The difference is larger for experts than for items",
            f"{text['experts']} and {text['items']}",
            ratio["experts"] > ratio["items"],
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
