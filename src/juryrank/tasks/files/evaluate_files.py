"""``evaluate_files``: evaluate the experts in files that are larger than memory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, warn_about_data
from juryrank.evaluation.evaluate import Evaluation, as_metrics, check_baseline, evaluation_of
from juryrank.evaluation.judged_shares import shares_beside
from juryrank.io.tables.columns import Columns
from juryrank.metrics import Metric, Truth
from juryrank.metrics.inputs import consensus_by_expert, rising_entries, warn_of_rising_scores
from juryrank.metrics.truth import check_unjudged, warn_of_unlabelled_queries, warn_of_unranked_queries
from juryrank.scan.batches import Batch
from juryrank.scan.labelled_files import LabelledFiles, open_files

SHARE = 0.7  # of the memory of a batch, for reading it; the rest is for the rankings of single experts


def evaluate_files(
    paths: Sequence[str | os.PathLike[str]],
    labels: Any,
    metrics: Any,
    *,
    memory: int,
    label_columns: Columns = None,
    format: str | None = None,  # noqa: A002
    options: Mapping[str, Any] | None = None,
    convention: str = "trec",
    unjudged: str = "irrelevant",
    judged_share: bool = True,
    baseline: str | None = None,
    seed: int = 0,
) -> Evaluation:
    """Evaluate each expert in TREC runs or Parquet tables against labels, using about ``memory`` bytes.

    The result is the same as that of ``evaluate`` on all data. ``labels`` are as in ``fit_files``, or None for those of
    the tables; the other parameters are as in ``evaluate``. The values of all queries are in memory in addition to the
    limit.
    """
    wanted = as_metrics(metrics)
    files = open_for_evaluation(
        paths, labels, memory=memory, format=format, options=options, label_columns=label_columns
    )
    return evaluate_labelled(
        files, wanted, convention=convention, unjudged=unjudged, judged_share=judged_share, baseline=baseline, seed=seed
    )


def open_for_evaluation(paths: Sequence[str | os.PathLike[str]], labels: Any = None, **reading: Any) -> LabelledFiles:
    """The files and labels, in batches that leave room for an evaluation."""
    return open_files(paths, labels, share=SHARE, **reading)


def evaluate_labelled(
    files: LabelledFiles,
    metrics: tuple[Metric, ...],
    *,
    convention: str = "trec",
    unjudged: str = "irrelevant",
    judged_share: bool = True,
    baseline: str | None = None,
    seed: int = 0,
) -> Evaluation:
    """As ``evaluate_files``."""
    check_unjudged(unjudged)
    if not files.has_labels:
        raise DataError("the data has neither labels nor a reference ranking; give labels=")
    check_baseline(baseline, files.experts)
    shares = shares_beside(metrics) if judged_share else ()
    task = _Task((*metrics, *shares), convention, unjudged)
    found = list(files.map(task.values))
    if rising := sum(part.rising for part in found):  # then ranks are used for all lists
        task = replace(task, by_rank=True)
        found = list(files.map(task.values))
    queries = tuple(query for part in found for query in part.queries)
    if not queries:
        raise DataError("no query has labels")
    _warn(found, files.experts, rising)
    return evaluation_of(
        np.concatenate([part.values for part in found], axis=2),
        (metrics, shares),
        seed,
        queries=queries,
        names=files.experts,
        convention=convention,
        single=False,
        unjudged=unjudged,
        baseline=baseline,
    )


@dataclass(frozen=True, eq=False)
class _BatchValues:
    """The values of the labelled queries of a batch."""

    queries: tuple[str, ...]
    values: Floats  # [n_experts, n_metrics, n_queries]
    n_queries: int  # labelled or not
    unranked: Ints  # [n_experts] labelled queries that an expert does not rank
    rising: int  # entries with a higher score than the entry above


@dataclass(frozen=True)
class _Task:
    """What is evaluated in each batch."""

    metrics: tuple[Metric, ...]
    convention: str
    unjudged: str
    by_rank: bool = False  # ignore the scores of lists

    def values(self, batch: Batch) -> _BatchValues:
        data = batch.data
        assert data.labels is not None
        labelled = np.flatnonzero(np.diff(data.labels.label_ptr))
        rising = len(rising_entries(data.rankings))
        plain = data.rankings if not (self.by_rank or rising) else replace(data.rankings, entry_score=None)
        truth = Truth(data.take(labelled), self.unjudged)
        out = np.zeros((len(data.experts), len(self.metrics), len(labelled)))
        unranked = np.zeros(len(data.experts), np.int64)
        for n, (name, thing) in enumerate(consensus_by_expert(plain).items()):
            one = truth.judge(thing.take(labelled), convention=self.convention, name=name, warn_unranked=False)
            out[n] = [metric.per_query(one) for metric in self.metrics]
            unranked[n] = ((one if one.whole is None else one.whole).size == 0).sum()
        return _BatchValues(truth.queries, out, len(data), unranked, rising)


def _warn(found: Sequence[_BatchValues], experts: Sequence[str], rising: int) -> None:
    """The warnings of ``evaluate``, counted over all batches."""
    n, labelled = sum(part.n_queries for part in found), sum(len(part.queries) for part in found)
    if silent := n - labelled:
        warn_about_data(f"{silent} of {n} queries have no labels; left out")
    if rising:
        warn_of_rising_scores(rising)
    for name, unranked in zip(experts, np.sum([part.unranked for part in found], axis=0).tolist(), strict=True):
        warn_of_unlabelled_queries(name, silent, n)
        warn_of_unranked_queries(name, unranked, labelled)
