"""WWW 2007 on lists of real systems: supervised chains on runs of TREC participants, long and judged in pools."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.stats import t as student

import juryrank as jr
from studies.arrays import Floats
from studies.learning_curves import read_set
from studies.papers.experiment import Context, Experiment
from studies.papers.findings import Claim, Findings
from studies.papers.folds import part_of, randomisation_test, rotation
from studies.tables import Table

SETS = {"robust03": "TREC Robust 2003", "trec-covid-round1": "TREC-COVID, round 1"}
METRICS = ("nDCG@10", "AP")
FOLDS = 5
DEPTH, QUICK_DEPTH = 50, 10  # of the lists for training
SUPERVISED = ("supervised-borda", "supervised-mc2", "supervised-mc4")
OTHERS = ("borda", "mc2", "mc4", "rrf", "jury")
UNSUPERVISED = {"supervised-borda": "borda", "supervised-mc2": "mc2", "supervised-mc4": "mc4"}


def study(name: str, context: Context) -> Findings:
    """Five folds by query; each supervised method against each other one."""
    data = read_set(context.data / name)
    values = {method: values_of(method, data, context) for method in (*OTHERS, *SUPERVISED)}
    means = [[method, *(f"{100 * row.mean():.2f}" for row in each)] for method, each in values.items()]
    gaps = [
        [one, other, *(interval(values[one][k] - values[other][k]) for k in range(len(METRICS)))]
        for one in SUPERVISED
        for other in OTHERS
    ]
    folds = f"{_folds(context)} of {FOLDS} random folds by query (three for training, one for validation)"
    note = (
        f"{len(data)} queries, {folds}, trec convention, × 100. Supervised chains and Borda learn from the first "
        f"{_depth(context)} items of each list, for supervised-mc4 compares all pairs of items in training; they rank "
        "complete lists. All training queries of a fold are one batch of the chains, so that the seed, which orders "
        "batches, changes nothing."
    )
    claims = [_claim(one, other, values) for one, other in UNSUPERVISED.items()]
    claims += [_claim("supervised-mc2", other, values) for other in ("rrf", "jury")]
    return Findings(
        claims=tuple(claims),
        tables=(
            Table(f"Supervised chains, {SETS[name]}", ["method", *METRICS], means, note=note),
            Table(
                "Differences", ["method", "less", *METRICS], gaps, 2, note="With 95 % intervals over queries, × 100."
            ),
        ),
    )


def values_of(name: str, data: jr.Dataset, context: Context) -> Floats:
    """[n_metrics, n_queries] on the test queries, fold after fold."""
    folds = []
    for split in rotation(data, FOLDS)[: _folds(context)]:
        part = part_of(data, split)
        train, valid = part.train, part.valid
        if name in SUPERVISED:
            assert valid is not None
            train, valid = (first_items(each, _depth(context)) for each in (train, valid))
        consensus = jr.method(name).fit(train, valid=valid).predict(part.test)
        folds.append(jr.evaluate(consensus, part.test, METRICS).values[0])
    return np.concatenate(folds, axis=1)


def _folds(context: Context) -> int:
    return 1 if context.quick else FOLDS


def _depth(context: Context) -> int:
    return QUICK_DEPTH if context.quick else DEPTH


def first_items(data: jr.Dataset, depth: int) -> jr.Dataset:
    """The first items of each list; items that are then in no list are left out."""
    r = data.rankings
    kept = np.arange(r.n_entries) - np.repeat(r.entry_ptr[:-1], r.list_size) < depth
    used = np.zeros(r.n_slots, bool)
    used[r.entry_slot[kept]] = True
    slots, entries = (np.concatenate([[0], np.cumsum(flags)]) for flags in (used, kept))
    lists = replace(
        r,
        slot_ptr=slots[r.slot_ptr],
        slot_item=r.slot_item[used],
        entry_ptr=entries[r.entry_ptr],
        entry_slot=slots[r.entry_slot[kept]].astype(np.int32),
        entry_rank=r.entry_rank[kept],
        entry_score=None,
    )
    return jr.Dataset(rankings=lists, labels=data.labels)


def interval(differences: Floats) -> str:
    """The mean × 100 with its 95 % interval, by Student's t."""
    mean, half = 100 * differences.mean(), 100 * half_width(differences)
    return f"{mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f})"


def half_width(differences: Floats) -> float:
    """Of the 95 % interval of the mean."""
    n = len(differences)
    return float(student.ppf(0.975, n - 1) * differences.std(ddof=1) / np.sqrt(n))


def _claim(one: str, other: str, values: dict[str, Floats]) -> Claim:
    gaps = {metric: values[one][k] - values[other][k] for k, metric in enumerate(METRICS)}
    p = float(randomisation_test(100 * gaps["AP"][:, None])[0])
    measured = "; ".join(f"{metric} {interval(gap)}" for metric, gap in gaps.items())
    return Claim(f"{one} is above {other}", measured, gaps["AP"].mean() > 0, noisy=p >= 0.05)


EXPERIMENTS = tuple(
    Experiment(f"www2007-others-{name}", "www2007", f"Supervised chains: {title}", (name,), partial(study, name))
    for name, title in SETS.items()
)
