"""Intervals of leaderboards: coverage of the defaults, and weights of experts beside numbers of lists."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from juryrank.data.build import from_orders
from juryrank.data.comparisons import from_pairs
from juryrank.errors import ParameterError
from juryrank.methods import BradleyTerry, PlackettLuce, Thurstone
from juryrank.methods import method as make
from juryrank.tasks.leaderboard import leaderboard
from juryrank.tasks.leaderboard.bootstrap import bootstrap_scores
from juryrank.tasks.leaderboard.information import covariance
from juryrank.tasks.leaderboard.pool import fit_pooled, pool_queries

WEAK = 1e-7  # a prior that does not matter
WEIGHT = {"1": 0.5, "2": 1.0, "3": 4.0}


def random_orders(rng, strength, n_lists, length, noise="gumbel"):
    """Rankings of some items by strength plus noise: Plackett–Luce, and Thurstone with normal noise."""
    orders = []
    for _ in range(n_lists):
        items = rng.choice(len(strength), length, replace=False)
        worth = strength[items] + (rng.gumbel(size=length) if noise == "gumbel" else rng.normal(0, 0.5**0.5, length))
        orders.append([f"i{k}" for k in items[np.argsort(-worth)]])
    return orders


def coverage(name, interval, n_items, n_lists, length, boards=30):
    """Share of the 95 % intervals of a method with default parameters that hold the true strength."""
    held = []
    for seed in range(boards):
        rng = np.random.default_rng(seed)
        strength = rng.normal(0, 0.6 if name == "thurstone" else 1.0, n_items)
        noise = "normal" if name == "thurstone" else "gumbel"
        data = from_orders(random_orders(rng, strength, n_lists, length, noise))
        board = leaderboard(data, name, interval=interval, bootstrap=200, judges=False)
        truth = (strength - strength.mean())[[int(item[1:]) for item in board.items]]
        held += ((board.low <= truth) & (truth <= board.high)).tolist()
    return np.mean(held)


@pytest.mark.parametrize("interval", ["bootstrap", "sandwich", "fisher"])
@pytest.mark.parametrize(("n_items", "n_lists", "length"), [(6, 40, 6), (6, 40, 3), (8, 150, 4)])
def test_plackett_luce_intervals_cover_by_default(interval, n_items, n_lists, length):
    assert coverage("plackett-luce", interval, n_items, n_lists, length) > 0.86


@pytest.mark.parametrize("interval", ["bootstrap", "sandwich", "fisher"])
@pytest.mark.parametrize("name", ["bradley-terry", "thurstone"])
def test_intervals_from_comparisons_cover_by_default(name, interval):
    assert coverage(name, interval, 5, 100, 2) > 0.86


@pytest.mark.parametrize("interval", ["bootstrap", "sandwich", "fisher"])
def test_intervals_cover_when_items_have_four_games_each(interval):
    """Many items never lose, so that only the prior says how far they may lead."""
    assert coverage("bradley-terry", interval, 20, 40, 2) > 0.86


@pytest.mark.parametrize("interval", ["bootstrap", "sandwich"])
def test_intervals_of_pairwise_models_cover_when_lists_are_long(interval):
    assert coverage("bradley-terry", interval, 6, 40, 6) > 0.86


@pytest.mark.parametrize("name", ["bradley-terry", "plackett-luce", "thurstone"])
def test_ballots_of_seven_to_three_give_a_chance_of_seven_in_ten(name):
    board = leaderboard(from_orders([["a", "b"], ["b", "a"]], weights=[7, 3]), name, interval="none")
    assert board.items.tolist() == ["a", "b"]
    assert board.win_probability()[0, 1] == pytest.approx(0.7, abs=0.015)


def test_the_prior_of_leaderboards_is_a_default_and_no_more():
    data = from_orders([["a", "b", "c"], ["b", "a", "c"]], weights=[7, 3])

    def scores(method):
        return leaderboard(data, method, interval="none").score.tolist()

    assert scores("plackett-luce") == scores(PlackettLuce()) == scores(PlackettLuce(prior=0.1))
    assert scores(PlackettLuce(prior=10.0)) == PlackettLuce(prior=10.0).fit_predict(data).scores.tolist()
    assert (
        PlackettLuce().fit_predict(data).scores.tolist() == PlackettLuce(prior=10.0).fit_predict(data).scores.tolist()
    )


def judged(seed=0, n=150, length=2):
    """Rankings by three judges."""
    rng = np.random.default_rng(seed)
    orders = random_orders(rng, np.array([1.0, 0.5, 0.0, -0.5, -1.0]), n, length)
    by_judge = np.arange(n, dtype=np.int32) * 3 // n
    return replace(from_orders(orders).rankings, experts=("1", "2", "3"), list_expert=by_judge)


METHODS = [BradleyTerry(prior=WEAK), Thurstone(prior=WEAK), PlackettLuce(prior=WEAK)]
DRAWN = [
    ("bootstrap", "list"),
    ("bootstrap", "expert"),
    ("sandwich", "list"),
    ("sandwich", "expert"),
    ("fisher", "list"),
]


@pytest.mark.parametrize("method", [*METHODS, BradleyTerry(prior=WEAK, ties="davidson")])
@pytest.mark.parametrize(("interval", "by"), DRAWN)
def test_the_same_weight_for_all_judges_changes_nothing(method, interval, by):
    settings = {"interval": interval, "by": by, "bootstrap": 50, "judges": False}
    ones = leaderboard(judged(), method, **settings)
    tens = leaderboard(judged(), replace(method, weights=dict.fromkeys("123", 10.0)), **settings)
    assert tens.items.tolist() == ones.items.tolist()
    for column in ("score", "low", "high", "games", "wins", "ties"):
        assert_allclose(getattr(tens, column), getattr(ones, column), atol=2e-3, err_msg=column)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("interval", ["bootstrap", "sandwich", "fisher"])
def test_ten_copies_of_each_list_are_more_data(method, interval):
    data = judged(n=300)
    copies = replace(data, list_weight=np.full(data.n_lists, 10.0))
    one, ten = (leaderboard(d, method, interval=interval, bootstrap=200, judges=False) for d in (data, copies))
    assert_allclose((ten.high - ten.low) / (one.high - one.low), 10**-0.5, rtol=0.25)
    assert ten.games.tolist() == (10 * one.games).tolist()


def plain_comparisons(data, weights):
    """Of each comparison the vector whose product with the strengths is the winner's lead, and the judge's weight."""
    r = data
    lead = np.zeros((r.n_lists, r.n_slots))
    for m in range(r.n_lists):
        best, worst = r.entry_slot[r.entry_ptr[m] : r.entry_ptr[m + 1]]
        lead[m, best], lead[m, worst] = 1.0, -1.0
    return lead, np.array([weights[r.experts[k]] for k in r.list_expert])


@pytest.mark.parametrize("method", [BradleyTerry(prior=0.3, weights=WEIGHT), PlackettLuce(prior=0.3, weights=WEIGHT)])
def test_weights_of_experts_enter_the_spread_squared(method):
    """Against the covariance written out for Bradley–Terry; Plackett–Luce is the same on comparisons."""
    data = judged()
    lead, weight = plain_comparisons(data, WEIGHT)
    fit = fit_pooled(method, pool_queries(data), None)
    win, n = expit(lead @ fit.scores), len(fit.scores)
    bread = np.linalg.inv((lead.T * (weight * win * (1 - win))) @ lead + 0.3 * np.eye(n))
    centre = np.eye(n) - 1 / n
    for robust, variance in ((True, (1 - win) ** 2), (False, win * (1 - win))):
        meat = (lead.T * (weight**2 * variance)) @ lead + 0.3 * np.eye(n)
        assert_allclose(covariance(fit, robust=robust), centre @ bread @ meat @ bread @ centre, atol=1e-9)


def test_weights_of_experts_scale_the_slopes_of_clusters():
    data, method = judged(), BradleyTerry(prior=0.3, weights=WEIGHT)
    lead, weight = plain_comparisons(data, WEIGHT)
    r = pool_queries(data)
    fit = fit_pooled(method, r, r.list_expert.astype(np.int64))
    win, n = expit(lead @ fit.scores), len(fit.scores)
    bread = np.linalg.inv((lead.T * (weight * win * (1 - win))) @ lead + 0.3 * np.eye(n))
    slopes = np.array([(lead.T * weight * (1 - win))[:, r.list_expert == k].sum(1) for k in range(3)])
    centre = np.eye(n) - 1 / n
    slow = centre @ bread @ (slopes.T @ slopes + 0.3 * np.eye(n)) @ bread @ centre
    assert_allclose(covariance(fit, robust=True), slow, atol=1e-9)


@pytest.mark.parametrize("method", [BradleyTerry(weights=WEIGHT), PlackettLuce(prior=0.1, weights=WEIGHT)])
def test_the_bootstrap_draws_lists_and_multiplies_by_the_weights_of_experts(method):
    data, rng, slow = judged(n=240), np.random.default_rng(3), []
    for _ in range(200):
        drawn = rng.multinomial(240, np.full(240, 1 / 240)).astype(float)
        slow.append(make(method.name, prior=0.1, weights=WEIGHT).fit_predict(
            replace(data, list_weight=drawn)
        ).scores)  # fmt: skip
    board = leaderboard(data, method, bootstrap=600, judges=False, level=0.68)
    spread = dict(zip(data.items, np.std(slow, axis=0), strict=True))
    assert_allclose((board.high - board.low) / 2, [spread[item] for item in board.items], rtol=0.2)


def crowd(seed, n, reliability=(0.95, 0.9, 0.8, 0.7)):
    """Comparisons by judges who say the opposite of what they see from time to time, and the true strengths."""
    rng = np.random.default_rng(seed)
    strength, better, worse = rng.normal(0, 1, 8), [], []
    for k in range(n):
        i, j = rng.choice(8, 2, replace=False)
        seen = rng.random() < expit(strength[i] - strength[j])
        told = seen == (rng.random() < reliability[k % len(reliability)])
        better.append(f"i{i if told else j}")
        worse.append(f"i{j if told else i}")
    judges = [f"j{k % len(reliability)}" for k in range(n)]
    return from_pairs(better, worse, experts=judges), strength - strength.mean()


def test_intervals_of_crowd_bt_cover_by_default():
    held = []
    for seed in range(15):
        data, truth = crowd(seed, 150)
        board = leaderboard(data, "crowd-bt", bootstrap=100, judges=False)
        truth = truth[[int(item[1:]) for item in board.items]]
        held += ((board.low <= truth) & (truth <= board.high)).tolist()
    assert np.mean(held) > 0.86


def test_the_bootstrap_learns_the_reliability_of_judges_anew():
    data, rng, slow = crowd(0, 200)[0], np.random.default_rng(1), []
    for _ in range(150):
        drawn = rng.multinomial(200, np.full(200, 1 / 200)).astype(float)
        slow.append(make("crowd-bt").fit_predict(replace(data.rankings, list_weight=drawn)).scores)
    board = leaderboard(data, "crowd-bt", bootstrap=400, judges=False, level=0.68)
    low, high = np.quantile(slow, [0.16, 0.84], axis=0)
    assert_allclose((board.high - board.low).sum(), (high - low).sum(), rtol=0.25)


def test_a_judge_of_weight_zero_plays_no_games():
    data = judged()
    others = data.keep_lists(data.list_expert != 2)
    silent = leaderboard(data, BradleyTerry(weights={"3": 0.0}), interval="sandwich", judges=False)
    alone = leaderboard(others, BradleyTerry(), interval="sandwich", judges=False)
    for column in ("score", "low", "high", "games"):
        assert_allclose(getattr(silent, column), getattr(alone, column), err_msg=column)


@pytest.mark.parametrize("by", ["expert", "query"])
def test_fisher_intervals_cannot_be_by_expert(by):
    with pytest.raises(ParameterError, match=f"cannot resample by {by}; use sandwich or bootstrap"):
        leaderboard(judged(), interval="fisher", by=by)


@pytest.mark.parametrize("method", [BradleyTerry(), Thurstone(), BradleyTerry(missing="last")])
def test_fisher_intervals_of_pairwise_models_are_refused_for_longer_lists(method):
    data = judged(length=2 if method.missing == "last" else 3)
    with pytest.raises(ParameterError, match=r"pairs of one list are dependent.*use sandwich or bootstrap"):
        leaderboard(data, method, interval="fisher")
    assert np.isfinite(leaderboard(data, method, interval="sandwich", judges=False).high).all()


@pytest.mark.parametrize(("name", "length"), [("bradley-terry", 2), ("plackett-luce", 3)])
def test_resamples_do_not_depend_on_the_number_of_threads(monkeypatch, name, length):
    rng = np.random.default_rng(3)
    data = from_orders(random_orders(rng, rng.normal(size=5), 30, length))
    fit = fit_pooled(make(name), pool_queries(data.rankings), None)
    alone = bootstrap_scores(fit, 21, seed=5)
    monkeypatch.setenv("JURYRANK_THREADS", "4")
    assert (bootstrap_scores(fit, 21, seed=5, threads_from=0) == alone).all()
    assert len(np.unique(alone, axis=0)) == 21


def test_the_interval_of_ranks_is_that_of_the_ranks_in_each_resample():
    rng = np.random.default_rng(4)
    data = from_orders(random_orders(rng, rng.normal(size=4), 12, 2))
    board = leaderboard(data, "copeland", bootstrap=50, seed=1)  # whose scores have ties
    fit = fit_pooled(make("copeland"), pool_queries(data.rankings), None)
    resamples = bootstrap_scores(fit, 50, seed=1)
    ranks = [[1 + sum(other > score for other in row) for score in row] for row in resamples.tolist()]
    assert any(len(set(row)) < len(row) for row in ranks)
    order = np.argsort(-fit.scores, kind="stable")
    low, high = np.quantile(ranks, [0.025, 0.975], axis=0, method="closest_observation")[:, order]
    assert (board.best_rank == low).all()
    assert (board.worst_rank == high).all()
