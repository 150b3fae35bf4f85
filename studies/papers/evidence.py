"""What we found on the way: a table that reads ranks upside down, conventions, scales and signs, each with numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import juryrank
from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.methods.learned.svd_lambdarank import SVDLambdaRank
from juryrank.report import Table
from juryrank.training.panel import Panel
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Beside, Claim, Findings, Line
from studies.papers.published import LETOR_METRICS, TABLES
from studies.papers.runtime import log_preferences
from studies.papers.trials import METRICS, Trial, Trials, letor

SET = "MQ2008-agg"
PUBLISHED = TABLES[SET]
MEAN_PRECISION = METRICS.index("AP")


def upside_down(rankings: Rankings) -> Rankings:
    """Every list from its last item to its first."""
    r = rankings
    owner = np.repeat(np.arange(r.n_lists), r.list_size)
    last = np.zeros(r.n_lists)
    np.maximum.at(last, owner, r.entry_rank)
    rank = last[owner] + 1 - r.entry_rank
    order = np.lexsort((rank, owner))
    return replace(r, entry_slot=r.entry_slot[order], entry_rank=rank[order], entry_score=None)


def upside_down_rows(context: Context) -> Findings:
    """Borda and CPS with ranks read right and upside down, beside what is published."""
    right = letor(context, SET)
    data = replace(right.data, rankings=upside_down(right.data.rankings))
    turned = Trials(context, SET, data, variant="upside down")
    borda = Trial("borda", "borda", {"missing": "mean"}, "borda")
    spread = {d: Trial(f"cps, {d}", "cps", {"distance": d, "missing": "last"}, "cps") for d in ("kendall", "spearman")}
    lines = []
    for trial in (borda, *spread.values()):
        known = PUBLISHED[trial.beside]
        for trials, how in ((turned, "upside down"), (right, "as they are")):
            found = tuple(trials.means(trial)[: len(LETOR_METRICS)].tolist())
            lines.append(Line(f"{trial.label}, ranks {how}", found, known.values, known.source))
    noise = right.noise(LETOR_METRICS)
    table = Beside("Published and measured", LETOR_METRICS, tuple(lines), noise, note=right.told())
    exact = table.verdict(lines[0]) == "agrees"
    near = max(abs(d) for d in lines[4].differences() if d is not None)
    far = min(abs(d) for d in lines[5].differences() if d is not None)
    below, above = (float(trials.means(borda)[MEAN_PRECISION]) for trials in (turned, right))
    told = f"MAP {below:.2f} upside down, {above:.2f} the right way up"
    text = "The BordaCount row of the LETOR site is Borda with ranks read upside down"
    more = "The published CPS row looks like CPS (Spearman, all experts alike) with ranks read upside down"
    apart = f"at most {near:.2f} off upside down, at least {far:.2f} off the right way up"
    return Findings(
        beside=(table,),
        claims=(
            Claim(text, told, exact),
            Claim(more, apart, 2 * near < far),
        ),
    )


def conventions(context: Context) -> Findings:
    """The published RRF row under other definitions of the metrics."""
    data, theirs = letor(context, SET).data, PUBLISHED["rrf"].values
    gains = [f"nDCG(dcg='exp-log2')@{k}" for k in range(1, 6)]
    strict = [*(f"P(rel=2)@{k}" for k in range(1, 6)), "AP(rel=2)"]
    usual = juryrank.compare(["rrf"], data, list(LETOR_METRICS), convention="letor").means[0]
    other = np.concatenate(
        [
            juryrank.compare(["rrf"], data, gains, convention="trec").means[0],
            juryrank.compare(["rrf"], data, strict, convention="letor").means[0],
        ]
    )
    columns = ["", *LETOR_METRICS]
    rows = [
        ["published", *(f"{v:.2f}" for v in theirs)],
        ["places 1 and 2 not discounted; relevant from label 1", *(f"{100 * v:.2f}" for v in usual)],
        ["discount log2(place + 1); relevant from label 2", *(f"{100 * v:.2f}" for v in other)],
    ]
    off = [float(np.abs(100 * found - np.array(theirs, float)).max()) for found in (usual, other)]
    text = "The tables discount by 1, 1, 1/log2(3), … and count label 1 as relevant, whatever the papers say of labels"
    told = f"at most {off[0]:.3f} off; the other way {off[1]:.2f}"
    return Findings(
        claims=(Claim(text, told, off[0] <= 0.02 < off[1]),),
        tables=(Table("RRF under two conventions", columns, rows),),
    )


def normalisation(context: Context) -> Findings:
    """The field with sums of preferences, as printed, and with means."""
    trials = letor(context, SET)
    mean, total = Trial.of("crf"), Trial("crf, sums", "crf", {"potentials": "sum"})
    lead = trials.lead(mean, total, "AP")
    theirs = PUBLISHED["crf"]
    lines = tuple(
        Line(label, tuple(trials.means(trial)[: len(LETOR_METRICS)].tolist()), theirs.values, theirs.source)
        for label, trial in (("crf, means of preferences", mean), ("crf, sums of preferences", total))
    )
    table = Beside("Published and measured", LETOR_METRICS, lines, trials.noise(LETOR_METRICS), note=trials.told())
    text = "Preferences divided by the number of other items bring the field to its published level"
    return Findings(beside=(table,), claims=(lead.claim(text, "MAP of means over sums"),))


@dataclass(kw_only=True)
class RandomSigns(SVDLambdaRank):
    """SVDsup with the sign of each list's singular vectors drawn: a factorisation leaves it open."""

    def _values(self, rankings: Rankings, panel: Panel) -> Floats:
        drawn = np.random.default_rng(0).choice([-1.0, 1.0], rankings.n_lists)
        return _signed(super()._values(rankings, panel), rankings, drawn)


@dataclass(kw_only=True)
class LibrarySigns(SVDLambdaRank):
    """SVDsup with the signs that numpy's dense factorisation happens to give."""

    def _values(self, rankings: Rankings, panel: Panel) -> Floats:
        lists = np.split(rankings.entry_rank, rankings.entry_ptr[1:-1])
        signs = np.array([_sign(rank) for rank in lists])
        return _signed(super()._values(rankings, panel), rankings, signs)


def _sign(rank: Floats) -> float:
    return 1.0 if np.linalg.svd(log_preferences(rank))[0][:, 0].sum() >= 0 else -1.0


def _signed(values: Floats, rankings: Rankings, signs: Floats) -> Floats:
    out = values.copy()
    out[:, 1:] *= np.repeat(signs, rankings.list_size)[:, None]
    return out


def signs(context: Context) -> Findings:
    """SVDsup with three ways to choose the signs of singular vectors."""
    trials = letor(context, SET)
    usual = Trial.of("svd-lambdarank")
    others: list[SVDLambdaRank] = [RandomSigns()] if context.quick else [LibrarySigns(), RandomSigns()]
    told = {RandomSigns: "drawn", LibrarySigns: "as the library gives them"}
    found = {"non-negative": trials.means(usual)}
    found |= {told[type(model)]: trials.means_of(trials.measured(model)) for model in others}
    shown = ("nDCG@1", "nDCG@5", "AP")
    rows = [[label, *(f"{means[METRICS.index(m)]:.2f}" for m in shown)] for label, means in found.items()]
    lost = float(found["non-negative"][MEAN_PRECISION] - found["drawn"][MEAN_PRECISION])
    return Findings(
        claims=(
            Claim(
                "Signs of singular vectors must be settled: non-negative", f"drawn signs lose {lost:.2f} MAP", lost > 1
            ),
        ),
        tables=(Table("Signs of singular vectors", ["signs", *shown], rows, note=trials.told()),),
    )


def weights(context: Context) -> Findings:
    """How few numbers are enough: closed forms beside both learners of the papers."""
    trials = letor(context, SET)
    train, valid, *_ = trials.parts()[0]
    rows = []
    for name in ("ridge", "jury", "svd-lambdarank", "crf"):
        learned = juryrank.method(name).fit(train, valid=valid).expert_weights()
        count = sum(len(of) for expert, of in learned.items() if expert != "*")
        means = trials.means(Trial.of(name))
        rows.append([name, str(count), *(f"{means[METRICS.index(m)]:.2f}" for m in ("nDCG@5", "AP"))])
    claims = []
    for other in ("svd-lambdarank", "crf"):
        lead = trials.lead(Trial.of("ridge"), Trial.of(other), "AP")
        text = f"Two numbers per expert in closed form are as good as {other}"
        claims.append(Claim(text, f"MAP {lead}", lead.lead > 0 or lead.p >= 0.05))
    return Findings(
        claims=tuple(claims), tables=(Table("Numbers learned", ["method", "weights", "nDCG@5", "AP"], rows),)
    )


EXPERIMENTS = tuple(
    Experiment(f"finding-{name}", "ours", title, (SET,), run)
    for name, title, run in (
        ("upside-down", "A published row reads the ranks upside down", upside_down_rows),
        ("conventions", "The conventions that reproduce the tables", conventions),
        ("normalisation", "The scale that brings the field to its published level", normalisation),
        ("signs", "The signs of singular vectors", signs),
        ("weights", "How little is needed", weights),
    )
)
