"""The crowdsourcing study of CIKM 2012: workers judge items of 100 queries as relevant or not.

Some items have gold labels. The queries are split at random, five times, into 60 for training, 20 for validation and 20
for testing; only items with gold labels are ranked in the test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
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


LEARNED = {"unjudged": "ignore"}  # an item without a gold label is not irrelevant
LR = {"form": "binary", **LEARNED}
TRIALS = {
    "majority-vote": CrowdTrial("majority-vote"),
    "condorcet": CrowdTrial("condorcet"),
    "LR-consensus": CrowdTrial("svd-lambdarank", {**LR, "experts": "shared"}),
    "LR-labelled": CrowdTrial("svd-lambdarank", {**LR, "experts": "hybrid"}, labelled_only=True),
    "LR-unlabelled": CrowdTrial("svd-lambdarank", {**LR, "experts": "hybrid"}),
    "ridge shared": CrowdTrial("ridge", {**LEARNED, "experts": "shared"}),
    "ridge hybrid": CrowdTrial("ridge", {**LEARNED, "experts": "hybrid"}),
    "jury shared": CrowdTrial("jury", {**LEARNED, "experts": "shared"}),
    "jury hybrid": CrowdTrial("jury", {**LEARNED, "experts": "hybrid"}),
}


@dataclass(frozen=True, eq=False)
class Study:
    """By method, the values on the queries of each split."""

    values: dict[str, Floats]  # [n_metrics, n_splits, n_tested]
    tested: Ints  # [n_splits, n_tested] queries

    def means(self, name: str) -> Floats:
        """Over the queries of a split, then over splits, times 100."""
        means: Floats = 100 * self.values[name].mean(axis=(1, 2))
        return means

    def lead(self, name: str, other: str, metric: int = 9) -> Lead:
        """One method against another; a query tested in several splits counts once."""
        gain = 100 * (self.values[name] - self.values[other])[metric].ravel()
        _, at = np.unique(self.tested.ravel(), return_inverse=True)
        by_query = np.bincount(at, gain) / np.bincount(at)
        error = float(by_query.std(ddof=1) / np.sqrt(len(by_query)))
        return Lead(float(by_query.mean()), error, float(randomisation_test(by_query[:, None])[0]))


def read_crowd(path: Path) -> jr.Dataset:
    """Every worker puts the items it calls relevant first and the others last; its votes are the scores.

    If a worker judged an item twice, relevant counts.
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
    return jr.read(entries, labels=gold.unique())


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


def values(trial: CrowdTrial, data: jr.Dataset, order: Ints) -> Floats:
    """Values on the last queries of an order of a method fitted on the first, [n_metrics, n_tested]."""
    train, valid, test = np.split(order, [TRAIN, TRAIN + VALID])
    model = learner(trial.name, **trial.params).fit(data.take(train), valid=data.take(valid))
    tested = data.take(test)
    scores = model.predict(tested, warn_unknown=False).scores.copy()
    scores[np.isnan(tested.slot_labels)] = scores.min() - 1.0
    measured = jr.evaluate(jr.Consensus(tested.rankings, scores), tested, METRICS).per_query
    return np.array([measured[metric] for metric in METRICS])


def study(data: jr.Dataset, trials: dict[str, CrowdTrial], n_splits: int = 5) -> Study:
    """All trials on all splits."""
    orders = orders_of(len(data), n_splits)
    gold = labelled(data)
    measured = {
        name: np.stack([values(trial, gold if trial.labelled_only else data, order) for order in orders], axis=1)
        for name, trial in track(list(trials.items()), "crowd")
    }
    return Study(measured, np.stack([order[TRAIN + VALID :] for order in orders]))
