"""``leaderboard`` on Spark against one machine, and resampled weights against a slow version of them."""

import numpy as np
import polars as pl
import pytest

pytest.importorskip("pyspark")

from spark_lists import in_spark

import juryrank
from juryrank.errors import DataError, DataWarning, ParameterError
from juryrank.integrations._spark_leaderboard import poisson_weights
from juryrank.integrations.spark import leaderboard


def battles(seed=0, n=600, n_items=6, n_judges=12):
    """Comparisons of items whose strengths fall, with ties; judges are about equally good."""
    rng = np.random.default_rng(seed)
    left, right = rng.integers(0, n_items, n), rng.integers(0, n_items - 1, n)
    right = right + (right >= left)
    lead = (right - left) / 2 + rng.logistic(size=n)
    winner = np.where(np.abs(lead) < 0.2, "tie", np.where(lead > 0, "left", "right"))
    judge = rng.integers(0, n_judges, n)
    return pl.DataFrame(
        {
            "left": [f"m{k}" for k in left],
            "right": [f"m{k}" for k in right],
            "winner": winner,
            "judge": [f"j{k}" for k in judge],
            "query": [f"q{k}" for k in rng.integers(0, 40, n)],
            "text": [f"conversation {k}" for k in range(n)],
        }
    )


def on_one_machine(rows, **options):
    return juryrank.leaderboard(juryrank.read(rows.drop("text")), **options)


def assert_same_board(found, expected, tolerance=1e-9):
    assert found.items.tolist() == expected.items.tolist()
    for name in ("score", "low", "high", "games", "wins", "ties"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=tolerance, atol=tolerance)
    for name in ("rank", "group", "best_rank", "worst_rank"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def counted(rows):
    """Equal comparisons as one row with a weight: one machine draws random numbers in the order of its rows."""
    words = ["left", "right", "winner", "judge"]
    return rows.group_by(words).agg(pl.len().cast(pl.Float64).alias("weight"), pl.first("text")).sort(words)


@pytest.mark.parametrize(("interval", "parts"), [("bootstrap", 1), ("bootstrap", 4), ("sandwich", 3), ("fisher", 2)])
def test_board_and_intervals_are_those_of_one_machine(spark, interval, parts):
    rows = battles()
    options = {"interval": interval, "bootstrap": 50, "elo": True}
    expected = on_one_machine(counted(rows), **options)
    found = leaderboard(in_spark(spark, rows, parts), **options)
    assert_same_board(found, expected, 1e-6)
    np.testing.assert_allclose(found.score, on_one_machine(rows, **options).score, rtol=1e-6)
    assert [judge.name for judge in found.judges] == [judge.name for judge in expected.judges]
    reliability = [judge.reliability for judge in expected.judges]
    assert [judge.reliability for judge in found.judges] == pytest.approx(reliability, abs=1e-6)


def test_sandwich_intervals_by_query_are_those_of_one_machine(spark):
    rows = battles(1)
    options = {"interval": "sandwich", "by": "query", "judges": False}
    assert_same_board(leaderboard(in_spark(spark, rows), **options), on_one_machine(rows, **options), 1e-6)


def test_weights_and_winner_and_loser_are_read_as_on_one_machine(spark):
    rows = battles(2).filter(pl.col("winner") != "tie")
    won = pl.when(pl.col("winner") == "left")
    rows = rows.select(
        won.then("left").otherwise("right").alias("Winner Name"),
        won.then("right").otherwise("left").alias("Loser Name"),
        (pl.col("query").str.slice(1).cast(pl.Float64) / 10).alias("weight"),
    )
    found = leaderboard(in_spark(spark, rows), interval="none")
    assert_same_board(found, juryrank.leaderboard(juryrank.read(rows), interval="none"), 1e-6)


def test_equal_scores_and_groups_are_those_of_one_machine(spark):
    names = ["left", "right", "winner", "weight"]
    rows = pl.DataFrame(
        [("a", "b", "tie", 1), ("c", "d", "c", 1), ("d", "e", "d", 1), ("u", "a", "u", 0)], names, orient="row"
    )
    with pytest.warns(DataWarning):
        found = leaderboard(in_spark(spark, rows), interval="none")
    assert found.items.tolist() == ["c", "d", "e", "a", "b"]
    assert found.rank.tolist() == [1, 2, 3, 1, 1]
    assert (found.group.tolist(), found.without_games.tolist()) == ([1, 1, 1, 2, 2], ["u"])


def test_a_bootstrap_of_judges_does_not_depend_on_partitions_and_is_about_that_of_one_machine(spark):
    rows = battles(3)
    options = {"by": "expert", "bootstrap": 300, "judges": False, "seed": 1}
    boards = [leaderboard(in_spark(spark, rows, parts), columns={"expert": "judge"}, **options) for parts in (1, 5)]
    assert_same_board(boards[0], boards[1], 1e-9)
    other = leaderboard(in_spark(spark, rows), columns={"expert": "judge"}, **{**options, "seed": 2})
    assert not np.allclose(other.low, boards[0].low)
    expected = on_one_machine(rows, **options)
    assert_same_board_without_intervals(boards[0], expected)
    widths, wanted = (board.high - board.low for board in (boards[0], expected))
    assert (widths / wanted).mean() == pytest.approx(1.0, abs=0.15)  # the standard error is about 0.03


def assert_same_board_without_intervals(found, expected):
    assert found.items.tolist() == expected.items.tolist()
    np.testing.assert_allclose(found.score, expected.score, rtol=1e-6, atol=1e-6)


def test_weights_of_units_are_poisson_numbers_of_their_hashes():
    units = np.random.default_rng(0).integers(0, 2**64, 20_000, dtype=np.uint64)
    weights = np.array([poisson_weights(units, k) for k in range(4)])
    again = poisson_weights(units[::-1], 2)[::-1]
    assert (weights[2] == again).all()
    assert weights.mean() == pytest.approx(1.0, abs=0.02)
    assert weights.var() == pytest.approx(1.0, abs=0.04)
    assert (weights == 0).mean() == pytest.approx(np.exp(-1), abs=0.01)
    assert (weights == 3).mean() == pytest.approx(np.exp(-1) / 6, abs=0.005)
    together = np.corrcoef(weights)
    assert np.abs(together - np.eye(4)).max() < 0.03
    assert abs(np.corrcoef(weights[0][:-1], weights[0][1:])[0, 1]) < 0.03


def test_rows_that_are_skipped_are_counted_row_by_row(spark):
    rows = battles(4, n=100)
    broken = pl.concat([rows, *3 * [rows.head(1).with_columns(winner=pl.lit("both of them"))]])
    with pytest.warns(DataWarning, match="3 of 103 comparisons skipped: those with an unknown winner"):
        found = leaderboard(in_spark(spark, broken), interval="none")
    assert_same_board(found, on_one_machine(rows, interval="none"), 1e-6)


def test_each_mistake_has_one_clear_message(spark):
    rows = battles(5, n=30)
    df = in_spark(spark, rows, 1)
    for bad, options, text in (
        (df.limit(0), {}, "has no rows"),
        (df.drop("right"), {}, "comparisons need a column 'right'"),
        (df.drop("judge"), {"by": "expert"}, "by='expert' needs a column 'expert'"),
        (in_spark(spark, rows.with_columns(weight=pl.lit(-1.0))), {}, "finite numbers >= 0, and 30 are not"),
        (in_spark(spark, rows.with_columns(right="left")), {}, "no comparison is left"),
        (rows, {}, "must be a DataFrame of Spark, got DataFrame"),
    ):
        with pytest.raises(DataError, match=text):
            leaderboard(bad, **options)
    with pytest.raises(ParameterError, match="interval of a leaderboard must be one of"):
        leaderboard(df, interval="exact")
