"""``fit`` on Spark: statistics of whole queries are added up, or a sample is fitted on the driver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import copy
from functools import partial, reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from juryrank.errors import DataError, ParameterError, warn_about_data
from juryrank.integrations._spark_labelled import IS_LABEL, Replies, check_match, labelled_data, labelled_rows
from juryrank.learning.curves import Limits, Statistics
from juryrank.learning.label_survey import LabelSurvey
from juryrank.methods import Aggregator
from juryrank.methods import method as make_method
from juryrank.methods.learned.curves import PositionCurves
from juryrank.methods.learned.parts import (
    PartSums,
    PartSurvey,
    PartValues,
    add_sums,
    held_out_groups,
    sums_of,
    survey_of,
    values_of,
    whole_model,
    with_surveys,
)
from juryrank.metrics.inputs import warn_of_rising_scores

SAMPLE = 2_000_000  # entries that a learner which is no sum is given by default: some 300 MB on the driver
GROUP = "group"  # of queries that are held out together


def fit(
    df: Any,
    labels: Any = None,
    method: str | Aggregator = "jury",
    *,
    sample: int = SAMPLE,
    seed: int = 0,
    limits: Limits | None = None,
    **params: Any,
) -> Aggregator:
    """A method fitted to the lists of a DataFrame: query, item, expert, and rank or score.

    ``labels`` is a DataFrame (query, item, label, and perhaps label_weight); without it, ``df`` has a column label.
    ``method`` is a name, with its parameters, or a method that is not fitted yet.

    ``jury`` and ``ridge`` are computed where the data is: the executors add up statistics of whole queries, and then
    the values of held-out queries; the driver solves. The model, its report and its verdict are those of
    ``juryrank.fit`` on the same rows. Other learners are no sums: all entries of the labelled queries, or a sample of
    queries with about ``sample`` entries, are fitted on the driver; a warning says how many. The sample depends on the
    names of the queries and on ``seed`` only. ``limits`` are those of the held-out values.
    """
    model = _model(method, params)
    value = "rank" if "rank" in getattr(df, "columns", ()) else "score"
    rows = labelled_rows(df, labels, ("query", "item", "expert", value), ("score", "weight", "list"))
    if isinstance(model, PositionCurves):
        return _fit_sums(rows, model, limits)
    return _fit_sample(rows, model, sample, seed)


def _model(method: str | Aggregator, params: Mapping[str, Any]) -> Aggregator:
    if isinstance(method, Aggregator) and params:
        raise ParameterError(f"{method.name} has its parameters already; give the method by name to set them here")
    model = copy(method) if isinstance(method, Aggregator) else make_method(method, **params)
    model.check()
    if not model.supervised:
        raise ParameterError(f"{model.name} does not learn from labels; give it to fuse as it is")
    if model.needs_features:
        raise ParameterError(f"{model.name} needs item features, which rows of lists do not have; use juryrank.fit")
    return model


def _fit_sums(rows: Any, model: PositionCurves, limits: Limits | None) -> Aggregator:
    surveys = Replies.of(rows, partial(_survey, model), again=True).results
    model = with_surveys(model, (PartSurvey(one["lists"], LabelSurvey.from_counts(one["labels"])) for one in surveys))
    replies = Replies.of(rows, partial(_sums, model), _add_sums).results
    matches = [one for reply in replies for one in reply["matches"]]
    if not matches:
        raise DataError("the DataFrame has no rows, so there is nothing to learn from")
    check_match(matches)
    parts = [_unpack_sums(reply["sums"]) for reply in replies if reply["sums"] is not None]
    if not parts:
        raise DataError(f"{model.name}: no query has lists and labels that differ, so there is nothing to learn")
    whole = add_sums(model, parts)
    groups = held_out_groups(whole, limits)
    if groups is not None:
        rows = _by_group(rows, groups)
    if whole.n_rising:
        warn_of_rising_scores(whole.n_rising)
    alone = {"several": sorted(whole.several), "by_rank": whole.n_rising > 0}
    work = partial(_values, model, _pack_statistics(whole.statistics), groups, alone)
    with_values = Replies.of(rows, work, key="query" if groups is None else GROUP, again=True).results
    values = [PartValues(tuple(v["queries"]), tuple(v["experts"]), v["values"], v["judged"]) for v in with_values]
    return whole_model(model, whole, values)


def _by_group(rows: Any, groups: Mapping[str, int]) -> Any:
    """The rows of the labelled queries, with the number of the group of their query."""
    table = pa.table({"query": list(groups), GROUP: pa.array(groups.values(), pa.int64())})
    return rows.join(rows.sparkSession.createDataFrame(table), "query")


def _survey(model: PositionCurves, table: pa.Table) -> dict[str, Any]:
    found = survey_of(model, labelled_data(table)[0])
    return {"lists": dict(found.lists), "labels": found.labels.counts}


def _sums(model: PositionCurves, table: pa.Table) -> dict[str, Any]:
    data, match = labelled_data(table)
    sums = sums_of(model, data)
    return {"matches": [match], "sums": None if sums is None else _pack_sums(sums)}


def _add_sums(replies: list[dict[str, Any]]) -> dict[str, Any]:
    """The sums of a partition, whose queries are in order."""
    parts = [_unpack_sums(reply["sums"]) for reply in replies if reply["sums"] is not None]
    total = _pack_sums(reduce(PartSums.add, parts)) if parts else None
    return {"matches": [one for reply in replies for one in reply["matches"]], "sums": total}


def _values(
    model: PositionCurves,
    packed: dict[str, Any],
    groups: Mapping[str, int] | None,
    alone: Mapping[str, Any],
    table: pa.Table,
) -> dict[str, Any] | None:
    if groups is not None:
        table = table.drop_columns([GROUP])
    found = values_of(model, labelled_data(table)[0], _unpack_statistics(packed), groups, **alone)
    return None if found is None else vars(found)


def _pack_sums(sums: PartSums) -> dict[str, Any]:
    names = {"several": sorted(sums.several), "rising": list(sums.rising.items())}
    return {"queries": sums.queries, "preferences": sums.preferences, **names, **_pack_statistics(sums.statistics)}


def _unpack_sums(packed: dict[str, Any]) -> PartSums:
    several, rising = frozenset(packed["several"]), Counter(dict(packed["rising"]))
    return PartSums(tuple(packed["queries"]), _unpack_statistics(packed), packed["preferences"], several, rising)


def _pack_statistics(whole: Statistics) -> dict[str, Any]:
    upper = whole.gram[np.triu_indices(len(whole.gram))]
    names = {"own": list(whole.own), "pooled": list(whole.pooled)}
    return {**names, "seen": whole.seen, "n_queries": whole.n_queries, "upper": upper, "filled": whole.filled}


def _unpack_statistics(packed: dict[str, Any]) -> Statistics:
    width = int(np.sqrt(2 * len(packed["upper"])))
    gram = np.zeros((width, width))
    gram[np.triu_indices(width)] = packed["upper"]
    gram += np.triu(gram, 1).T
    return Statistics(
        own=tuple(packed["own"]),
        pooled=tuple(packed["pooled"]),
        seen=packed["seen"],
        n_queries=packed["n_queries"],
        gram=gram,
        filled=packed["filled"],
    )


def _fit_sample(rows: Any, model: Aggregator, sample: int, seed: int) -> Aggregator:
    """The method fitted on the driver to all labelled queries, or to those whose names have the smallest hashes."""
    if not (isinstance(sample, int) and sample >= 1):
        raise ParameterError(f"sample must be a number of entries from 1 on, got {sample!r}")
    hashed = rows.withColumn("hash", sf.xxhash64(sf.col("query"), sf.lit(seed)))
    is_label = sf.col(IS_LABEL) if IS_LABEL in rows.columns else sf.lit(False)
    has_label = sf.max(sf.col("label").isNotNull())
    sizes = hashed.groupBy("query", "hash").agg(sf.sum((~is_label).cast("int")).alias("n"), has_label.alias("labelled"))
    known = sizes.filter("labelled and n > 0 and query is not null").select("hash", "n").toArrow()
    if not known.num_rows:
        matches = Replies.of(rows, _match).results
        if not matches:
            raise DataError("the DataFrame has no rows, so there is nothing to learn from")
        check_match(matches)  # says why
        raise DataError(f"{model.name}: no query has lists and labels, so there is nothing to learn")
    hashes, counts = known["hash"].to_numpy(), known["n"].to_numpy()
    order = np.argsort(hashes)
    n_kept = max(1, int(np.searchsorted(np.cumsum(counts[order]), sample, side="right")))
    last = int(hashes[order[n_kept - 1]])
    # Every chosen query at once; the sort makes the result independent of the order in which rows arrive.
    table = hashed.filter(sf.col("hash") <= last).drop("hash").toArrow()
    table = table.sort_by([(name, "ascending") for name in table.column_names])
    if n_kept < len(hashes):
        warn_about_data(
            f"{model.name} does not learn from sums, so it is fitted on the driver to a sample of {n_kept} of "
            f"{len(hashes)} labelled queries, with {counts[order[:n_kept]].sum()} of {counts.sum()} entries; "
            f"raise sample={sample} to use more"
        )
    data, match = labelled_data(table)
    check_match([match])
    return model.fit(data)


def _match(table: pa.Table) -> dict[str, Any]:
    return labelled_data(table)[1]
