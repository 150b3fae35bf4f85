"""Experiments beyond the papers: all consensus methods on MQ2008-agg, other data for the default, and elections."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

import juryrank as jr
from studies.papers import sushi
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Claim, Findings
from studies.papers.published import MEASURED, MEASURED_SLACK
from studies.papers.trials import METRICS, Trial, consensus_methods, letor, result_table
from studies.tables import Table

LEARNERS = ("rrf", "jury", "ridge", "lambdarank", "svd-lambdarank", "crf", "kernel", "blend", "auto")
ROBUST, ROBUST_LEAD = "robust03", 3.0  # points of nDCG@20 over RRF


def consensus(context: Context) -> Findings:
    """Every method that needs lists only, on the queries of all folds."""
    trials = letor(context, "MQ2008-agg")
    shown = ("nDCG@1", "nDCG@5", "AP")
    names = [name for name in consensus_methods() if name in MEASURED] if context.quick else consensus_methods()
    means = {name: trials.means(Trial.of(name)) for name in names}
    rows = []
    for name in sorted(means, key=lambda n: -means[n][METRICS.index("AP")]):
        before = f"{MEASURED[name]:.2f}" if name in MEASURED else ""
        rows.append([name, *(f"{means[name][METRICS.index(m)]:.2f}" for m in shown), before])
    off = {name: float(means[name][METRICS.index("AP")]) - MEASURED[name] for name in MEASURED}
    least = min(off, key=lambda name: off[name])
    text = f"consensus methods: MAP at most {MEASURED_SLACK} below an earlier measurement"
    return Findings(
        targets=(Claim(text, f"{least}, the furthest, {off[least]:+.2f}", off[least] >= -MEASURED_SLACK),),
        tables=(Table("Consensus methods", ["method", *shown, "earlier MAP"], rows, note=trials.description()),),
    )


def learned(context: Context) -> Findings:
    """Every learned method, against the CRF."""
    names = [*LEARNERS, *(["boosted"] if find_spec("lightgbm") is not None else [])]
    return Findings(results=(result_table(letor(context, "MQ2008-agg"), [*map(Trial.of, names)], baseline="crf"),))


def robust(context: Context) -> Findings:
    """The default on other lists: long, partial, and judged in pools."""
    folder = context.data / ROBUST
    data = jr.read(folder / "runs", labels=folder / "qrels.txt")
    assert data.labels is not None
    data = data.take(np.flatnonzero(np.diff(data.labels.label_ptr) > 0))
    names = ["rrf", "jury"] if context.quick else ["rrf", "jury", "auto"]
    found = jr.compare(names, data, ["nDCG@20", "AP"], folds=5)
    rows, targets = [], []
    for name in found.names:
        row = [name, *(f"{100 * found.mean(name, m):.2f}" for m in ("nDCG@20", "AP"))]
        for metric in ("nDCG@20", "AP"):
            versus = found.versus.get((name, metric))
            row += ["", ""] if versus is None else [f"{100 * versus.difference:+.2f}", f"{versus.p_random:.4f}"]
        rows.append(row)
    lead = 100 * found.versus["jury", "nDCG@20"].difference
    targets.append(Claim(f"jury: {ROBUST} nDCG@20 at least 3 points above rrf", f"{lead:+.2f}", lead >= ROBUST_LEAD))
    columns = ["method", "nDCG@20", "AP", "nDCG@20 over rrf", "p", "AP over rrf", "p"]
    note = f"{len(found.queries)} queries, five folds by query, trec convention, × 100."
    return Findings(targets=tuple(targets), tables=(Table(ROBUST, columns, rows, note=note),))


EXPERIMENTS = (
    Experiment("learners", "ours", "Learned methods on MQ2008-agg", ("MQ2008-agg",), learned),
    Experiment("consensus", "ours", "Consensus methods on MQ2008-agg", ("MQ2008-agg",), consensus),
    Experiment("robust03", "ours", "The default on TREC Robust 2003", (ROBUST,), robust),
    Experiment("sushi", "ours", "Sushi: models of orders against Kemeny", (sushi.FILE,), sushi.study),
)
