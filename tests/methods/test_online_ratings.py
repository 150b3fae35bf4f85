"""Online ratings against the peers that define them, game by game."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.data.build import from_dicts, from_orders
from juryrank.errors import DataError
from juryrank.methods import METHODS, Elo, TrueSkill, WengLin

GAMES = [["a", "b"], ["b", "c"], ["c", "a"], [("a", "c")], ["d", "a"], ["b", "d"], [("c", "d")], ["a", "b"]]
LISTS = [["a", "b", "c", "d"], ["d", ("b", "a"), "c"], [("c", "d"), "e"], ["e", "b"], [("a", "b", "c")]]
games = st.lists(st.permutations("abcde").flatmap(lambda p: st.integers(2, 5).map(lambda n: p[:n])), max_size=8)


def played(method, lists):
    stream = method.stream()
    for game in lists:
        stream.update(game)
    return stream


def ranks_of(game):
    """Items and the rank of each, 0 for the first."""
    groups = [place if isinstance(place, tuple) else (place,) for place in game]
    return [(item, rank) for rank, group in enumerate(groups) for item in group]


def test_elo_agrees_with_evalica():
    evalica = pytest.importorskip("evalica")
    sides = [[item for item, _ in ranks_of(game)] for game in GAMES]
    wins = [evalica.Winner.Draw if isinstance(game[0], tuple) else evalica.Winner.X for game in GAMES]
    theirs = evalica.elo([s[0] for s in sides], [s[1] for s in sides], wins, k=20.0)
    assert played(Elo(k=20.0), GAMES).ratings() == pytest.approx(theirs.scores.to_dict())


@pytest.mark.parametrize(
    ("model", "theirs"), [("plackett-luce", "PlackettLuce"), ("bradley-terry", "BradleyTerryFull")]
)
def test_weng_lin_agrees_with_openskill(model, theirs):
    openskill = pytest.importorskip("openskill.models")
    peer = getattr(openskill, theirs)()
    rated = {item: peer.rating() for item in "abcde"}
    for game in LISTS:
        order = ranks_of(game)
        moved = peer.rate([[rated[item]] for item, _ in order], ranks=[rank for _, rank in order])
        rated.update({item: team[0] for (item, _), team in zip(order, moved, strict=True)})
    stream = played(WengLin(model=model), LISTS)
    assert stream.ratings() == pytest.approx({item: rating.mu for item, rating in rated.items()})
    for item in "abcde":
        assert stream.spread(item) == pytest.approx(rated[item].sigma)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_trueskill_agrees_with_the_package_of_that_name():
    trueskill = pytest.importorskip("trueskill")
    env = trueskill.TrueSkill(draw_probability=1e-5)
    strict = [["a", "b"], ["c", "a", "b"], ["d", "c", "b", "a"], ["b", "e"], ["e", "d", "c", "b", "a"]]
    for lists, tolerance in ((strict, 2e-4), ([*strict, [("a", "b")], [("c", "d")], ["e", "a"]], 5e-3)):
        rated = {item: env.create_rating() for item in "abcde"}
        for game in lists:
            order = ranks_of(game)
            moved = env.rate([(rated[item],) for item, _ in order], [rank for _, rank in order], min_delta=1e-9)
            rated.update({item: team[0] for (item, _), team in zip(order, moved, strict=True)})
        stream = played(TrueSkill(), lists)
        assert stream.ratings() == pytest.approx({item: r.mu for item, r in rated.items()}, abs=tolerance)
        for item in "abcde":
            assert stream.spread(item) == pytest.approx(rated[item].sigma, abs=tolerance)


def test_trueskill_of_one_list_has_the_moments_of_the_true_posterior():
    """Skills given that performances stood in an order, by drawing them; tied ones performed alike."""
    rng = np.random.default_rng(0)
    skill = rng.normal(25, 25 / 3, (400_000, 3))
    shown = skill + rng.normal(0, 25 / 6, skill.shape)
    kept = skill[(shown[:, 0] > shown[:, 1]) & (shown[:, 1] > shown[:, 2])]
    stream = played(TrueSkill(drift=0), [["a", "b", "c"]])
    assert [stream.ratings()[item] for item in "abc"] == pytest.approx(kept.mean(0), abs=0.15)
    assert [stream.spread(item) for item in "abc"] == pytest.approx(kept.std(0), abs=0.15)


@pytest.mark.parametrize("name", ["elo", "trueskill", "weng-lin"])
def test_a_stream_and_a_data_set_give_the_same_ratings(name):
    method = METHODS[name]()
    assert played(method, LISTS).ratings() == pytest.approx(method.fit_predict(from_orders(LISTS)).to_dict()["all"])
    stream = method.stream()
    stream.update(from_orders(LISTS))
    assert stream.ratings() == pytest.approx(played(method, LISTS).ratings())


@pytest.mark.parametrize("name", ["elo", "trueskill", "weng-lin"])
def test_a_weight_is_that_many_games_in_a_row(name):
    method = METHODS[name]()
    twice = method.fit_predict(from_orders([["a", "b"], ["b", "c"]], weights=[2, 1])).to_dict()
    assert twice["all"] == pytest.approx(played(method, [["a", "b"], ["a", "b"], ["b", "c"]]).ratings())


@pytest.mark.parametrize(
    "method", [TrueSkill(drift=2.0), WengLin(drift=2.0), WengLin(model="bradley-terry", drift=2.0)]
)
@pytest.mark.parametrize("part", [0.25, 0.7])
def test_part_of_a_game_moves_beliefs_by_that_part(method, part):
    """Variance grows by that part of the drift; from there a whole game says what the part is a part of."""
    game = ["a", "b", "c"]
    whole = played(replace(method, drift=method.drift * part**0.5), [game])
    stream = method.stream()
    stream.update(game, weight=part)
    data = method.fit_predict(from_orders([game], weights=[part])).to_dict()["all"]
    variance = method.spread**2 + part * method.drift**2
    for item in game:
        mean = method.mean + part * (whole.ratings()[item] - method.mean)
        left = variance * (1 - part * (1 - whole.spread(item) ** 2 / variance))
        assert stream.ratings()[item] == pytest.approx(mean)
        assert data[item] == pytest.approx(mean)
        assert stream.spread(item) == pytest.approx(left**0.5)


def test_two_and_a_half_games_of_elo_by_hand():
    lead = 0.0
    for part in (1.0, 1.0, 0.5):
        lead += 2 * part * 32 * (1 - 1 / (1 + 10 ** (-lead / 400)))
    stream = Elo(k=32).stream()
    stream.update(["a", "b"], weight=2.5)
    assert stream.ratings() == pytest.approx({"a": 1000 + lead / 2, "b": 1000 - lead / 2})
    data = Elo(k=32).fit_predict(from_orders([["a", "b"]], weights=[2.5])).to_dict()["all"]
    assert data == pytest.approx(stream.ratings())


@pytest.mark.parametrize("name", ["elo", "trueskill", "weng-lin"])
@pytest.mark.parametrize("weight", [1.1e6, 1e12, 2.0**53, 1e40])
def test_a_weight_of_too_many_games_is_refused(name, weight):
    data, method = from_orders([["a", "b"], ["b", "c"]], weights=[1, weight]), METHODS[name]()
    for play in (lambda: method.fit_predict(data), lambda: method.stream().update(data)):
        with pytest.raises(DataError, match=r"up to 1000000 comparisons.* expert '2' in query 'all' has weight"):
            play()
    with pytest.raises(DataError, match="a weight from 0 to 1000000"):
        method.stream().update(["a", "b"], weight=weight)


def test_a_weight_of_an_expert_counts_towards_the_limit():
    with pytest.raises(DataError, match="divide the weights"):
        Elo(weights={"1": 1e9}).fit_predict(from_orders([["a", "b"]]))


def test_many_weights_are_refused_together():
    with pytest.raises(DataError, match="100000000 for all lists"):
        Elo().fit_predict(from_orders([["a", "b"]] * 101, weights=[1e6] * 101))


def test_ratings_do_not_depend_on_where_play_may_be_interrupted():
    """Lists are played a million games at a time; the ratings go on where they stopped."""
    orders, weights = [["a", "b"], ["b", "c", "a"], ["c", "a"]] * 2, [6e5, 1.5, 3e5, 1e5, 2, 5e5]
    stream = Elo().stream()
    for order, weight in zip(orders, weights, strict=True):
        stream.update(order, weight)
    data = from_dicts({"e": {"q": ["x", "y"]}, "f": {"q": ["y", "x"], "r": ["a", "b"]}})
    assert Elo().fit_predict(from_orders(orders, weights=weights)).to_dict()["all"] == pytest.approx(stream.ratings())
    alone = {q: Elo().fit_predict(data[q]).to_dict()[q] for q in ("q", "r")}
    assert Elo().fit_predict(data).to_dict() == alone


@settings(max_examples=30, deadline=None)
@given(games)
def test_elo_points_are_neither_made_nor_lost(lists):
    ratings = played(Elo(), lists).ratings()
    assert sum(ratings.values()) == pytest.approx(1000 * len(ratings))


@settings(max_examples=30, deadline=None)
@given(games)
def test_a_game_never_makes_skills_less_certain_without_drift(lists):
    for method in (TrueSkill(drift=0), WengLin(drift=0)):
        stream = method.stream()
        for game in lists:
            before = [stream.spread(item) for item in game]
            stream.update(game)
            assert all(stream.spread(item) <= b + 1e-12 for item, b in zip(game, before, strict=True))


def test_caution_lowers_ratings_by_spreads():
    data = random_dataset(4)
    plain, careful = WengLin().fit_predict(data), WengLin(caution=3).fit_predict(data)
    assert (careful.scores < plain.scores).all()


def test_many_items_may_join_a_stream():
    stream = played(Elo(), [[f"i{n}", f"i{n + 1}"] for n in range(500)])
    assert len(stream.ratings()) == 501


@pytest.mark.parametrize("game", ["ab", ["a", "a"], ["a", ("b", "a")]])
def test_games_that_make_no_sense_are_refused(game):
    with pytest.raises(DataError, match="game"):
        Elo().stream().update(game)


def test_elo_by_hand():
    stream = played(Elo(k=32), [["a", "b"]])
    assert stream.ratings() == {"a": 1016.0, "b": 984.0}
    assert_allclose(Elo().chance(400.0), 10 / 11)
