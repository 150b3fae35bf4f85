"""Fusion on Spark against one machine: same items, same ranks, ties included, scores to 1e-12."""

import warnings
from functools import cache

import polars as pl
import pytest

pytest.importorskip("pyspark")

from spark_lists import assert_same, entries_of, in_spark, on_one_machine, random_entries

import juryrank
from juryrank.errors import DataError, DataWarning, NotFittedError, ParameterError, UnknownNameError
from juryrank.integrations.spark import fuse, leaderboard, summarise

QUOTED = {"'; --": 0.0, "`a`.b": 2.5, "e3": 0.3}
POINTS = [
    ("rrf", {}),
    ("rrf", {"dialect": "qdrant", "weights": QUOTED}),
    ("rbc", {"weights": QUOTED}),  # a power, which is looked up in a table, at places that ties share
    ("borda", {"weights": QUOTED}),
    ("borda", {"missing": "ignore"}),
]
OTHERS = [("combsum", {}), ("mc4", {}), ("copeland", {}), ("rrf", {"dialect": "haystack", "weights": QUOTED})]


@cache
def jury(value: str):
    """A model that knows some of the experts of ``random_entries``."""
    frame = random_entries(3, value, n_experts=4, odd=False)
    pairs = sorted(set(frame.select("query", "item").iter_rows()))
    labels = {}
    for n, (query, item) in enumerate(pairs):
        labels.setdefault(query, {})[item] = float((7 * n) % 3)
    return juryrank.fit(frame, "jury", labels=labels)


def quietly(call, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return call(*args, **options)


@pytest.mark.parametrize("value", ["rank", "score"])
def test_sums_of_points_equal_those_of_one_machine_and_need_no_python(spark, value, capsys):
    frame = random_entries(1, value)
    df, experts = in_spark(spark, frame), [name for name in frame["expert"].unique().drop_nulls() if name]
    with pytest.warns(DataWarning, match=r"\d+ entries without a (rank|score) are dropped"):
        fused = fuse(df)
    assert_same(fused, on_one_machine(frame, juryrank.method("rrf")))
    for name, params in POINTS:
        found = fuse(df, name, top=3, experts=experts, **params)
        assert_same(found, on_one_machine(frame, juryrank.method(name, **params), top=3))
    with pytest.warns(DataWarning, match="experts that the model has not learned from: .* and 7 more"):
        found = fuse(df, jury(value), experts=experts, depth=60)
    found.explain()
    plan = capsys.readouterr().out
    assert "Python" not in plan
    assert "Arrow" not in plan
    assert plan.count("Exchange") == 2  # that of in_spark, and one by query
    assert_same(found, on_one_machine(frame, jury(value)))


@pytest.mark.parametrize("value", ["rank", "score"])
def test_other_methods_equal_those_of_one_machine(spark, value, capsys):
    frame = random_entries(2, value)
    df, experts = in_spark(spark, frame), [name for name in frame["expert"].unique().drop_nulls() if name]
    for name, params in OTHERS:
        found = fuse(df, name, top=5, experts=experts, **params)
        found.explain()
        assert capsys.readouterr().out.count("Exchange") == 2
        assert_same(found, on_one_machine(frame, juryrank.method(name, **params), top=5))


def test_a_dataframe_that_is_partitioned_by_query_is_not_shuffled_again(spark, capsys):
    frame = random_entries(4, "score", odd=False)
    df = in_spark(spark, frame).repartition(2, "query")
    for name in ("rrf", "combsum"):
        found = fuse(df, name, repartition=False)
        found.explain()
        assert capsys.readouterr().out.count("Exchange") == 1  # that of repartition
        assert_same(found, on_one_machine(frame, juryrank.method(name)))


def test_names_may_be_whole_numbers_and_columns_may_have_any_name(spark):
    frame = random_entries(5, "rank", odd=False)
    df = in_spark(spark, frame).selectExpr(
        "int(substr(query, 2)) as `the.query`", "bigint(substr(item, 2)) as `a b`", "expert as `e``x`", "int(rank) as r"
    )
    texts = frame.with_columns(pl.col("query", "item").str.slice(1))
    names = {"query": "the.query", "item": "a b", "expert": "e`x", "rank": "r"}
    for name in ("rrf", "mc4"):
        found = fuse(df, name, top=4, **names)
        assert [field.dataType.simpleString() for field in found.schema] == ["int", "bigint", "double", "bigint"]
        as_text = found.selectExpr("string(`the.query`) query", "string(`a b`) item", "score", "rank")
        assert_same(as_text, on_one_machine(texts, juryrank.method(name), top=4))


def test_an_empty_dataframe_gives_an_empty_one(spark):
    empty = spark.createDataFrame([], "query string, item string, expert string, rank int")
    assert fuse(empty).collect() == fuse(empty, "mc4").collect() == []
    assert summarise(empty)["queries"] == 0


def test_a_model_may_be_a_path(spark, tmp_path):
    frame = random_entries(6, "rank", odd=False, n_experts=4)
    juryrank.save(jury("rank"), tmp_path / "model.json")
    found = fuse(in_spark(spark, frame), tmp_path / "model.json", engine="arrow")
    assert_same(found, on_one_machine(frame, jury("rank")))


def test_experts_that_a_model_does_not_know_are_reported_as_on_one_machine(spark):
    frame = random_entries(6, "rank", odd=False).with_columns(expert="new " + pl.col("expert"))
    df = in_spark(spark, frame)
    with pytest.warns(DataWarning, match="none of the experts was in the training data"):
        found = fuse(df, jury("rank"))
    assert_same(found, on_one_machine(frame, jury("rank")))
    with pytest.warns(DataWarning, match="weights for experts that are not in the data: e99"):
        fuse(df, "rrf", weights={"e99": 2.0})


def test_the_summary_counts_what_is_dropped(spark):
    rows = [
        ("q", "a", "e", 1.0),
        ("q", "a", "e", 3.0),
        ("q", "b", "e", None),
        ("q", "c", None, 1.0),
        ("q", "d", "f", 2.0),
    ]
    rows += [("r", "a", "e", float("inf")), ("r", "a", "e", float("nan")), ("r", "a", "f", 2.0)]
    df = spark.createDataFrame(rows, "query string, item string, expert string, score double")
    assert summarise(df) == {
        "queries": 2,
        "entries": 3,
        "repeated": 1,
        "without_number": 3,
        "infinite": 1,
        "largest_query": 5,
        "longest_list": 1,
    }


def test_mistakes_in_columns_and_parameters_are_explained(spark):
    df = spark.createDataFrame([("q", "a", "e", 1)], "query string, item string, expert string, rank int")
    both = df.selectExpr("*", "1.0 as score")
    cases = [
        (df.drop("expert"), {}, DataError, "no column 'expert' for the expert; columns are query, item, rank"),
        (df.drop("rank"), {}, DataError, "needs a column 'rank' or 'score'"),
        (both, {}, DataError, "choose one: rank='rank' or score='score'"),
        (both, {"rank": "rank", "score": "score"}, ParameterError, "not both"),
        (df, {"rank": "item"}, ParameterError, "four columns"),
        (df.selectExpr("query", "item", "expert", "'1' as rank"), {}, DataError, "is string, but it must be a number"),
        (df.selectExpr("double(1) as query", "item", "expert", "rank"), {}, DataError, "names must be text or whole"),
        (df.withColumnRenamed("item", "score"), {"item": "score", "rank": "rank"}, ParameterError, "rename the column"),
        (df, {"model": "rrff"}, UnknownNameError, "did you mean 'rrf'"),
        (df, {"model": "jury"}, NotFittedError, "must be fitted"),
        (df, {"model": "mc4", "engine": "sql"}, ParameterError, "engine='arrow'"),
        (df, {"engine": "python"}, ParameterError, "engine must be"),
        (df, {"top": 0}, ParameterError, "top must be"),
        (df, {"experts": "e"}, ParameterError, "experts must be different names"),
        (df, {"k": -1}, ParameterError, "k"),
    ]  # fmt: skip
    for wrong, options, error, message in cases:
        with pytest.raises(error, match=message):
            fuse(wrong, **options)


def test_mistakes_in_rows_are_explained(spark):
    schema = "query string, item string, expert string, rank double"
    rows = {
        "query and item must have a name": (None, "a", "e", 1.0),
        "query and item must have a name, but": ("q", "", "e", 1.0),
        r"ranks start at 1 \(1 is best\), got 0": ("q", "a", "e", 0.0),
    }
    for message, row in rows.items():
        df = spark.createDataFrame([("q", "b", "e", 1.0), row], schema)
        with pytest.raises(DataError, match=message):
            fuse(df)
        with pytest.raises(Exception, match=message):  # of Spark, when it comes to the row
            fuse(df, experts=["e"]).collect()
    df = spark.createDataFrame([("q", "a", "e", 1.0), ("q", "b", "f", 2.5)], schema)
    for name in ("rrf", "mc4"):
        with pytest.raises(Exception, match="expert 'f' is not one of the experts that were given"):
            fuse(df, name, experts=["e"]).collect()
    with pytest.raises(Exception, match=r"rank 2\.5, but points are known for whole ranks up to depth=7"):
        quietly(fuse, df, jury("rank"), depth=7).collect()
    assert fuse(df, "rrf", k=1).where("item = 'b'").first().score == 1 / 3.5
    with pytest.raises(Exception, match="query q has 2 entries, more than most_entries=1"):
        fuse(df, "mc4", most_entries=1).collect()


@pytest.mark.parametrize("folder", ["MQ2008-agg", "trec-covid-round1"])
def test_real_lists_are_fused_as_on_one_machine(spark, shared_data, folder):
    if folder == "MQ2008-agg":
        data, some = juryrank.read(shared_data / folder / "Fold1" / "test.txt"), slice(None)
        frame = entries_of(data, "rank")
    else:
        runs = shared_data / folder / "runs"
        data = quietly(juryrank.read, runs, labels=shared_data / folder / "qrels.txt")
        data = data[:3]
        some, frame = slice(0, 2), entries_of(data, "score")
    model = juryrank.method("jury").fit(data)
    df = in_spark(spark, frame).cache()
    for name in ("rrf", "borda", "combsum"):
        assert_same(fuse(df, name), on_one_machine(frame, juryrank.method(name)))
    assert_same(fuse(df, model, depth=2000), on_one_machine(frame, model))
    few = frame.filter(pl.col("query").is_in(list(data.queries[some])))  # items of TREC-COVID are compared by millions
    for name in ("mc4", "copeland"):
        assert_same(fuse(in_spark(spark, few), name), on_one_machine(few, juryrank.method(name)))


def test_a_table_that_is_none_of_spark_is_told(spark):
    frame = random_entries(1, "rank", odd=False).to_pandas()
    for call in (fuse, summarise, leaderboard):
        with pytest.raises(
            DataError, match=r"must be a DataFrame of Spark, got DataFrame of pandas; spark\.createDataFrame"
        ):
            call(frame)
