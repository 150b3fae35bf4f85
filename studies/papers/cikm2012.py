"""Volkovs, Larochelle, Zemel, CIKM 2012: singular vectors of preferences as features, and the crowd."""

from __future__ import annotations

from functools import partial

import numpy as np

import juryrank as jr
from studies.learners import learner
from studies.papers import crowd
from studies.papers.experiment import Context, Experiment
from studies.papers.experts import combined_or_individual
from studies.papers.findings import Claim, Findings, ResultRow, ResultTable
from studies.papers.published import CROWD, WHY
from studies.papers.trials import METRICS, OURS, Trial, Trials, letor, result_table
from studies.pictures import Figure
from studies.tables import Table

LOG = Trial("LR-logR", "svd-lambdarank", {"form": "log-rank"}, "svd-lambdarank")
RANK = Trial("LR-R", "svd-lambdarank", {"form": "rank"})
BINARY = Trial("LR-I", "svd-lambdarank", {"form": "binary"})
LEARNERS = (BINARY, RANK, LOG)
CONSENSUS = (
    Trial.of("borda"),
    Trial("cps", "cps", {}, "cps"),
    *map(Trial.of, ("svp", "bradley-terry", "plackett-luce")),
    Trial("condorcet, unranked unknown", "condorcet", {"missing": "ignore"}, "condorcet"),
    Trial.of("rrf"),
)
LEGIBLE = "LR-logR is compared with the row of SVDsup in CIKM 2013; the other rows of CIKM 2012 are not legible here."
ROWS = (*CONSENSUS, *LEARNERS, *map(Trial.of, OURS))
GOLD = (
    "The file has 1,775 relevant and 1,500 other gold labels; the paper reports 1,275 and 1,000, 500 fewer of each. "
    "Twenty queries are tested in a split, so differences of a few points are noise."
)
HARD_FOR = Trial.of("borda")  # defines the hard queries, so it is not compared on them
ON_HARD = (Trial.of("rrf"), Trial.of("condorcet"), *LEARNERS, *map(Trial.of, OURS))


def table(name: str, context: Context) -> Findings:
    """Table 3 on one set of LETOR 4.0, with our methods below."""
    trials = letor(context, name)
    found = result_table(trials, ROWS, baseline=LOG.label)
    return Findings(results=(found,), claims=tuple(_claims(trials)), notes=(WHY, LEGIBLE))


def _claims(trials: Trials) -> list[Claim]:
    least = min(LEARNERS, key=lambda t: trials.means(t)[METRICS.index("AP")])
    over_rrf = trials.lead(least, Trial.of("rrf"), "AP")
    binary, rank = (trials.lead(LOG, other, "AP") for other in (BINARY, RANK))
    return [
        Claim("All LambdaRank models are above RRF", f"MAP of {least.label}, the least, {over_rrf}", over_rrf.clear),
        binary.claim("LR-logR is above LR-I", "MAP"),
        rank.claim("LR-logR is above LR-R", "MAP"),
    ]


def combined(name: str, context: Context) -> Findings:
    """Figure 3: one matrix of all experts against one of each."""
    rows = {row["features"]: row for row in combined_or_individual(letor(context, name).data, context.seeds)}
    depths = [f"nDCG@{k}" for k in range(1, 6)]
    series = {label: [row[metric] for metric in depths] for label, row in rows.items()}
    lowest = 0.9 * min(min(values) for values in series.values())
    panels = [{"names": depths, "series": series, "ylabel": "× 100", "lowest": lowest, "title": name}]
    title = "Figure 3: combined and individual features"
    (ahead, error), (away, noise) = ((rows[of]["AP change"], rows[of]["AP error"]) for of in ("individual", "rrf"))
    return Findings(
        claims=(
            Claim("Individual features are above combined ones", f"MAP {ahead:+.2f} ± {error:.2f}", ahead > 2 * error),
            Claim("Combined features are about as good as RRF", f"RRF MAP {away:+.2f} ± {noise:.2f}", abs(away) < 1),
        ),
        figures=(Figure(f"cikm2012-figure3-{name}", title, "bars", {"panels": panels}),),
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
    note = f"The {failed.sum()} queries with a relevant item for which Borda ranks none of them among the first five."
    return Findings(
        claims=(
            Claim(
                "On hard queries LR-logR is above consensus",
                f"nDCG@5 over RRF {gain.mean():+.2f} ± {error:.2f}",
                bool(gain.mean() > 2 * error),
            ),
        ),
        tables=(Table("Hard queries", ["method", "nDCG@1", "nDCG@5", "AP"], rows, note=note),),
        figures=(_example(trials, name),),
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
    found = crowd.study(data, crowd.TRIALS, 2 if context.quick else 5)
    lines = []
    for name in found.values:
        leads = [] if name == crowd.BASELINE else [found.lead(name, crowd.BASELINE)]
        lines.append(
            ResultRow(
                name,
                tuple(found.means(name).tolist()),
                lead=tuple(each.lead for each in leads),
                error=tuple(each.error for each in leads),
                p=tuple(each.p for each in leads),
            )
        )
    note = f"{len(found.tested)} random splits of 100 queries, 60 for training, 20 for validation, 20 for testing. "
    note += "Means are over splits; in differences, a query in several test sets counts once."
    shown = ResultTable("Measured", tuple(crowd.METRICS), tuple(lines), (), ("nDCG@10",), crowd.BASELINE, note)
    return Findings(results=(shown,), claims=(*_crowd_facts(data), *_crowd_claims(found)), notes=(GOLD,))


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
        ("LR-consensus", "majority-vote"),
        ("LR-unlabelled", "majority-vote"),
        ("LR-unlabelled", "LR-consensus"),
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
