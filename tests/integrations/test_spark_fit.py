"""``fit`` on Spark against one machine: the same model, report and verdict, whatever the partitions are."""

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark")

from spark_labels import assert_same_model, assert_same_parts, labels_of, random_labelled
from spark_lists import entries_of, in_spark

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError
from juryrank.integrations._spark_labelled import total_messages
from juryrank.integrations.spark import fit
from juryrank.io.dataset_frames import long_table
from juryrank.learning.curves import Limits, QueryParts, Statistics
from juryrank.learning.held_out import HeldOutValues
from juryrank.learning.labelled import LabelledQueries
from juryrank.metrics import parse_metric


@pytest.mark.parametrize(("method", "parts"), [("jury", 2), ("ridge", 5)])
def test_the_model_of_mq2008_is_that_of_one_machine(spark, shared_data, method, parts):
    rows = long_table(juryrank.read(shared_data / "MQ2008-agg" / "Fold1" / "test.txt"))
    df = in_spark(spark, rows.with_columns(pl.col("rank", "label").cast(pl.Float64)), parts)
    assert_same_model(fit(df, None, method), juryrank.fit(rows, method))


def test_the_model_of_trec_covid_is_that_of_one_machine(spark, shared_data):
    folder = shared_data / "trec-covid-round1"
    names = ("bm25_baseline", "T5R1", "sab20.1.meta.docs", "uogTrDPH_QE", "smith.bm25")
    rows = entries_of(juryrank.read([folder / "runs" / f"{name}.gz" for name in names]), "rank")
    judged = juryrank.read(folder / "qrels.txt")
    labels = in_spark(spark, labels_of(judged))
    assert_same_model(fit(in_spark(spark, rows), labels), juryrank.fit(rows, labels=judged.labels))


PARAMETERS = [
    (4, "jury", {"experts": "hybrid", "threshold": 450}),
    (1, "ridge", {"experts": "shared"}),
    (3, "jury", {"scores": True, "unjudged": "ignore", "prior": "equal"}),
]


@pytest.mark.parametrize(("parts", "method", "params"), PARAMETERS)
def test_what_is_decided_over_all_queries_is_decided_alike(spark, parts, method, params):
    rows, labels = random_labelled(4, n_queries=30, n_items=12, judged=0.95)
    rows = rows.with_columns(score=100.0 - pl.col("rank") * (1 + pl.col("query").str.tail(1).cast(pl.Float64)))
    expected = juryrank.fit(rows, method, labels=labels, **params)
    if params.get("experts") == "hybrid":
        assert expected.own_
        assert expected.pooled_
    found = fit(in_spark(spark, rows, parts), in_spark(spark, labels), method, **params)
    assert_same_model(found, expected)


def test_lists_may_have_scores_without_ranks(spark):
    rows, labels = random_labelled(8, n_queries=20)
    rows = rows.with_columns(score=-pl.col("rank")).drop("rank")
    found = fit(in_spark(spark, rows), in_spark(spark, labels))
    assert_same_model(found, juryrank.fit(rows, labels=labels))


def test_scores_that_contradict_ranks_in_one_query_count_in_all(spark):
    rows, labels = random_labelled(6, n_queries=30, n_items=12, judged=0.95)
    tied = 100.0 - (pl.col("rank") / 3).floor()
    odd = (pl.col("query") == "q7") & (pl.col("rank") > pl.col("rank").min().over("query", "expert"))
    rows = rows.with_columns(score=pl.when(odd).then(200.0 + pl.col("rank")).otherwise(tied))
    with pytest.warns(DataWarning) as by_one:
        expected = juryrank.fit(rows, "jury", labels=labels)
    with pytest.warns(DataWarning) as on_spark:
        found = fit(in_spark(spark, rows, 4), in_spark(spark, labels), "jury")
    assert_same_model(found, expected)
    told = [[str(one.message) for one in caught if "ranked above" in str(one.message)] for caught in (by_one, on_spark)]
    assert told[0] == told[1] != []


def test_many_queries_are_held_out_in_the_groups_of_one_machine(spark):
    rows, labels = random_labelled(5, n_queries=24, n_items=8)
    limits = Limits(0.0, fewest_parts=5)
    model = fit(in_spark(spark, rows), in_spark(spark, labels), "ridge", limits=limits, unjudged="irrelevant")
    queries = LabelledQueries.of(juryrank.read(rows, labels=labels), "irrelevant")
    curves = np.column_stack([-np.log(queries.rankings.entry_rank), np.ones(queries.rankings.n_entries)])
    parts = QueryParts(queries, curves, Statistics.empty(2, queries.experts), limits)
    assert len(parts.size) == 5
    scores = parts.held_out_scores(parts.total(), model._solver())
    expected = HeldOutValues.of(queries, scores, parse_metric("nDCG@10"))
    np.testing.assert_allclose(model.row_values_, expected.values, rtol=1e-9)
    np.testing.assert_allclose(model.judged_, expected.judged, rtol=1e-12)


def test_a_learner_that_is_no_sum_has_a_sample_that_does_not_depend_on_partitions(spark):
    rows, labels = random_labelled(6, n_queries=30)
    given = in_spark(spark, labels)
    found = []
    for parts in (1, 4):
        with pytest.warns(DataWarning, match=r"sample of \d+ of 30 labelled queries, with \d+ of \d+ entries"):
            found.append(fit(in_spark(spark, rows, parts), given, "tuned-rrf", sample=200, seed=3))
    assert_same_parts(found[0].learned(), found[1].learned())
    whole = fit(in_spark(spark, rows), given, "tuned-rrf")  # without a warning, from all queries
    assert_same_parts(whole.learned(), juryrank.fit(rows, "tuned-rrf", labels=labels).learned())


def test_counts_of_executors_are_added_up(spark):
    rows, labels = random_labelled(7, n_queries=12)
    again = rows.group_by("query", "expert").first().with_columns(rank=pl.lit(99.0)).select(rows.columns)
    assert again["query"].n_unique() > 4
    twice = pl.concat([rows, again])
    with pytest.warns(DataWarning, match=rf"the DataFrame: {again.height} entries repeat an item"):
        found = fit(in_spark(spark, twice), in_spark(spark, labels))
    assert_same_model(found, juryrank.fit(rows, labels=labels))


def test_messages_of_one_kind_are_one_message():
    texts = ["q: 2 of 5 rows of 'e7' at nDCG@10 {x}", "q: 1 of 4 rows of 'e7' at nDCG@10 {x}", "q: 0.5 is no rank"]
    assert total_messages(texts) == ["q: 0.5 is no rank", "q: 3 of 9 rows of 'e7' at nDCG@10 {x}"]


def bad_inputs(rows, labels):
    yield rows.clear(), labels, "has no lists|has no rows"
    yield rows.drop("expert"), labels, "no column 'expert'"
    yield rows, labels.drop("label"), "no column 'label'"
    yield rows, labels.with_columns(label=pl.lit(float("nan"))), "labels must be numbers .* has nan"
    yield rows, labels.with_columns(label=pl.lit(1.0)).filter(pl.col("item") == "nobody"), "no row has a label"
    yield rows, labels.with_columns(query="topic-" + pl.col("query")), "none of the 9 queries .* without the prefix"
    yield rows, labels.with_columns(item="x" + pl.col("item")), "no ranked item is judged in any of the 9 queries"
    yield rows, labels.with_columns(item=pl.lit(None, pl.String)), f"{labels.height} rows have no item"
    yield rows.with_columns(rank=pl.lit(0.0)), labels, "ranks start at 1"
    yield rows.with_columns(rank=pl.lit("first")), labels, "'rank' must have numbers, and it has string"


def test_each_mistake_has_one_clear_message(spark):
    rows, labels = random_labelled(8, n_queries=9)
    for bad_rows, bad_labels, text in bad_inputs(rows, labels):
        with pytest.raises(DataError, match=text):
            fit(in_spark(spark, bad_rows, 1), in_spark(spark, bad_labels, 1))
    with pytest.raises(ParameterError, match="retargeting needs item features"):
        fit(in_spark(spark, rows), in_spark(spark, labels), "retargeting")
    with pytest.raises(ParameterError, match="rrf does not learn from labels"):
        fit(in_spark(spark, rows), None, "rrf")
    with pytest.raises(DataError, match="must be a DataFrame of Spark, got DataFrame"):
        fit(rows, labels)
