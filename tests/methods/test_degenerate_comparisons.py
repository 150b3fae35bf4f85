"""Inputs on which naive models of strengths diverge: each gives a finite, documented result."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from test_strengths import battles

from conftest import random_dataset
from juryrank.data.build import from_orders
from juryrank.methods import METHODS, BradleyTerry, CrowdBT, GeneralisedMallows, Mallows, PlackettLuce, method
from juryrank.methods.pairwise.coset import Coset
from juryrank.methods.ratings._base import Online
from juryrank.methods.strengths.multinomial import Multinomial
from juryrank.methods.strengths.strengths import Strength
from juryrank.tasks.leaderboard import leaderboard

ORDERS = (Coset, Mallows, GeneralisedMallows)  # models of orders: of items that are level, one is still first
MODELS = [name for name in METHODS if issubclass(METHODS[name], (Strength, Online, Multinomial, CrowdBT, *ORDERS))]
VARIANTS = [
    *((name, {}) for name in MODELS),
    *(("bradley-terry", {"ties": ties}) for ties in ("davidson", "rao-kupper")),
    *(("svp", {"unknown": 0.1, "flow": flow}) for flow in ("order", "difference", "log-rank")),
    *(("hodge-rank", {"flow": flow}) for flow in ("order", "rank")),
    *(("mpm", params) for params in ({"variances": True}, {"theta": "learned"}, {"counts": "once"})),
    *(("theta-mpm", params) for params in ({"variances": True}, {"theta": "agreement"})),
    *((name, {"distance": d}) for name in ("cps", "theta-cps") for d in ("spearman", "footrule")),
]
EDGES = {
    "undefeated": [("a", "b", False, 50), ("b", "c", False, 3), ("c", "b", False, 2), ("a", "c", False, 9)],
    "apart": [("a", "b", False, 4), ("b", "a", False, 1), ("x", "y", False, 2), ("y", "z", True, 1)],
    "ties": [("a", "b", True, 3), ("b", "c", True, 3), ("a", "c", True, 3)],
    "cycle": [("a", "b", False, 5), ("b", "c", False, 5), ("c", "a", False, 5)],
    "nothing": [("a", "b", False, 0)],
}
PLAYED = [edge for edge in EDGES if edge != "nothing"]  # with at least one game, which a leaderboard needs
every_model = pytest.mark.parametrize(("name", "params"), VARIANTS)


def scores(name, data, **params):
    model = method(name, **params)
    taught = random_dataset(1) if METHODS[name].supervised else data
    return (
        model.fit(taught).predict(data, warn_unknown=False).to_dict()["all"]
    )  # of experts that it does not know, without a warning


def levels(name):
    """Whether the model gives items the same score when the data say nothing else, whatever came first."""
    return not issubclass(METHODS[name], (*ORDERS, Online))


def test_every_model_that_the_issue_of_strengths_names_is_here():
    assert set(MODELS) == {
        "bradley-terry", "thurstone", "plackett-luce", "plackett-luce-gamma", "elo", "trueskill", "weng-lin",
        "hodge-rank", "svp", "rank-centrality", "crowd-bt", "mallows", "generalised-mallows", "cps", "theta-cps",
        "mpm", "theta-mpm",
    }  # fmt: skip


@every_model
def test_an_undefeated_item_is_first_and_finite(name, params):
    out = scores(name, battles(EDGES["undefeated"]), **params)
    assert max(out, key=out.get) == "a"
    assert np.isfinite(list(out.values())).all()


@every_model
def test_groups_that_never_meet_are_finite_and_keep_their_own_order(name, params):
    out = scores(name, battles(EDGES["apart"]), **params)
    assert np.isfinite(list(out.values())).all()
    assert out["a"] > out["b"]
    if "distance" not in params:  # distances of places count where a list leaves an item out
        assert out["x"] > out["y"]


def test_each_group_of_bradley_terry_and_plackett_luce_has_mean_zero():
    data = battles(EDGES["apart"])
    for name in ("bradley-terry", "plackett-luce", "thurstone", "hodge-rank"):
        out = scores(name, data)
        assert out["a"] + out["b"] == pytest.approx(0, abs=1e-9)
        assert out["x"] + out["y"] + out["z"] == pytest.approx(0, abs=1e-9)


@every_model
def test_a_single_item_has_a_finite_score(name, params):
    assert np.isfinite(list(scores(name, from_orders([["a"], ["a"]]), **params).values())).all()


@every_model
def test_all_ties_leave_all_items_level(name, params):
    values = np.array(list(scores(name, battles(EDGES["ties"]), **params).values()))
    assert np.isfinite(values).all()
    if levels(name) or name in ("elo", "trueskill", "weng-lin"):
        assert_allclose(values, values.mean(), atol=1e-9)


@every_model
def test_a_cycle_leaves_all_items_level(name, params):
    values = np.array(list(scores(name, battles(EDGES["cycle"]), **params).values()))
    assert np.isfinite(values).all()
    if levels(name):
        assert_allclose(values, values.mean(), atol=1e-7)


@every_model
def test_comparisons_of_weight_zero_say_nothing(name, params):
    rows = [("a", "b", False, 2), ("b", "a", False, 1)]
    beside = scores(name, battles([*rows, ("b", "a", False, 0)]), **params)
    assert beside == scores(name, battles(rows), **params)
    nothing = scores(name, battles(EDGES["nothing"]), **params)
    assert np.isfinite(list(nothing.values())).all()
    if levels(name):
        assert nothing["a"] == nothing["b"]


@pytest.mark.filterwarnings("ignore:2 groups of items never met:juryrank.errors.DataWarning")
@pytest.mark.parametrize("edge", PLAYED)
@pytest.mark.parametrize("name", [name for name in MODELS if not METHODS[name].supervised])
def test_a_leaderboard_has_finite_scores_and_intervals_by_every_model(name, edge):
    board = leaderboard(battles(EDGES[edge]), name, bootstrap=10)
    assert len(board) == len({item for row in EDGES[edge] for item in row[:2]})
    for values in (board.score, board.low, board.high):
        assert np.isfinite(values).all()
    assert (board.low <= board.high).all()
    if edge == "undefeated":
        assert board.items[0] == "a"


@pytest.mark.filterwarnings("ignore:2 groups of items never met:juryrank.errors.DataWarning")
@pytest.mark.parametrize("edge", PLAYED)
@pytest.mark.parametrize("interval", ["fisher", "sandwich"])
@pytest.mark.parametrize("name", ["bradley-terry", "plackett-luce", "thurstone"])
def test_intervals_from_the_likelihood_are_finite_at_the_edges(name, interval, edge):
    board = leaderboard(battles(EDGES[edge]), name, interval=interval)
    assert np.isfinite(board.low).all()
    assert np.isfinite(board.high).all()


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
