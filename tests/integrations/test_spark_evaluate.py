"""``evaluate`` and ``compare`` on Spark against one machine: values to 1e-12, and the same tests and warnings."""

import warnings

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark")

from spark_labels import labels_of, random_labelled
from spark_lists import in_spark

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.integrations.spark import compare, evaluate, fuse

METRICS = ["nDCG@10", "AP", "RR", "P@5", "Bpref", "ERR@10"]


def run_of(frame):
    """``{query: {item: score}}`` of rows."""
    run = {}
    for query, item, score in frame.select("query", "item", "score").iter_rows():
        run.setdefault(query, {})[item] = score
    return run


def labels_by_query(frame):
    found = {}
    for query, item, label in frame.select("query", "item", "label").iter_rows():
        found.setdefault(query, {})[item] = label
    return found


def caught(call):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        result = call()
    return result, sorted(str(one.message) for one in met if issubclass(one.category, DataWarning))


def assert_same_values(found, expected):
    assert found.queries == expected.queries
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.judged.means, expected.judged.means, rtol=1e-12)
    for metric in expected.metrics:
        assert found[metric] == pytest.approx(expected[metric], rel=1e-12)


def random_rankings(seed):
    """Scores with ties in queries of which some have no labels, and labels of queries of which some have no scores."""
    rng = np.random.default_rng(seed)
    _, labels = random_labelled(seed, n_queries=14, n_items=12, judged=0.5)
    rows = [
        (f"q{q}", f"i{i}", float(rng.integers(0, 6)) / 3) for q in range(3, 18) for i in range(12) if rng.random() < 0.7
    ]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row"), labels


@pytest.mark.parametrize(
    ("convention", "unjudged", "parts"), [("trec", "irrelevant", 1), ("trec", "ignore", 4), ("letor", "irrelevant", 3)]
)
def test_values_means_and_warnings_are_those_of_one_machine(spark, convention, unjudged, parts):
    rows, labels = random_rankings(1)
    options = {"convention": convention, "unjudged": unjudged}
    expected, texts = caught(lambda: juryrank.evaluate({"consensus": rows}, labels, METRICS, **options))
    df = in_spark(spark, rows, parts)
    found, ours = caught(lambda: evaluate(df, in_spark(spark, labels, parts), METRICS, **options))
    assert found.single
    assert found.queries == expected.queries
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.judged.means, expected.judged.means, rtol=1e-12)
    assert {str(metric): found[metric] for metric in found.metrics} == found.means()
    assert ours == texts
    assert len(texts) >= 2  # queries without labels, queries without a ranking


def test_trec_covid_is_evaluated_and_compared_as_on_one_machine(spark, shared_data):
    folder = shared_data / "trec-covid-round1"
    judged, names = juryrank.read(folder / "qrels.txt"), ("bm25_baseline", "T5R1", "smith.bm25")
    runs = {name: juryrank.read(folder / "runs" / f"{name}.gz") for name in names}
    consensuses = {name: _one_list(data) for name, data in runs.items()}
    labels = in_spark(spark, labels_of(judged))
    dfs = {name: in_spark(spark, frame) for name, frame in consensuses.items()}
    expected = juryrank.evaluate(
        {name: run_of(frame) for name, frame in consensuses.items()}, judged, METRICS[:3], baseline="T5R1", seed=3
    )
    found = compare(dfs, labels, METRICS[:3], baseline="T5R1", seed=3)
    assert_same_values(found, expected)
    assert found.versus.keys() == expected.versus.keys()
    for key, difference in expected.versus.items():
        assert vars(found.versus[key]) == pytest.approx(vars(difference), rel=1e-9, abs=1e-12)


def _one_list(data):
    r = data.rankings
    query = np.repeat(np.arange(len(r)), r.query_size)
    score = np.empty(r.n_slots)
    score[r.entry_slot] = r.entry_score
    return pl.DataFrame({"query": pl.Series(r.queries).gather(query), "item": r.names_of(r.slot_item), "score": score})


def test_what_fuse_returns_is_evaluated_where_it_is(spark):
    rows, labels = random_labelled(3)
    found = evaluate(fuse(in_spark(spark, rows), "rrf"), in_spark(spark, labels), "nDCG@10")
    expected = juryrank.evaluate(juryrank.method("rrf").fit_predict(juryrank.read(rows)), labels, "nDCG@10")
    assert_same_values(found, expected)


def test_ranks_are_used_where_there_are_no_scores(spark):
    rows, labels = random_rankings(2)
    ranked = rows.with_columns(rank=10.0 - pl.col("score"))
    by_rank, _ = caught(lambda: evaluate(in_spark(spark, ranked.drop("score")), in_spark(spark, labels), METRICS))
    by_score, _ = caught(lambda: evaluate(in_spark(spark, rows), in_spark(spark, labels), METRICS))
    np.testing.assert_array_equal(by_rank.values, by_score.values)


def test_each_mistake_has_one_clear_message(spark):
    rows, labels = random_labelled(4, n_queries=5)
    ranking, judged = in_spark(spark, rows.filter(pl.col("expert") == "e0"), 1), in_spark(spark, labels, 1)
    for bad, bad_labels, text in (
        (ranking.drop("item"), judged, "no column 'item'"),
        (ranking.limit(0), judged, "consensus ranks nothing"),
        (ranking, judged.limit(0), "no query has labels"),
        (ranking, in_spark(spark, labels.with_columns(query="t" + pl.col("query"))), "none of the 5 queries"),
        (ranking, in_spark(spark, labels.with_columns(item="d" + pl.col("item"))), "no ranked item is judged"),
        (ranking, in_spark(spark, labels.with_columns(label=pl.lit(float("nan")))), "has nan"),
    ):  # fmt: skip
        with pytest.raises(DataError, match=text):
            evaluate(bad, bad_labels, "nDCG@10")
    with pytest.raises(UnknownNameError, match="no ranking for the baseline 'c'"):
        compare({"a": ranking, "b": ranking}, judged, "AP", baseline="c")
    with pytest.raises(ParameterError, match="rankings by name"):
        compare([ranking], judged, "AP")
    with pytest.raises(UnknownNameError, match="convention"):
        evaluate(ranking, judged, "AP", convention="clef")
