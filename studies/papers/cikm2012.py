"""Volkovs, Larochelle, Zemel, CIKM 2012: singular vectors of preferences as features, and the crowd."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

import juryrank as jr
from studies.learners import learner
from studies.papers import crowd
from studies.papers.evidence import validation
from studies.papers.experiment import Context, Experiment
from studies.papers.experts import combined_or_individual
from studies.papers.findings import (
    AGREES,
    EXCEPT,
    NOISE,
    NOT,
    REPRODUCED,
    Claim,
    Findings,
    OverviewRow,
    ResultRow,
    ResultTable,
)
from studies.papers.overview import absent, unstated, without_results
from studies.papers.published import CROWD, TABLES, WHY
from studies.papers.trials import METRICS, OURS, Lead, Trial, Trials, letor, result_table
from studies.pictures import Figure
from studies.tables import Table, p_text

PRINTED = crowd.PRINTED
LOG = Trial("LR-logR", "svd-lambdarank", {"form": "log-rank", **PRINTED}, "svd-lambdarank")
RANK = Trial("LR-R", "svd-lambdarank", {"form": "rank", **PRINTED})
BINARY = Trial("LR-I", "svd-lambdarank", {"form": "binary", **PRINTED})
LEARNERS = (BINARY, RANK, LOG)
OWN = Trial("LR-logR, our settings", "svd-lambdarank", {}, "svd-lambdarank")
KEPT = Trial("with singular values", "svd-lambdarank", {"singular_values": True})
UNITS, RATES = 10, (0.001, 0.003, 0.01)  # of a hidden layer
HIDDEN = tuple(
    Trial(f"and a hidden layer, step size {r:g}", "svd-lambdarank", {**KEPT.params, "hidden": UNITS, "rate": r})
    for r in RATES
)
CONSENSUS = (
    Trial.of("borda"),
    Trial("cps", "cps", {}, "cps"),
    *map(Trial.of, ("svp", "bradley-terry", "plackett-luce")),
    Trial("condorcet, unranked unknown", "condorcet", {"missing": "ignore"}, "condorcet"),
    Trial.of("rrf"),
)
LEGIBLE = "LR-logR is compared with the row of SVDsup in CIKM 2013; the other rows of CIKM 2012 are not legible here."
ROWS = (*CONSENSUS, *LEARNERS, OWN, *map(Trial.of, OURS))
GOLD = (
    "The file has 1,775 relevant and 1,500 other gold labels; the paper reports 1,275 and 1,000, 500 fewer of each. "
    "Twenty queries are tested in a split, so differences of a few points are noise."
)
READINGS = (
    "LR-consensus, LR-labelled and LR-unlabelled are as printed: workers with at least 500 judgements in the training "
    "queries have features of their own, all others together one matrix, with singular values, step size 0.01, 200 "
    "passes. Rows with “500 pairs” count ordered pairs of items and have our settings. hybrid of jury and ridge counts "
    "judgements in the queries that they learn from."
)
MOST = 5  # nDCG points above the best baseline, "by as much as"
FEWER = 500  # gold labels of each kind that the file has and the paper has not
LR_CROWD = ("LR-consensus", "LR-labelled", "LR-unlabelled")
HARD_FOR = Trial.of("borda")  # defines the hard queries, so it is not compared on them
ON_HARD = (Trial.of("rrf"), Trial.of("condorcet"), *LEARNERS, *map(Trial.of, OURS))


def table(name: str, context: Context) -> Findings:
    """Table 3 on one set of LETOR 4.0, with our methods below."""
    trials = letor(context, name)
    variants, notes, better = _variants(context, trials)
    found = result_table(trials, (*ROWS, *better), baseline=LOG.label)
    claims = _claims(trials)
    overview = [_table3_row(trials, found, claims)]
    if name == "MQ2008-agg":
        shown = "notation, an example of a matrix of preferences, a diagram and the learning procedure"
        overview.append(without_results("Table 1, Figures 1 and 2, Algorithm 1", shown))
        if context.missing(("MQ2007-agg",)):
            overview += [absent(f"{what}, MQ2007-agg", "", "MQ2007-agg") for what in ("Table 3", "Figure 3")]
    return Findings(
        results=(found,),
        claims=tuple(claims),
        tables=(variants, _unstated()),
        notes=(WHY, LEGIBLE, *notes),
        overview=tuple(overview),
    )


def _variants(context: Context, trials: Trials) -> tuple[Table, list[str], list[Trial]]:
    """Singular values and a hidden layer on validation queries; the best hidden layer if it helps there."""
    held_out, count = validation(trials), len(trials.data.experts)
    hidden = HIDDEN[1:2] if context.quick else HIDDEN
    rows = []
    for trial in (OWN, KEPT, LOG, *hidden):
        lead, means = held_out.lead(trial, OWN, "AP"), held_out.means(trial)
        values = [f"{means[METRICS.index(m)]:.2f}" for m in ("nDCG@5", "AP")]
        rows.append([trial.label, *values, *(["", "", ""] if trial is OWN else _cells(lead))])
    kept = held_out.lead(KEPT, OWN, "AP")
    best = max(hidden, key=lambda t: held_out.means(t)[METRICS.index("AP")])
    gain = held_out.lead(best, KEPT, "AP")
    notes = [
        f"{LOG.label}, LR-I and LR-R are as printed: {4 * count} weights (both singular vectors, the singular value "
        "and the weight of a missing rank of each expert), step size 0.01, 200 passes, no penalty. "
        f"{OWN.label}: {3 * count} weights without singular values, step size 0.003, 100 passes, penalty 0.003.",
        f"Singular values as features change MAP on validation queries by {kept}, so the default "
        + ("should keep them." if kept.clear else "leaves them out."),
        f"A hidden layer of {UNITS} tanh units, at the best of {len(hidden)} step sizes, changes MAP on validation "
        f"queries by {gain}, so it has " + ("a row." if gain.clear else "no row."),
    ]
    note = "One half of a fold's validation queries chooses the passes, the other is compared, and in turn."
    columns = ["learner", "nDCG@5", "AP", "AP ahead by", "s.e.", "p"]
    return Table("Variants on validation queries", columns, rows, note=note), notes, [best] if gain.clear else []


def _cells(lead: Lead) -> list[str]:
    return [f"{lead.lead:+.2f}", f"{lead.error:.2f}", p_text(lead.p)]


def _unstated() -> Table:
    rows = [
        ["initial weights", "normal, standard deviation 0.001", "ours"],
        ["scale of features", "divided by their root mean square in the training queries", "ours"],
        ["signs of singular vectors", "first vectors non-negative", "ours (finding-signs)"],
        ["penalty of weights", "none", "none is printed"],
        [
            "which passes count",
            "mean of the five best by nDCG@10 on validation queries",
            "ours; printed: the best",
        ],
        ["units of the hidden layer", f"{UNITS}", "ours"],
        ["step size with a hidden layer", ", ".join(f"{r:g}" for r in RATES), "the best on validation queries"],
    ]
    return unstated(rows)


def _table3_row(trials: Trials, found: ResultTable, claims: list[Claim]) -> OverviewRow:
    def value(trial: Trial, metric: str) -> str:
        return f"{metric.replace('AP', 'MAP')} {trials.means(trial)[METRICS.index(metric)]:.2f}"

    def error(trial: Trial) -> str:
        return f"{value(trial, 'AP')} ± {trials.spread(trial):.2f}"

    def row(trial: Trial) -> str:
        return f"{value(trial, 'nDCG@1')}, {value(trial, 'nDCG@5')}, {error(trial)}"

    shown = ("nDCG@1", "nDCG@5", "AP")
    words = "all LR rows above the best baseline by up to 5 nDCG points"
    words += ", LR-logR above LR-I and LR-R" if trials.name == "MQ2008-agg" else ", LR-logR as good as LR-I"
    if known := TABLES.get(trials.name, {}).get(LOG.published):
        at = [f"{m.replace('AP', 'MAP')} {known.values[found.columns.index(m)]:.2f}" for m in shown]
        words = f"LR-logR (SVDsup in CIKM 2013) {', '.join(at)}; {words}"
    line = next(line for line in found.rows if line.label == LOG.label)
    others = ", ".join(f"{t.label} {error(t)}" for t in (BINARY, RANK))
    near = found.verdict(line) if line.published else NOISE
    verdict = f"{NOT}: LR-logR is {near}" if near not in (AGREES, NOISE) else _verdict_of(claims)
    return OverviewRow(
        f"Table 3, {trials.name}",
        words,
        f"{4 * len(trials.data.experts)} weights: LR-logR {row(LOG)}; {others}",
        f"{3 * len(trials.data.experts)} weights, our step size: {row(OWN)}; ridge {error(Trial.of('ridge'))}",
        verdict,
    )


def _verdict_of(claims: Sequence[Claim]) -> str:
    """Whether all claims hold clearly; which do not."""
    failed = [f"“{c.text}” is {'within noise' if c.noisy else 'not confirmed'} ({c.measured})" for c in claims]
    failed = [text for text, c in zip(failed, claims, strict=True) if c.noisy or not c.holds]
    if len(failed) == len(claims):
        return f"{NOT}: {'; '.join(failed)}"
    return f"{EXCEPT} that {'; '.join(failed)}" if failed else REPRODUCED


def _claims(trials: Trials) -> list[Claim]:
    least = min(LEARNERS, key=lambda t: trials.means(t)[METRICS.index("AP")])
    over_rrf = trials.lead(least, Trial.of("rrf"), "AP")
    binary, rank = (trials.lead(LOG, other, "AP") for other in (BINARY, RANK))
    measured = f"MAP of {least.label}, the least, {over_rrf}"
    above = Claim("All LambdaRank models are above RRF", measured, over_rrf.clear)
    depths = [f"nDCG@{k}" for k in range(1, 6)]
    leads = trials.leads(LEARNERS, Trial.of("rrf"), depths)
    cells = [
        (cell, t.label, m) for t, row in zip(LEARNERS, leads, strict=True) for m, cell in zip(depths, row, strict=True)
    ]
    most, label, metric = max(cells, key=lambda cell: cell[0].lead)
    text = f"{metric} of {label} {most}"
    up_to = Claim(
        f"Up to {MOST} nDCG points above RRF, the best baseline", text, abs(most.lead - MOST) <= 2 * most.error
    )
    if trials.name != "MQ2008-agg":
        return [above, up_to, Claim("LR-logR is about as good as LR-I", f"MAP {binary}", binary.p >= 0.05)]
    return [
        above,
        up_to,
        binary.claim("LR-logR is above LR-I", "MAP"),
        rank.claim("LR-logR is above LR-R", "MAP"),
    ]


def combined(name: str, context: Context) -> Findings:
    """Figure 3: one matrix of all experts against one of each."""
    found = combined_or_individual(letor(context, name).data, context.seeds, **LOG.params)
    rows = {row["features"]: row for row in found}
    depths = [f"nDCG@{k}" for k in range(1, 6)]
    series = {label: [row[metric] for metric in depths] for label, row in rows.items()}
    lowest = 0.9 * min(min(values) for values in series.values())
    panels = [{"names": depths, "series": series, "ylabel": "× 100", "lowest": lowest, "title": name}]
    title = "Figure 3: combined and individual features"
    (ahead, error), (away, noise) = ((rows[of]["AP change"], rows[of]["AP error"]) for of in ("individual", "rrf"))
    claims = (
        Claim("Individual features are above combined ones", f"MAP {ahead:+.2f} ± {error:.2f}", ahead > 2 * error),
        Claim("Combined features are about as good as RRF", f"RRF MAP {away:+.2f} ± {noise:.2f}", abs(away) < 1),
    )
    measured = "; ".join(f"{label}: nDCG@5 {row['nDCG@5']:.2f}, MAP {row['AP']:.2f}" for label, row in rows.items())
    changes = f"individual MAP {ahead:+.2f} ± {error:.2f} over combined, RRF {away:+.2f} ± {noise:.2f}"
    printed = "bars without numbers: individual features clearly above combined ones, which are about as good as RRF"
    return Findings(
        claims=claims,
        figures=(Figure(f"cikm2012-figure3-{name}", title, "bars", {"panels": panels}),),
        overview=(OverviewRow(f"Figure 3, {name}", printed, f"{measured}; {changes}", "", _verdict_of(claims)),),
    )


def difficult(name: str, context: Context) -> Findings:
    """Figure 4 and more: queries on which consensus fails."""
    trials, at = letor(context, name), METRICS.index("nDCG@5")
    failed = (trials.values(HARD_FOR)[at] == 0) & (trials.values(Trial.of("rrf"))[METRICS.index("AP")] > 0)
    if failed.sum() < 2:
        return Findings(figures=(_example(trials, name),), notes=("Borda finds a relevant item in every query.",))
    rows = []
    for trial in ON_HARD:
        values = 100 * trials.values(trial)[:, failed]
        rows.append([trial.label, *(f"{values[METRICS.index(m)].mean():.2f}" for m in ("nDCG@1", "nDCG@5", "AP"))])
    gain = 100 * (trials.values(LOG) - trials.values(Trial.of("rrf")))[at, failed]
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    claim = Claim(
        "On hard queries LR-logR is above consensus",
        f"nDCG@5 over RRF {gain.mean():+.2f} ± {error:.2f}",
        bool(gain.mean() > 2 * error),
    )
    picture = _example(trials, name)
    other = f"{EXCEPT} that the query is another one, because the paper does not name its own"
    overview = OverviewRow(
        f"Figure 4, {name}",
        "one query: RRF has nDCG@1 … @4 of 0, LR-logR ranks the only relevant item first; difficult queries: better",
        f"{picture.title.removeprefix('Figure 4: ')}; {failed.sum()} difficult queries: {claim.measured}",
        "",
        other if claim.holds else _verdict_of([claim]),
    )
    note = f"The {failed.sum()} queries with a relevant item for which Borda ranks none of them among the first five."
    return Findings(
        claims=(claim,),
        tables=(Table("Hard queries", ["method", "nDCG@1", "nDCG@5", "AP"], rows, note=note),),
        figures=(picture,),
        overview=(overview,) if name == "MQ2008-agg" else (),
    )


def _example(trials: Trials, name: str) -> Figure:
    """The query of at most 15 items with the largest gain of LR-logR over RRF."""
    at = METRICS.index("nDCG@5")
    gain = trials.values(LOG)[at] - trials.values(Trial.of("rrf"))[at]
    tested = np.concatenate([split.test for split in trials.splits])
    gain = np.where(trials.data.rankings.query_size[tested] <= 15, gain, -1.0)
    place = int(np.argmax(gain))
    fold = int(np.searchsorted(np.cumsum([len(split.test) for split in trials.splits]), place, side="right"))
    part, query = trials.parts()[fold], trials.data.queries[tested[place]]
    model = learner(LOG.name, **LOG.params).fit(part.train, valid=part.valid)
    matrix = jr.explain(model, part.test[query], query, top=15).to_dict()["matrix"]
    items = [f"{item} [{label:g}]" for item, label in zip(matrix["items"], matrix["labels"], strict=True)]
    scores = zip(matrix["scores"], matrix["rrf_places"], strict=True)
    return Figure(
        f"cikm2012-figure4-{name}",
        f"Figure 4: ranks of query {query}, in the order of LR-logR; nDCG@5 {gain[place]:+.2f} over RRF",
        "matrix",
        {
            "ranks": matrix["ranks"],
            "experts": matrix["experts"],
            "items": items,
            "scores": [f"{score:.2f}   {rrf:.0f}" for score, rrf in scores],
            "scored_by": "score by LR-logR, rank by RRF",
        },
    )


def crowds(context: Context) -> Findings:
    """Table 2: judgements of a crowd."""
    data = crowd.read_crowd(context.data / crowd.FILE)
    found = crowd.study(data, crowd.TRIALS, 2 if context.quick else 5, context.seeds)
    lines = []
    for name in found.by_seed:
        leads = [] if name == crowd.BASELINE else [found.lead(name, crowd.BASELINE)]
        lines.append(
            ResultRow(
                name,
                tuple(found.means(name).tolist()),
                lead=tuple(each.lead for each in leads),
                error=tuple(each.error for each in leads),
                p=tuple(each.p for each in leads),
                spread=found.spread(name),
            )
        )
    note = f"{len(found.tested)} random splits of 100 queries, 60 for training, 20 for validation, 20 for testing. "
    note += "Means are over splits and seeds; in differences, a query in several test sets counts once. ± folds and "
    note += "seeds is the standard error of nDCG@10 over splits and seeds."
    shown = ResultTable("Measured", tuple(crowd.METRICS), tuple(lines), (), ("nDCG@10",), crowd.BASELINE, note)
    claims, facts = _crowd_claims(found), _crowd_facts(data)
    fewer, helped = _fewer_labels(context, len(found.tested))
    return Findings(
        results=(shown,),
        claims=(*facts, *claims),
        tables=(_workers(data, found), fewer, _crowd_unstated()),
        notes=(GOLD, READINGS),
        overview=(_table2_row(data, found, claims, helped),),
    )


def _workers(data: jr.Dataset, found: crowd.Study) -> Table:
    """How many workers have features of their own."""
    orders = crowd.orders_of(len(data), len(found.tested))
    rows = [
        [f"{crowd.ENOUGH} {of}", *(str(len(crowd.frequent(data, order, of))) for order in orders)]
        for of in ("judgements", "pairs")
    ]
    columns = ["workers with at least", *(f"split {n}" for n in range(1, len(orders) + 1))]
    note = "In the training queries; the paper has around 20 for 500 preferences."
    return Table("Workers with features of their own", columns, rows, note=note)


def _fewer_labels(context: Context, n_splits: int) -> tuple[Table, bool]:
    """The models of the paper with as many gold labels as it had, and whether one is then above majority vote."""
    trials, rows, leads = {name: crowd.TRIALS[name] for name in (crowd.BASELINE, *LR_CROWD)}, [], []
    for draw in range(1 if context.quick else 3):
        data = crowd.read_crowd(context.data / crowd.FILE, FEWER, draw)
        found = crowd.study(data, trials, n_splits)
        leads += (of_draw := [found.lead(name, crowd.BASELINE) for name in LR_CROWD])
        rows.append([f"draw {draw + 1}", f"{found.means(crowd.BASELINE)[9]:.2f}", *map(str, of_draw)])
    columns = ["gold labels", f"{crowd.BASELINE}, nDCG@10", *(f"{name} ahead by" for name in LR_CROWD)]
    note = f"{FEWER} relevant and {FEWER} other gold labels are left out at random: as many are left as the paper has."
    title = "With as many gold labels as the paper"
    return Table(title, columns, rows, note=note), any(lead.clear for lead in leads)


def _crowd_unstated() -> Table:
    rows = [
        ["splits of the queries", "permutations, seeds 0 to 4", "ours"],
        ["items judged twice by a worker", "relevant if one judgement says so", "ours"],
        ["what counts as a preference of a worker", "a judgement", "it gives around 20 workers, as printed"],
        ["initial weights, scale of features, passes", "as for Table 3", "ours"],
    ]
    return unstated(rows)


def _table2_row(data: jr.Dataset, found: crowd.Study, claims: Sequence[Claim], helped: bool) -> OverviewRow:
    def value(name: str) -> str:
        return f"{name} {found.means(name)[9]:.2f} ± {found.spread(name):.2f}"

    def against(name: str) -> str:
        lead = found.lead(name, crowd.BASELINE)
        return f"{name} {found.means(name)[9]:.2f} ({lead})"

    held = [claim for claim in claims if claim.holds and not claim.noisy]
    count = f"{len(held)} of {len(claims)} differences are significant"
    assert data.labels is not None
    gold = f"the file has {len(data.labels.label_value):,} gold labels, the paper {CROWD['gold labels']:,}"
    gold += "" if helped else "; with as many left at random no LR model is above majority vote either"
    return OverviewRow(
        "Table 2, crowd",
        "numbers not legible here; LR models above majority vote, LR-unlabelled above LR-labelled, "
        "both above LR-consensus",
        "nDCG@10: " + ", ".join(map(value, (crowd.BASELINE, *LR_CROWD))),
        "500 ordered pairs: "
        + ", ".join(value(f"{name}, 500 pairs") for name in LR_CROWD[1:])
        + "; against majority vote: "
        + ", ".join(map(against, ("jury hybrid", "jury hybrid, 500 pairs", "ridge hybrid"))),
        f"{EXCEPT} that {gold}" if len(held) == len(claims) else f"{NOT}: {count}; {gold}",
    )


def _crowd_facts(data: jr.Dataset) -> list[Claim]:
    r = data.rankings
    by_worker = np.bincount(np.repeat(r.list_expert, r.list_size), minlength=len(r.experts))
    assert data.labels is not None
    ours = {
        "workers": len(r.experts),
        "workers below 40 judgements": int((by_worker < 40).sum()),
        "items": r.n_slots,
        "gold labels": len(data.labels.label_value),
    }
    return [Claim(f"{CROWD[name]:,} {name}", f"{value:,}", value == CROWD[name]) for name, value in ours.items()]


def _crowd_claims(found: crowd.Study) -> list[Claim]:
    pairs = (
        *((name, crowd.BASELINE) for name in LR_CROWD),
        *((name, "LR-consensus") for name in LR_CROWD[1:]),
        ("LR-unlabelled", "LR-labelled"),
    )
    return [found.lead(one, other).claim(f"{one} is above {other}", "nDCG@10") for one, other in pairs]


def experiments(sets: tuple[str, ...]) -> tuple[Experiment, ...]:
    """The table, features and hard queries on each set, and the crowd."""
    kinds = (
        ("table3", "Table 3", table),
        ("figure3", "Figure 3: combined and individual features", combined),
        ("figure4", "Figure 4: difficult queries", difficult),
    )
    return (
        *(
            Experiment(f"cikm2012-{kind}-{s}", "cikm2012", f"{title}, {s}", (s,), partial(run, s))
            for kind, title, run in kinds
            for s in sets
        ),
        Experiment("cikm2012-crowd", "cikm2012", "Table 2: crowdsourcing", ("trec2011-crowd",), crowds),
    )
