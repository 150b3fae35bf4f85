"""The crowdsourcing study of Volkovs, Larochelle and Zemel (CIKM 2012): ``python bench/crowd.py [--json FILE]``.

Workers judge pages of 100 topics as relevant or not; some pages have gold labels. Five random splits of the topics
into 60 to learn from, 20 to choose on and 20 to test; only pages with gold labels are ranked in the test.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import juryrank
from juryrank.compare.significance import randomisation
from juryrank.data import Consensus, Dataset
from juryrank.data.build import from_long
from juryrank.report import Report, Table

CROWD = Path(__file__).parents[2] / "shared" / "data" / "trec2011-crowd" / "trec-rf10-data.txt.gz"
METRICS = [f"nDCG@{k}" for k in range(1, 11)]
BASELINE = "majority-vote"
TRAIN, CHOOSE = 60, 20


@dataclass(frozen=True)
class Trial:
    """A method, and whether it sees only the pages with gold labels."""

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    labelled_only: bool = False


LEARNED = {"unjudged": "ignore"}  # a page without a gold label is no worse than one with
LR = {"form": "binary", **LEARNED}
TRIALS = {
    "majority-vote": Trial("majority-vote"),
    "condorcet": Trial("condorcet"),
    "LR-consensus": Trial("svd-lambdarank", {**LR, "experts": "shared"}),
    "LR-labelled": Trial("svd-lambdarank", {**LR, "experts": "hybrid"}, labelled_only=True),
    "LR-unlabelled": Trial("svd-lambdarank", {**LR, "experts": "hybrid"}),
    "ridge shared": Trial("ridge", {**LEARNED, "experts": "shared"}),
    "ridge hybrid": Trial("ridge", {**LEARNED, "experts": "hybrid"}),
    "jury shared": Trial("jury", {**LEARNED, "experts": "shared"}),
    "jury hybrid": Trial("jury", {**LEARNED, "experts": "hybrid"}),
}


@dataclass(frozen=True, eq=False, repr=False)
class Study(Report):
    """By method, the values on the topics of each split."""

    values: dict[str, NDArray[np.float64]]  # [n_metrics, n_splits, n_tested]
    tested: NDArray[np.int64]  # [n_splits, n_tested] topics

    def means(self, name: str) -> NDArray[np.float64]:
        """Over the topics of a split, then over splits, times 100."""
        means: NDArray[np.float64] = 100 * self.values[name].mean(axis=(1, 2))
        return means

    def chance(self, name: str, other: str, metric: int = 9) -> float:
        """p of a paired randomisation test by topic; a topic tested in several splits counts once."""
        gain = (self.values[name] - self.values[other])[metric].ravel()
        _, at = np.unique(self.tested.ravel(), return_inverse=True)
        return randomisation(np.bincount(at, gain) / np.bincount(at))

    def tables(self, percent: bool | None = None) -> list[Table]:
        body = [
            [
                name,
                *(f"{v:.2f}" for v in self.means(name)),
                "" if name == BASELINE else f"{self.chance(name, BASELINE):.4f}",
            ]
            for name in self.values
        ]
        note = f"× 100, means of {len(self.tested)} splits; p: nDCG@10 against {BASELINE}, randomisation test by topic."
        return [Table("Crowdsourcing", ["method", *METRICS, "p"], body, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        return [{"method": name, **dict(zip(METRICS, self.means(name), strict=True))} for name in self.values]

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.rows(), "p": {n: self.chance(n, BASELINE) for n in self.values if n != BASELINE}}


def read_crowd(path: Path = CROWD) -> Dataset:
    """Every worker puts the pages it calls relevant first and the others last; its votes are the scores.

    Of two judgements of one page by one worker, relevant stands.
    """
    rows = pl.read_csv(path, separator="\t").filter((pl.col("label") != -2) & (pl.col("gold") != -2))
    names = {"query": pl.col("topicID").cast(pl.String), "item": pl.col("docID"), "expert": pl.col("workerID")}
    votes = rows.group_by(**names).agg(score=(pl.col("label").max() >= 1).cast(pl.Float64))
    last = pl.col("item").n_unique().over("query").cast(pl.Float64)
    entries = votes.with_columns(rank=pl.when(pl.col("score") == 1).then(1.0).otherwise(last))
    gold = rows.filter(pl.col("gold") >= 0).select(
        query=names["query"], item="docID", label=(pl.col("gold") >= 1).cast(pl.Float64)
    )
    return from_long(entries, labels=gold.unique(), source=str(path))


def labelled(data: Dataset) -> Dataset:
    """The same without what was said about pages that have no gold label."""
    r = data.rankings
    lists = np.repeat(np.arange(r.n_lists), r.list_size)
    kept = ~np.isnan(data.slot_labels)[r.entry_slot]
    query, expert = np.array(r.queries)[r.list_query[lists]], np.array(r.experts)[r.list_expert[lists]]
    columns = {"query": query, "item": r.items[r.slot_item[r.entry_slot]].astype(str), "expert": expert}
    entries = pl.DataFrame({**columns, "rank": r.entry_rank, "score": r.entry_score}).filter(kept)
    return from_long(entries, candidates=_slots(data)).with_labels(data)


def _slots(data: Dataset) -> pl.DataFrame:
    r = data.rankings
    query = np.repeat(np.array(r.queries), r.query_size)
    return pl.DataFrame({"query": query, "item": r.items[r.slot_item].astype(str)})


def orders_of(n_topics: int, n_splits: int) -> list[NDArray[np.int64]]:
    """Seeded orders of the topics."""
    return [np.random.default_rng(seed).permutation(n_topics) for seed in range(n_splits)]


def values(trial: Trial, data: Dataset, order: NDArray[np.int64]) -> NDArray[np.float64]:
    """What a method fitted on the first topics of an order is worth on the last, [n_metrics, n_tested]."""
    train, choose, test = np.split(order, [TRAIN, TRAIN + CHOOSE])
    model = juryrank.method(trial.name, **trial.params).fit(data.take(train), valid=data.take(choose))
    tested = data.take(test)
    scores = model.predict(tested).scores.copy()
    scores[np.isnan(tested.slot_labels)] = scores.min() - 1.0
    found = juryrank.evaluate(Consensus(tested.rankings, scores), tested, METRICS).per_query
    return np.array([found[metric] for metric in METRICS])


def study(data: Dataset, trials: dict[str, Trial], n_splits: int = 5) -> Study:
    """All trials on all splits."""
    orders = orders_of(len(data), n_splits)
    gold = labelled(data)
    found = {
        name: np.stack([values(trial, gold if trial.labelled_only else data, order) for order in orders], axis=1)
        for name, trial in trials.items()
    }
    return Study(found, np.stack([order[TRAIN + CHOOSE :] for order in orders]))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write everything to this file")
    parser.add_argument("--splits", type=int, default=5, help="random splits of the topics; the paper has 5")
    parser.add_argument("--methods", default=",".join(TRIALS), help="by comma; jury hybrid, say")
    options = parser.parse_args()
    if not CROWD.is_file():
        sys.exit("the judgements are not beside the project (../shared/data/trec2011-crowd): nothing to measure on")
    wanted = {BASELINE, *options.methods.split(",")}
    trials = {name: trial for name, trial in TRIALS.items() if name in wanted and trial.name in juryrank.METHODS}
    report = study(read_crowd(), trials, options.splits)
    print(report)
    if options.json:
        Path(options.json).write_text(report.render("json"))


if __name__ == "__main__":
    main()
