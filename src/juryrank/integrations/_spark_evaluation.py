"""``evaluate`` and ``compare`` on Spark: metrics are computed on whole queries, means and tests on the driver."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from juryrank.data import Consensus, Labels
from juryrank.data.label_matching import SURE, QueryCounts, report_unmatched_queries, unmatched_items
from juryrank.data.long_table import from_long, labels_from_rows
from juryrank.data.names import natural_key
from juryrank.errors import DataError, ParameterError, UnknownNameError, warn_about_data
from juryrank.evaluation.evaluate import Evaluation, as_metrics, check_baseline, evaluation_of
from juryrank.evaluation.judged_shares import shares_beside
from juryrank.integrations._spark_labelled import IS_LABEL, SAMPLES, Replies, split_labels, standard_columns
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.metrics import Metric, Truth
from juryrank.metrics.inputs import consensus_by_expert
from juryrank.metrics.truth import (
    CONVENTIONS,
    check_unjudged,
    warn_of_unlabelled_queries,
    warn_of_unranked_queries,
)
from juryrank.polars import pl

ONE = "consensus"  # the name of the only ranking, as in juryrank.evaluate
NAME = "ranking"  # the column that tells rankings apart


def evaluate(
    df: Any,
    labels: Any,
    metrics: Any,
    *,
    convention: str = "trec",
    unjudged: str = "irrelevant",
    judged_share: bool = True,
) -> Evaluation:
    """Evaluate a ranking as ``fuse`` returns it, a DataFrame of query, item and score, or rank without scores.

    ``labels`` is a DataFrame of query, item and label. The result is that of ``juryrank.evaluate`` on the same rows:
    values of each query and means, with the same rules for queries without labels or without a ranking, unjudged items
    and ties. The driver has one number per query and metric.
    """
    return _evaluate({ONE: df}, labels, metrics, convention, unjudged, judged_share, single=True)


def compare(
    rankings: Mapping[str, Any],
    labels: Any,
    metrics: Any,
    *,
    baseline: str | None = None,
    convention: str = "trec",
    unjudged: str = "irrelevant",
    judged_share: bool = True,
    seed: int = 0,
) -> Evaluation:
    """Evaluate several rankings by name, ``{name: DataFrame}``, and test their differences to a ``baseline``.

    Intervals, p-values with Holm's correction, wins and losses are those of ``juryrank.evaluate`` with a baseline;
    ``seed`` is that of the randomisation test. Without a baseline there are values and means only.
    """
    if not isinstance(rankings, Mapping) or not rankings:
        raise ParameterError("compare takes rankings by name: {'rrf': DataFrame, 'jury': DataFrame}")
    check_baseline(baseline, list(rankings))
    return _evaluate(rankings, labels, metrics, convention, unjudged, judged_share, baseline=baseline, seed=seed)


def _evaluate(
    rankings: Mapping[str, Any],
    labels: Any,
    metrics: Any,
    convention: str,
    unjudged: str,
    judged_share: bool,
    *,
    single: bool = False,
    baseline: str | None = None,
    seed: int = 0,
) -> Evaluation:
    wanted = as_metrics(metrics)
    check_unjudged(unjudged)
    if convention not in CONVENTIONS:
        raise UnknownNameError.of("convention", convention, CONVENTIONS)
    if labels is None:
        raise DataError("evaluate needs labels: a DataFrame with the columns query, item and label")
    names = tuple(map(str, rankings))
    shares = shares_beside(wanted) if judged_share else ()
    work = partial(_values, names, (*wanted, *shares), convention, unjudged)
    parts = [Part(**reply) for reply in Replies.of(_rows(rankings, labels), work).results]
    _check(parts, names)
    queries = sorted((query for part in parts for query in part.queries), key=natural_key)
    place = {query: n for n, query in enumerate(queries)}
    values = np.empty((len(names), len(wanted) + len(shares), len(queries)))
    for part in parts:
        values[:, :, [place[query] for query in part.queries]] = part.values
    return evaluation_of(
        values,
        (wanted, shares),
        seed,
        queries=tuple(queries),
        names=names,
        convention=convention,
        single=single,
        unjudged=unjudged,
        baseline=baseline,
    )


def _rows(rankings: Mapping[str, Any], labels: Any) -> Any:
    """All rankings and the labels as one DataFrame; a row has its score, or its rank where there are no scores."""
    parts = []
    for name, df in rankings.items():
        value = "score" if "score" in getattr(df, "columns", ("score",)) else "rank"
        rows = standard_columns(df, ("query", "item", value), (), f"the DataFrame of {name!r}")
        score = sf.col("score") if value == "score" else -sf.col("rank")
        about = (sf.lit(False).alias(IS_LABEL), sf.lit(str(name)).alias(NAME))
        parts.append(rows.select("query", "item", score.alias("score"), *about))
    judged = standard_columns(labels, ("query", "item", "label"), (), "the DataFrame of labels")
    judged = judged.withColumn(IS_LABEL, sf.lit(True))
    return reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), [*parts, judged])


@dataclass(frozen=True, eq=False)
class Part:
    """The values of some labelled queries, and how they match the rankings."""

    queries: list[str]  # with labels
    values: Any  # [n_names, n_metrics, n_queries]
    listed: list[int]  # by name: queries that are ranked
    shared: list[int]  # by name: queries that are ranked and have labels
    ours: list[list[str]]  # by name: some ranked queries without labels
    lost: list[list[str]]  # by name: some labelled queries without a ranking
    known: int  # ranked items with labels
    items: str  # examples of items without labels, if no item has one
    cause: int  # how many names of items a simple change would match


def _values(
    names: Sequence[str], metrics: Sequence[Metric], convention: str, unjudged: str, table: pa.Table
) -> dict[str, Any]:
    entries, judged = split_labels(table)
    labels, frame = labels_from_rows(judged), pl.DataFrame(pl.from_arrow(entries))
    labelled, truth = set(labels.queries), Truth(labels, unjudged)
    part = Part(list(labels.queries), np.empty((len(names), len(metrics), len(labels))), [], [], [], [], 0, "", 0)
    known, reports = 0, []
    for n, name in enumerate(names):
        ranked = frame.filter(pl.col(NAME) == name).rename({NAME: "expert"})
        ranked_queries = set(ranked["query"])
        part.listed.append(len(ranked_queries))
        part.shared.append(len(ranked_queries & labelled))
        part.ours.append(sorted(ranked_queries - labelled, key=natural_key)[:SAMPLES])
        part.lost.append(sorted(labelled - ranked_queries, key=natural_key)[:SAMPLES])
        consensus = _consensus(ranked, labels, name)
        one = truth.judge(consensus, convention=convention, name=name, warn_unranked=False)
        part.values[n] = np.array([metric.per_query(one) for metric in metrics]).reshape(len(metrics), len(labels))
        known += int(one.any_known)
        if len(consensus.scores) and not one.any_known:
            reports.append(unmatched_items(labels, consensus.rankings))
    items, cause = next(iter(reports), ("", None))
    return vars(replace(part, known=known, items=items, cause=0 if cause is None else cause.count))


def _consensus(ranked: pl.DataFrame, labels: Labels, name: str) -> Consensus:
    """The ranking of the labelled queries, in their order; queries that it lacks are empty."""
    here = from_long(ranked.filter(pl.col("query").is_in(labels.queries)), source=name).rankings
    alone = consensus_by_expert(here).get(name)
    if alone is None:
        alone = Consensus(here, np.zeros(0))
    r = alone.rankings
    sizes, place = np.zeros(len(labels), np.int64), {query: n for n, query in enumerate(labels.queries)}
    at = [place[query] for query in r.queries]
    sizes[at] = r.query_size
    lists = np.zeros(len(labels), np.int64)
    lists[at] = np.diff(r.list_ptr)
    padded = replace(r, queries=labels.queries, slot_ptr=sizes_to_ptr(sizes), list_ptr=sizes_to_ptr(lists))
    return Consensus(padded, alone.scores)


def _check(parts: Sequence[Part], names: Sequence[str]) -> None:
    """The errors and warnings of ``juryrank.evaluate`` about queries and items that do not match."""
    labelled = sum(len(part.queries) for part in parts)
    if not labelled:
        raise DataError("no query has labels")
    for n, name in enumerate(names):
        listed, shared = sum(part.listed[n] for part in parts), sum(part.shared[n] for part in parts)
        if not listed:
            raise DataError(f"{name} ranks nothing: the DataFrame has no rows")
        if shared < min(listed, labelled):
            ours, lost = (
                sorted((q for part in parts for q in getattr(part, side)[n]), key=natural_key)[:SAMPLES]
                for side in ("ours", "lost")
            )
            report_unmatched_queries(QueryCounts(listed, labelled, shared), ours, lost, data=name)
        warn_of_unlabelled_queries(name, listed - shared, listed)
        warn_of_unranked_queries(name, labelled - shared, labelled)
    if not any(part.known for part in parts):
        worst = max(parts, key=lambda part: (part.cause, part.items))
        text = f"no ranked item is judged in any of the {labelled} queries with labels; {worst.items}"
        if worst.cause >= SURE:
            raise DataError(f"{text}; a change of names would match {worst.cause} of them")
        warn_about_data(text)
