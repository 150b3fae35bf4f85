"""The crowdsourcing study of CIKM 2012: workers judge items of 100 queries as relevant or not.

Some items have gold labels. The queries are split at random, five times, into 60 for training, 20 for validation and 20
for testing; only items with gold labels are ranked in the test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies.arrays import Floats, Ints, entry_list, slot_query
from studies.console import track
from studies.learners import learner
from studies.papers.folds import randomisation_test
from studies.papers.trials import Lead

FILE = "trec2011-crowd/trec-rf10-data.txt.gz"
METRICS = [f"nDCG@{k}" for k in range(1, 11)]
BASELINE = "majority-vote"
TRAIN, VALID = 60, 20


@dataclass(frozen=True)
class CrowdTrial:
    """A method, and whether it sees only the items with gold labels."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    labelled_only: bool = False
    chosen: bool = False  # workers with enough judgements in the training queries have features of their own


# What the paper prints: singular values are kept, 200 passes, step size 0.01, no penalty.
PRINTED: dict[str, Any] = {"singular_values": True, "rate": 0.01, "epochs": 200, "decay": 0.0}
ENOUGH = 500  # preferences in the training queries; what the paper counts are judgements, which gives around 20 workers
LEARNED = {"unjudged": "ignore"}  # an item without a gold label is not irrelevant
PAIRS = {**LEARNED, "experts": "hybrid", "threshold": ENOUGH}
JUDGEMENTS = {**PAIRS, "threshold_of": "entries"}
LR, LR_PAIRS = {"form": "binary", **LEARNED, **PRINTED}, {"form": "binary", **PAIRS}
TRIALS = {
    "majority-vote": CrowdTrial("majority-vote"),
    "condorcet": CrowdTrial("condorcet"),
    "LR-consensus": CrowdTrial("svd-lambdarank", {**LR, "experts": "shared"}),
    "LR-labelled": CrowdTrial("svd-lambdarank", LR, labelled_only=True, chosen=True),
    "LR-unlabelled": CrowdTrial("svd-lambdarank", LR, chosen=True),
    "LR-labelled, 500 pairs": CrowdTrial("svd-lambdarank", LR_PAIRS, labelled_only=True),
    "LR-unlabelled, 500 pairs": CrowdTrial("svd-lambdarank", LR_PAIRS),
    "ridge shared": CrowdTrial("ridge", {**LEARNED, "experts": "shared"}),
    "ridge hybrid": CrowdTrial("ridge", JUDGEMENTS),
    "ridge hybrid, 500 pairs": CrowdTrial("ridge", PAIRS),
    "jury shared": CrowdTrial("jury", {**LEARNED, "experts": "shared"}),
    "jury hybrid": CrowdTrial("jury", JUDGEMENTS),
    "jury hybrid, 500 pairs": CrowdTrial("jury", PAIRS),
}


@dataclass(frozen=True, eq=False)
class Study:
    """By method, the values on the queries of each split, for each seed."""

    by_seed: dict[str, Floats]  # [n_seeds, n_metrics, n_splits, n_tested]
    tested: Ints  # [n_splits, n_tested] queries

    def means(self, name: str) -> Floats:
        """Over the queries of a split, then over splits and seeds, times 100."""
        means: Floats = 100 * self.by_seed[name].mean(axis=(0, 2, 3))
        return means

    def spread(self, name: str, metric: int = 9) -> float:
        """The standard error of a mean over splits and seeds: the errors over both, squared, add."""
        means = 100 * self.by_seed[name][:, metric].mean(axis=2)
        sides = [side for side in (means.mean(axis=0), means.mean(axis=1)) if len(side) > 1]
        return float(np.sqrt(sum(side.var(ddof=1) / len(side) for side in sides)))

    def lead(self, name: str, other: str, metric: int = 9) -> Lead:
        """One method against another; a query tested in several splits counts once."""
        mine, theirs = (self.by_seed[each][:, metric].mean(axis=0) for each in (name, other))
        gain = 100 * (mine - theirs).ravel()
        _, at = np.unique(self.tested.ravel(), return_inverse=True)
        by_query = np.bincount(at, gain) / np.bincount(at)
        error = float(by_query.std(ddof=1) / np.sqrt(len(by_query)))
        return Lead(float(by_query.mean()), error, float(randomisation_test(by_query[:, None])[0]))


def read_crowd(path: Path, left_out: int = 0, seed: int = 0) -> jr.Dataset:
    """Every worker puts the items it calls relevant first and the others last; its votes are the scores.

    If a worker judged an item twice, relevant counts. ``left_out`` gold labels of each kind are left out at random.
    """
    rows = pl.read_csv(path, separator="\t").filter((pl.col("label") != -2) & (pl.col("gold") != -2))
    names = {"query": pl.col("topicID").cast(pl.String), "item": pl.col("docID"), "expert": pl.col("workerID")}
    votes = (
        rows.select(*(name.alias(key) for key, name in names.items()), "label")
        .group_by(list(names))
        .agg(score=(pl.col("label").max() >= 1).cast(pl.Float64))
    )
    last = pl.col("item").n_unique().over("query").cast(pl.Float64)
    entries = votes.with_columns(rank=pl.when(pl.col("score") == 1).then(1.0).otherwise(last))
    gold = rows.filter(pl.col("gold") >= 0).select(
        query=names["query"], item="docID", label=(pl.col("gold") >= 1).cast(pl.Float64)
    )
    gold = gold.unique().sort("query", "item").sample(fraction=1.0, shuffle=True, seed=seed)
    return jr.read(entries, labels=gold.filter(pl.int_range(pl.len()).over("label") >= left_out))


def labelled(data: jr.Dataset) -> jr.Dataset:
    """The same without the judgements of items that have no gold label."""
    r, lists = data.rankings, entry_list(data.rankings)
    names = {"query": np.array(r.queries)[r.list_query[lists]], "expert": np.array(r.experts)[r.list_expert[lists]]}
    items = r.items[r.slot_item].astype(str)
    entries = pl.DataFrame({**names, "item": items[r.entry_slot], "rank": r.entry_rank, "score": r.entry_score})
    slots = pl.DataFrame({"query": np.array(r.queries)[slot_query(r)], "item": items})
    judged = ~np.isnan(data.slot_labels)[r.entry_slot]
    return jr.read(entries.filter(judged), candidates=slots).with_labels(data)


def orders_of(n_queries: int, n_splits: int) -> list[Ints]:
    """Seeded orders of the queries."""
    return [np.random.default_rng(seed).permutation(n_queries) for seed in range(n_splits)]


def counted(data: jr.Dataset, of: str) -> Floats:
    """By worker, how many judgements it made, or how many ordered pairs these are, over all lists."""
    r = data.rankings
    assert r.entry_score is not None
    relevant = np.bincount(entry_list(r), r.entry_score, r.n_lists)
    each = {"judgements": r.list_size, "pairs": relevant * (r.list_size - relevant)}[of]
    counts: Floats = np.bincount(r.list_expert, each, len(r.experts)).astype(np.float64)
    return counts


def pooled(data: jr.Dataset, names: Sequence[str]) -> jr.Dataset:
    """The same with all other workers as one expert, whose lists in a query add up to one matrix of preferences."""
    r = data.rankings
    at = {name: n for n, name in enumerate(names)}
    place = np.array([at.get(name, len(names)) for name in r.experts], r.list_expert.dtype)
    return replace(data, rankings=replace(r, experts=(*names, "all others"), list_expert=place[r.list_expert]))


def values(trial: CrowdTrial, data: jr.Dataset, order: Ints, seed: int = 0, names: Sequence[str] = ()) -> Floats:
    """Values on the last queries of an order of a method fitted on the first, [n_metrics, n_tested].

    ``names`` are the workers with features of their own, if the trial wants them chosen.
    """
    train, valid, test = np.split(order, [TRAIN, TRAIN + VALID])
    data = pooled(data, names) if trial.chosen else data
    seeded = {"seed": seed} if drawn(trial) else {}
    model = learner(trial.name, **trial.params, **seeded).fit(data.take(train), valid=data.take(valid))
    tested = data.take(test)
    scores = model.predict(tested, warn_unknown=False).scores.copy()
    scores[np.isnan(tested.slot_labels)] = scores.min() - 1.0
    measured = jr.evaluate(jr.Consensus(tested.rankings, scores), tested, METRICS).per_query
    return np.array([measured[metric] for metric in METRICS])


def drawn(trial: CrowdTrial) -> bool:
    """Whether the method depends on a seed."""
    return "seed" in jr.method(trial.name).params()


def frequent(data: jr.Dataset, order: Ints, of: str = "judgements") -> list[str]:
    """The workers with enough preferences in the training queries of an order."""
    enough = counted(data.take(order[:TRAIN]), of) >= ENOUGH
    return [name for name, chosen in zip(data.rankings.experts, enough, strict=True) if chosen]


def study(data: jr.Dataset, trials: dict[str, CrowdTrial], n_splits: int = 5, seeds: Sequence[int] = (0,)) -> Study:
    """All trials on all splits; methods that depend on a seed with each of ``seeds``."""
    orders = orders_of(len(data), n_splits)
    names = [frequent(data, order) for order in orders]
    gold = labelled(data)
    measured = {}
    for name, trial in track(list(trials.items()), "crowd"):
        seen = gold if trial.labelled_only else data
        measured[name] = np.array(
            [
                np.stack([values(trial, seen, o, seed, n) for o, n in zip(orders, names, strict=True)], axis=1)
                for seed in (seeds if drawn(trial) else seeds[:1])
            ]
        )
    return Study(measured, np.stack([order[TRAIN + VALID :] for order in orders]))
