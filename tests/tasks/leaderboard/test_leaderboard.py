"""Leaderboards: intervals that hold the truth, the bootstrap that is a bootstrap, and every way out."""

import csv
import io
import json
import pickle

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import juryrank
from juryrank.data.build import from_orders
from juryrank.errors import ParameterError
from juryrank.methods import BradleyTerry, PlackettLuce, method
from juryrank.tasks.leaderboard import leaderboard
from juryrank.tasks.leaderboard.bootstrap import bootstrap_scores
from juryrank.tasks.leaderboard.pool import fit_pooled, pool_queries

STRENGTH = np.array([1.2, 0.6, 0.2, 0.0, -0.5, -1.5])
NAMES = [f"m{n}" for n in range(len(STRENGTH))]


def battle_frame(seed, n=400, ties=0.1, experts=3):
    rng = np.random.default_rng(seed)
    rows = []
    for k in range(n):
        i, j = rng.choice(len(STRENGTH), 2, replace=False)
        won = "left" if rng.random() < expit(STRENGTH[i] - STRENGTH[j]) else "right"
        rows.append((NAMES[i], NAMES[j], "tie" if rng.random() < ties else won, f"judge{k % experts}", f"p{k % 50}"))
    return pl.DataFrame(rows, schema=["left", "right", "winner", "expert", "query"], orient="row")


@pytest.fixture(scope="module")
def battles():
    return juryrank.read(battle_frame(0))


def test_items_stand_by_score_with_their_games_wins_and_ties(battles):
    board = leaderboard(battles, bootstrap=50)
    frame = battle_frame(0)
    assert (np.diff(board.score) <= 0).all()
    for n, item in enumerate(board.items):
        played = frame.filter((pl.col("left") == item) | (pl.col("right") == item))
        won = pl.when(pl.col("winner") == "left").then("left").when(pl.col("winner") == "right").then("right")
        assert board.games[n] == played.height
        assert board.ties[n] == (played["winner"] == "tie").sum()
        assert board.wins[n] == (played.select(won.alias("w"))["w"] == item).sum()


def test_queries_are_pooled_by_the_names_of_items(battles):
    one_query = juryrank.read(battle_frame(0).drop("query"))
    assert len(battles) > 1
    for name in ("bradley-terry", "thurstone"):
        ours, alone = leaderboard(battles, name, interval="none"), method(name).fit_predict(one_query).to_dict()["all"]
        assert dict(zip(ours.items, ours.score, strict=True)) == pytest.approx(alone, abs=1e-7)


@pytest.mark.parametrize("interval", ["bootstrap", "fisher", "sandwich"])
@pytest.mark.parametrize("chosen", [BradleyTerry(), BradleyTerry(ties="davidson"), PlackettLuce(prior=0.1)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(interval, chosen):
    held = []
    for seed in range(12):
        board = leaderboard(
            juryrank.read(battle_frame(seed, ties=0.0, experts=1)), chosen, interval=interval, bootstrap=200, level=0.8
        )
        truth = dict(zip(NAMES, STRENGTH - STRENGTH.mean(), strict=True))
        held += [board.low[n] <= truth[item] <= board.high[n] for n, item in enumerate(board.items)]
    assert 0.68 < np.mean(held) < 0.92


@pytest.mark.parametrize("chosen", ["bradley-terry", "plackett-luce", "thurstone"])
def test_three_ways_to_an_interval_agree_on_independent_comparisons(chosen):
    data = juryrank.read(battle_frame(1, n=3000, ties=0.0, experts=1))
    widths = {}
    for interval in ("bootstrap", "fisher", "sandwich"):
        board = leaderboard(data, chosen, interval=interval, bootstrap=600)
        widths[interval] = (board.high - board.low).mean()
    assert_allclose(list(widths.values()), widths["fisher"], rtol=0.08)


def test_experts_that_say_everything_many_times_over_widen_intervals_by_expert():
    """Each judge repeats its few opinions: what looks like 600 comparisons is 20 judges."""
    rng = np.random.default_rng(0)
    rows = []
    for k in range(20):
        opinion = STRENGTH + rng.normal(0, 1.5, len(STRENGTH))
        for _ in range(30):
            i, j = rng.choice(len(STRENGTH), 2, replace=False)
            rows.append((NAMES[i], NAMES[j], "left" if opinion[i] > opinion[j] else "right", f"judge{k}"))
    data = juryrank.read(pl.DataFrame(rows, schema=["left", "right", "winner", "expert"], orient="row"))
    for interval in ("bootstrap", "sandwich"):
        alone = leaderboard(data, interval=interval, bootstrap=200)
        together = leaderboard(data, interval=interval, by="expert", bootstrap=200)
        assert (together.high - together.low).mean() > 1.2 * (alone.high - alone.low).mean()


def test_the_fast_resamples_have_the_spread_of_slow_ones(battles):
    r = pool_queries(battles.rankings)
    fit = fit_pooled(BradleyTerry(), r, None)
    fast = bootstrap_scores(fit, 400, 0)
    rng = np.random.default_rng(1)
    comparison = np.repeat(np.arange(r.n_lists), r.list_weight.astype(int))
    slow = []
    for _ in range(150):
        weight = np.bincount(rng.choice(comparison, len(comparison)), minlength=r.n_lists).astype(float)
        slow.append(BradleyTerry().fit_predict(juryrank.data.rankings.replace(r, list_weight=weight)).scores)
    assert_allclose(fast.std(0), np.std(slow, axis=0), rtol=0.25)
    assert_allclose(fast.mean(0), np.mean(slow, axis=0), atol=0.08)


def test_resamples_follow_the_seed_and_not_the_threads(battles, monkeypatch):
    boards = []
    for n_threads in ("1", "3"):
        monkeypatch.setenv("JURYRANK_THREADS", n_threads)
        boards.append(leaderboard(battles, bootstrap=30, seed=5, judges=False))
    assert boards[0].low.tolist() == boards[1].low.tolist()
    assert leaderboard(battles, bootstrap=30, seed=6, judges=False).low.tolist() != boards[0].low.tolist()


def test_any_method_without_labels_has_a_bootstrap():
    data = from_orders([["a", "b", "c"], ["b", "a", "c"], ["a", "c", "b"]], weights=[5, 3, 2])
    for name in ("borda", "elo", "kemeny", "hodge-rank"):
        board = leaderboard(data, name, bootstrap=20)
        assert board.items[0] == "a"
        assert (board.low <= board.high).all()


def test_rank_intervals_hold_the_rank_and_clear_gaps_make_them_single(battles):
    for interval in ("bootstrap", "fisher"):
        board = leaderboard(battles, interval=interval, bootstrap=200)
        rank = np.arange(1, len(board) + 1)
        assert ((board.best_rank <= rank) & (rank <= board.worst_rank)).all()
        assert board.best_rank[-1] == board.worst_rank[-1] == len(board), "the last one is far behind"


def test_of_many_judges_the_table_shows_both_ends_and_json_all():
    board = leaderboard(juryrank.read(battle_frame(1, n=300, experts=25)), interval="none")
    judges = board.tables()[1]
    named = [row[0] for row in judges.rows]
    assert named == [*(j.name for j in board.judges[:10]), "…", *(j.name for j in board.judges[-10:])]
    assert "5 judges in between" in judges.note
    assert len(board.to_dict()["judges"]) == 25


def test_judges_are_told_apart():
    frame = battle_frame(2, n=900, ties=0.0)
    turned = pl.when(pl.col("expert") == "judge2").then(
        pl.col("winner").replace_strict({"left": "right", "right": "left"})
    )
    data = juryrank.read(frame.with_columns(winner=turned.otherwise("winner")))
    judges = {judge.name: judge for judge in leaderboard(data, interval="none").judges}
    assert judges["judge0"].comparisons == 300
    assert judges["judge2"].agreement < 0.5 < judges["judge0"].agreement
    assert judges["judge2"].reliability < 0.4 < 0.8 < judges["judge0"].reliability
    assert leaderboard(from_orders([["a", "b"]]), bootstrap=5).judges == ()


def test_points_and_chances(battles):
    plain, points = (leaderboard(battles, interval="none", elo=elo) for elo in (False, True))
    assert_allclose(points.score, 1000 + 400 / np.log(10) * plain.score)
    assert_allclose(points.win_probability(), plain.win_probability())
    assert_allclose(plain.win_probability() + plain.win_probability().T, 1)
    assert plain.win_probability()[0, -1] == pytest.approx(expit(plain.score[0] - plain.score[-1]))


def test_chances_under_rao_and_kupper_leave_ties_aside(battles):
    board = leaderboard(battles, BradleyTerry(ties="rao-kupper"), interval="none")
    theta = BradleyTerry(ties="rao-kupper").fit_predict(pool_queries(battles.rankings)).details["tie"][0]
    p, q = np.exp(board.score[0]), np.exp(board.score[-1])
    win, lose = p / (p + theta * q), q / (q + theta * p)
    assert board.win_probability()[0, -1] == pytest.approx(win / (win + lose))


def test_every_way_out_says_the_same(battles):
    board = leaderboard(battles, bootstrap=20)
    rows = list(csv.DictReader(io.StringIO(board.render("csv"))))
    loaded = json.loads(board.render("json"))
    assert [row["item"] for row in rows] == board.items.tolist() == [row["item"] for row in loaded["items"]]
    assert [float(row["low"]) for row in rows] == board.low.tolist() == board.to_frame()["low"].to_list()
    assert "judge1" in str(board)
    assert all(str(item) in board.render("html") for item in board.items)


def test_pictures_are_drawn(battles, tmp_path):
    pytest.importorskip("matplotlib")
    board = leaderboard(battles, bootstrap=20)
    board.plot(tmp_path / "intervals.png")
    board.plot_wins(tmp_path / "wins.svg")
    assert (tmp_path / "intervals.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "wins.svg").read_bytes()


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"interval": "guess"}, "interval of a leaderboard must be one of"),
        ({"by": "day"}, "by of a leaderboard must be one of"),
        ({"level": 1.5}, "level"),
        ({"bootstrap": 1}, "at least 2"),
        ({"method": "borda", "interval": "fisher"}, "borda has no likelihood"),
        ({"method": "borda", "elo": True}, "not log odds"),
    ],
)
def test_what_makes_no_sense_is_refused(battles, wrong, complaint):
    with pytest.raises(ParameterError, match=complaint):
        leaderboard(battles, **wrong)


@pytest.mark.parametrize("elo", [False, True])
def test_a_leaderboard_can_be_pickled(battles, elo):
    board = juryrank.leaderboard(battles, bootstrap=10, elo=elo)
    again = pickle.loads(pickle.dumps(board))
    assert str(again) == str(board)
    assert_allclose(again.chance(np.array([0.0, 1.0])), board.chance(np.array([0.0, 1.0])), rtol=0)
