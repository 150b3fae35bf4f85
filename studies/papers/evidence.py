"""Findings during the reproduction: a table that reads ranks upside down, conventions, scales and signs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

import juryrank as jr
from studies.arrays import Floats, entry_list
from studies.learners import learner
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import BELOW, Claim, Findings, ResultRow, ResultTable
from studies.papers.folds import Split
from studies.papers.published import LETOR_METRICS, TABLES
from studies.papers.singular_vectors import columns, first_vectors, non_negative, random_signs, ranking
from studies.papers.trials import METRICS, SPREAD, TESTED, Lead, Trial, Trials, letor
from studies.tables import Table

SET = "MQ2008-agg"
PUBLISHED = TABLES[SET]
MEAN_PRECISION = METRICS.index("AP")
RATES = {  # step sizes of the CRF to choose from, by potentials
    "mean": (1e2, 3e2, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6),
    "sum": (2.0, 6.0, 20.0, 60.0, 200.0, 600.0, 2e3, 6e3, 2e4),
}
LABELS = {"sum": "crf as printed (sums)", "mean": "crf, means (ours)"}
CHOICE = (
    "On each fold, the rate with the highest MAP on its validation queries; one half of them chooses the passes, "
    "the other is compared, and in turn. Test queries choose nothing."
)
LARGER = 200.0  # a rate of sums, a hundred times the default


def upside_down(rankings: jr.Rankings) -> jr.Rankings:
    """Every list from its last item to its first."""
    r = rankings
    owner = entry_list(r)
    last = np.zeros(r.n_lists)
    np.maximum.at(last, owner, r.entry_rank)
    rank = last[owner] + 1 - r.entry_rank
    order = np.lexsort((rank, owner))
    return replace(r, entry_slot=r.entry_slot[order], entry_rank=rank[order], entry_score=None)


def upside_down_rows(context: Context) -> Findings:
    """Borda and CPS with ranks as they are and upside down, beside the published rows."""
    right = letor(context, SET)
    data = replace(right.data, rankings=upside_down(right.data.rankings))
    turned = Trials(context, SET, data, variant="upside down")
    borda = Trial("borda", "borda", {"missing": "mean"}, "borda")
    spread = {d: Trial(f"cps, {d}", "cps", {"distance": d, "missing": "last"}, "cps") for d in ("kendall", "spearman")}
    lines = []
    for trial in (borda, *spread.values()):
        known = PUBLISHED[trial.published]
        for trials, how in ((turned, "upside down"), (right, "as they are")):
            found = tuple(trials.means(trial)[: len(LETOR_METRICS)].tolist())
            lines.append(ResultRow(f"{trial.label}, ranks {how}", found, known.values, known.source))
    noise = right.noise(LETOR_METRICS)
    table = ResultTable("Published and measured", LETOR_METRICS, tuple(lines), noise, note=right.description())
    exact = table.verdict(lines[0]) == "agrees"
    near = max(abs(d) for d in lines[4].differences() if d is not None)
    far = min(abs(d) for d in lines[5].differences() if d is not None)
    below, above = (float(trials.means(borda)[MEAN_PRECISION]) for trials in (turned, right))
    measured = f"MAP {below:.2f} upside down, {above:.2f} the right way up"
    text = "The BordaCount row of the LETOR site is Borda with ranks read upside down"
    more = "The published CPS row looks like CPS (Spearman, all experts alike) with ranks read upside down"
    apart = f"at most {near:.2f} off upside down, at least {far:.2f} off the right way up"
    return Findings(
        results=(table,),
        claims=(
            Claim(text, measured, exact),
            Claim(more, apart, 2 * near < far),
        ),
    )


def conventions(context: Context) -> Findings:
    """The published RRF row under other definitions of the metrics."""
    data, theirs = letor(context, SET).data, PUBLISHED["rrf"].values
    gains = [f"nDCG(dcg='exp-log2')@{k}" for k in range(1, 6)]
    strict = [*(f"P(rel=2)@{k}" for k in range(1, 6)), "AP(rel=2)"]
    usual = jr.compare(["rrf"], data, list(LETOR_METRICS), convention="letor").means[0]
    other = np.concatenate(
        [
            jr.compare(["rrf"], data, gains, convention="trec").means[0],
            jr.compare(["rrf"], data, strict, convention="letor").means[0],
        ]
    )
    headers = ["", *LETOR_METRICS]
    rows = [
        ["published", *(f"{v:.2f}" for v in theirs)],
        ["places 1 and 2 not discounted; relevant from label 1", *(f"{100 * v:.2f}" for v in usual)],
        ["discount log2(place + 1); relevant from label 2", *(f"{100 * v:.2f}" for v in other)],
    ]
    off = [float(np.abs(100 * found - np.array(theirs, float)).max()) for found in (usual, other)]
    text = "The tables discount by 1, 1, 1/log2(3), … and count label 1 as relevant, contrary to the papers"
    measured = f"at most {off[0]:.3f} off; the other way {off[1]:.2f}"
    return Findings(
        claims=(Claim(text, measured, off[0] <= 0.02 < off[1]),),
        tables=(Table("RRF under two conventions", headers, rows),),
    )


def normalisation(context: Context) -> Findings:
    """The CRF with sums of preferences, as printed, and with means, each with a rate chosen on validation queries."""
    trials = letor(context, SET)
    held_out, theirs = validation(trials), PUBLISHED["crf"]
    lines, rows, found = [], [], {kind: chosen(trials, kind) for kind in RATES}
    for kind, one in found.items():
        lines.append(one.result(trials))
        if kind == "sum":
            larger = next(trial for trial in one.rows if trial.params["rate"] == LARGER)
            values = tuple(trials.means(larger)[: len(LETOR_METRICS)].tolist())
            spread = trials.spread(larger)
            lines.append(ResultRow(f"crf, sums, rate {LARGER:g}", values, theirs.values, theirs.source, spread=spread))
        for trial in one.rows:
            pairs = [(held_out.means(trial)[m], trials.means(trial)[m]) for m in map(METRICS.index, TESTED)]
            folds = " ".join(str(f + 1) for f, t in enumerate(one.by_fold) if t is trial)
            rows.append([f"{kind}s, {trial.params['rate']:g}", *(f"{v:.2f}" for pair in pairs for v in pair), folds])
    note = f"{trials.description()} {SPREAD}"
    table = ResultTable("Published and measured", LETOR_METRICS, tuple(lines), trials.noise(LETOR_METRICS), note=note)
    sums = next(line for line in lines if line.label == LABELS["sum"])
    lead = trials.lead_of(found["mean"].values, found["sum"].values, "AP")
    columns = ["potentials, rate", *(f"{m}, {of}" for m in TESTED for of in ("validation", "test")), "chosen on folds"]
    return Findings(
        results=(table,),
        claims=(
            Claim(
                "Sums of preferences, as printed, reach the published level in MAP",
                f"MAP {sums.measured[-1]:.2f}, published {theirs.values[-1]:.2f}",
                table.marks(sums)[-1] != BELOW,
            ),
            lead.claim("Means of preferences are above sums", "MAP"),
            *_rates_of_sums(trials, held_out, found["sum"]),
        ),
        tables=(Table("Rates of the CRF", columns, rows, note=CHOICE),),
    )


def _rates_of_sums(trials: Trials, held_out: Trials, sums: Chosen) -> list[Claim]:
    """Sums with the default rate and with a hundred times as much, and means; rates of sums on validation queries."""
    known = {float(trial.params["rate"]): trial for trial in sums.rows}
    least, larger = known[RATES["sum"][0]], known[LARGER]
    best = sums.best(trials)
    mean = Trial("crf, mean, 10000", "crf", {"potentials": "mean", "rate": 1e4})
    found = [
        trials.lead(mean, trial, "AP").claim(f"Means with rate 10,000 are above sums with rate {rate:g}", "MAP")
        for rate, trial in ((least.params["rate"], least), (LARGER, larger))
    ]
    for trial, more in ((larger, ""), (best, ", the highest,")):
        text = f"On validation queries, sums with rate {trial.params['rate']:g}{more} are above those with rate "
        lead = held_out.lead(trial, least, "AP")
        found.append(lead.claim(f"{text}{least.params['rate']:g}", "MAP"))
    return found


@dataclass(frozen=True, eq=False)
class Chosen:
    """The CRF with one kind of potentials and a rate for each fold."""

    kind: str
    rows: Sequence[Trial]  # one for each rate
    by_fold: Sequence[Trial]  # the chosen one of each fold
    values: Floats  # [n_metrics, n_queries], the mean over seeds
    spread: float  # standard error of AP over folds and seeds

    def result(self, trials: Trials, *leads: Lead) -> ResultRow:
        """The row of a table, tested against another row or not."""
        known = TABLES.get(trials.name, {}).get("crf")
        return ResultRow(
            LABELS[self.kind],
            tuple(trials.means_of(self.values)[: len(LETOR_METRICS)].tolist()),
            published=known.values if known else (),
            source=known.source if known else "",
            lead=tuple(each.lead for each in leads),
            error=tuple(each.error for each in leads),
            p=tuple(each.p for each in leads),
            spread=self.spread,
        )

    def best(self, trials: Trials) -> Trial:
        """The one with the highest MAP on the validation queries of all folds."""
        held_out = validation(trials)
        return max(self.rows, key=lambda trial: float(held_out.means(trial)[MEAN_PRECISION]))

    def rates(self) -> str:
        """The chosen rates, fold by fold."""
        return ", ".join(f"{trial.params['rate']:,.0f}" for trial in self.by_fold)


def chosen(trials: Trials, kind: str) -> Chosen:
    """The CRF with ``sum`` or ``mean`` of preferences; found once for all experiments."""
    return trials.context.once(f"crf, {kind}, on {trials.name}", lambda: _choose(trials, kind))  # type: ignore[no-any-return]


def _choose(trials: Trials, kind: str) -> Chosen:
    rates = RATES[kind][:: 4 if trials.context.quick else 1]
    rows = [Trial(f"crf, {kind}, {r:g}", "crf", {"potentials": kind, "rate": r}) for r in rates]
    best = chosen_by_fold(validation(trials), rows)
    trials.prepare(rows)
    by_seed = [
        np.concatenate([trials.by_fold(trials.of_seed(t, seed))[f] for f, t in enumerate(best)], axis=1)
        for seed in trials.context.seeds
    ]
    return Chosen(kind, rows, best, np.mean(by_seed, axis=0), trials.spread_of(by_seed))


def validation(trials: Trials) -> Trials:
    """The trials on validation queries: one half of a fold's chooses the passes, the other is compared; in turn."""
    halves = [Split(f.train, f.valid[h::2], f.valid[1 - h :: 2]) for f in trials.splits for h in (0, 1)]
    return Trials(trials.context, trials.name, trials.data, halves, variant="halves of the validation queries")


def chosen_by_fold(held_out: Trials, rows: Sequence[Trial]) -> list[Trial]:
    """The row with the highest MAP on the validation queries of each fold; the first of equal ones."""
    held_out.prepare(rows)
    values = [np.array([part[MEAN_PRECISION].mean() for part in held_out.by_fold(held_out.values(t))]) for t in rows]
    by_fold = np.array(values).reshape(len(rows), -1, 2).mean(axis=2)
    return [rows[n] for n in by_fold.argmax(axis=0)]


def signs(context: Context) -> Findings:
    """A linear ranker on singular vectors, with three ways to choose their signs."""
    trials = letor(context, SET)
    data, rankings = trials.data, trials.data.rankings
    vectors = first_vectors(rankings)
    variants = {
        "non-negative": non_negative(vectors, rankings),
        "as numpy returns them": vectors,
        "random for each list": random_signs(vectors, rankings),
    }
    shown, rows, mean = ("nDCG@1", "nDCG@5", "AP"), [], {}
    for label, signed in variants.items():
        x = columns(signed, rankings)
        folds = [
            jr.evaluate(ranking(x, data, split), data.take(split.test), shown, convention="letor")
            .values[0]
            .mean(axis=1)
            for split in trials.splits
        ]
        means = 100 * np.mean(folds, axis=0)
        mean[label] = float(means[-1])
        rows.append([label, *(f"{value:.2f}" for value in means)])
    lost = mean["non-negative"] - mean["random for each list"]
    text = "The signs of singular vectors must be fixed: non-negative"
    note = f"Ridge regression of labels on three numbers per expert. {trials.description()}"
    return Findings(
        claims=(Claim(text, f"random signs lose {lost:.2f} MAP", lost > 1),),
        tables=(Table("Signs of singular vectors", ["signs", *shown], rows, note=note),),
    )


def weights(context: Context) -> Findings:
    """How few weights are enough: closed forms beside both learners of the papers."""
    trials = letor(context, SET)
    part = trials.parts()[0]
    rows = []
    for name in ("ridge", "jury", "svd-lambdarank", "crf"):
        learned = learner(name).fit(part.train, valid=part.valid).expert_weights()
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
        ("normalisation", "The scale of the potentials of the CRF", normalisation),
        ("signs", "The signs of singular vectors", signs),
        ("weights", "How few weights are enough", weights),
    )
)
