"""Inputs on which naive models of strengths diverge: each gives a finite, documented result."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_strengths import battles

from juryrank.data.build import from_orders
from juryrank.methods import METHODS, BradleyTerry, PlackettLuce, method

MODELS = [
    "bradley-terry", "thurstone", "plackett-luce", "plackett-luce-gamma", "elo", "trueskill", "weng-lin",
    "hodge-rank", "svp", "rank-centrality", "crowd-bt",
]  # fmt: skip
ONLINE = {"elo", "trueskill", "weng-lin"}  # order of the games matters to them
every_model = pytest.mark.parametrize("name", MODELS)


def scores(name, data, **params):
    return method(name, **params).fit_predict(data).to_dict()["all"]


def test_the_list_above_names_every_model_of_strengths():
    assert set(MODELS) <= set(METHODS)


@every_model
def test_an_undefeated_item_is_first_and_finite(name):
    out = scores(
        name, battles([("a", "b", False, 50), ("b", "c", False, 3), ("c", "b", False, 2), ("a", "c", False, 9)])
    )
    assert max(out, key=out.get) == "a"
    assert np.isfinite(list(out.values())).all()


@every_model
def test_groups_that_never_meet_are_finite_and_keep_their_own_order(name):
    out = scores(name, battles([("a", "b", False, 4), ("b", "a", False, 1), ("x", "y", False, 2), ("y", "z", True, 1)]))
    assert np.isfinite(list(out.values())).all()
    assert out["a"] > out["b"]
    assert out["x"] > out["y"]


def test_each_group_of_bradley_terry_and_plackett_luce_has_mean_zero():
    data = battles([("a", "b", False, 4), ("b", "a", False, 1), ("x", "y", False, 2), ("y", "z", True, 1)])
    for name in ("bradley-terry", "plackett-luce", "thurstone", "hodge-rank"):
        out = scores(name, data)
        assert out["a"] + out["b"] == pytest.approx(0, abs=1e-9)
        assert out["x"] + out["y"] + out["z"] == pytest.approx(0, abs=1e-9)


@every_model
def test_a_single_item_has_a_finite_score(name):
    assert np.isfinite(list(scores(name, from_orders([["a"], ["a"]])).values())).all()


@every_model
@pytest.mark.parametrize("ties", ["half", "davidson", "rao-kupper"])
def test_all_ties_leave_all_items_level(name, ties):
    params = {"ties": ties} if name == "bradley-terry" else {}
    out = scores(name, battles([("a", "b", True, 3), ("b", "c", True, 3), ("a", "c", True, 3)]), **params)
    assert_allclose(list(out.values()), np.mean(list(out.values())), atol=1e-9)


@every_model
def test_a_cycle_leaves_all_items_level(name):
    out = scores(name, battles([("a", "b", False, 5), ("b", "c", False, 5), ("c", "a", False, 5)]))
    values = np.array(list(out.values()))
    assert np.isfinite(values).all()
    if name not in ONLINE:
        assert_allclose(values, values.mean(), atol=1e-7)


@every_model
def test_comparisons_of_weight_zero_say_nothing(name):
    rows = [("a", "b", False, 2), ("b", "a", False, 1)]
    assert scores(name, battles([*rows, ("b", "a", False, 0)])) == scores(name, battles(rows))
    nothing = scores(name, battles([("a", "b", False, 0)]))
    assert nothing["a"] == nothing["b"]


def test_a_whitewash_grows_with_the_logarithm_of_the_games_only():
    lead = [np.ptp(list(scores("bradley-terry", battles([("a", "b", False, n)])).values())) for n in (1, 100, 10_000)]
    assert lead[0] < lead[1] < lead[2] < 20


def test_huge_and_tiny_weights_converge():
    for scale in (1e-6, 1.0, 1e9):
        rows = [("a", "b", False, 3 * scale), ("b", "a", False, 1 * scale), ("b", "c", True, 2 * scale)]
        for model in (BradleyTerry(prior=1e-3 * scale), PlackettLuce(prior=1e-3 * scale)):
            out = model.fit_predict(battles(rows)).to_dict()["all"]
            assert out["a"] - out["b"] == pytest.approx(np.log(3), rel=0.01)


def test_a_long_chain_of_whitewashes_is_ordered():
    n = 60
    out = scores("bradley-terry", battles([(f"i{k:02d}", f"i{k + 1:02d}", False, 10) for k in range(n)]), prior=1e-4)
    assert list(out) == [f"i{k:02d}" for k in range(n + 1)]
