"""LambdaRankLearner: what a swap changes, gradients, and the choice of the pass."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.data import Consensus
from juryrank.data.build import from_dicts
from juryrank.errors import ParameterError
from juryrank.kernels.lambdarank import backward, forward, lambdas
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.learning.target import KINDS, Target
from juryrank.methods.learned.lambdarank_learner import LambdaRankLearner
from juryrank.methods.learned.preferences import win_values
from juryrank.methods.learned.sparse_rows import SparseRows
from juryrank.metrics import judge, parse_metric

WHOLE = ["nDCG", "nDCG(dcg='exp-log2')", "AP", "AP(rel=2)", "ERR", "RR", "P@3"]


def one_query(seed: int, n: int = 8):
    """A query whose labels ascend, as the kernels need them, with ties."""
    rng = np.random.default_rng(seed)
    label = np.sort(rng.integers(0, 4, n)).astype(float)
    items = [f"i{i:03}" for i in range(n)]
    data = from_dicts({"a": {"q": items}, "b": {"q": items[::-2]}}, labels={"q": dict(zip(items, label, strict=True))})
    return data, label, rng.normal(size=n)


def slopes(target: Target, label: np.ndarray, score: np.ndarray) -> np.ndarray:
    return pushes(target, slice(0, len(label)), target.normaliser[0], label, score)


def pushes(target: Target, here: slice, whole: float, label: np.ndarray, score: np.ndarray) -> np.ndarray:
    n, metric = len(label), (target.kind, target.cutoff, target.discount)
    room, out = (np.empty((2, n), np.int64), np.empty((7, n))), np.empty(n)
    lambdas(score, label, target.gain[here], *metric, whole, *room, out)
    return out


def value(text: str, data, score) -> float:
    return float(parse_metric(text).per_query(judge(Consensus(data.rankings, score), data))[0])


def by_hand(text: str, data, label: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The gradient, from the metric before and after each swap."""
    before, slope = value(text, data, score), np.zeros(len(label))
    for i in range(len(label)):
        for j in range(len(label)):
            if label[i] > label[j]:
                swapped = score.copy()
                swapped[i], swapped[j] = score[j], score[i]
                push = abs(value(text, data, swapped) - before) / (1 + np.exp(np.minimum(score[i] - score[j], 700)))
                slope[i] -= push
                slope[j] += push
    return slope


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("seed", range(6))
def test_pairs_weigh_what_a_swap_changes_in_the_metric(text, seed):
    data, label, score = one_query(seed)
    target = Target.of(text, np.array([0, 8]), label)
    assert_allclose(slopes(target, label, score), by_hand(text, data, label, score), atol=1e-12)


@pytest.mark.parametrize("text", ["nDCG", "ERR"])
def test_scores_of_any_size_give_the_same_gradient_as_the_definition(text):
    data, label, score = one_query(0)
    target = Target.of(text, np.array([0, 8]), label)
    for scale in (300.0, 1e5):
        assert_allclose(slopes(target, label, scale * score), by_hand(text, data, label, scale * score), atol=1e-12)


def test_the_gradient_of_many_items_is_that_of_the_formula():
    _, label, score = one_query(1, n=200)  # more than are placed by comparing all pairs
    score[::7] = 0.5  # ties: the first slot is first
    target = Target.of("nDCG", np.array([0, len(label)]), label)
    place = np.argsort(np.argsort(-score, kind="stable"))
    change = np.abs(np.subtract.outer(label, label) * np.subtract.outer(target.discount[place], target.discount[place]))
    push = change / target.normaliser[0] / (1 + np.exp(np.subtract.outer(score, score)))
    push[label[:, None] <= label] = 0.0
    assert_allclose(slopes(target, label, score), push.sum(axis=0) - push.sum(axis=1), atol=1e-12)


def kendall_loss(label: np.ndarray, score: np.ndarray) -> float:
    """The mean of the pairs' losses."""
    pairs = [(i, j) for i in range(len(label)) for j in range(len(label)) if label[i] > label[j]]
    return float(np.mean([np.log1p(np.exp(score[j] - score[i])) for i, j in pairs]))


def test_kendall_weighs_all_pairs_alike():
    _, label, score = one_query(0)
    out, step = slopes(Target.of("KendallTau", np.array([0, 8]), label), label, score), 1e-6
    for i in range(8):
        move = np.zeros(8)
        move[i] = step
        rise = kendall_loss(label, score + move) - kendall_loss(label, score - move)
        assert out[i] == pytest.approx(rise / (2 * step), abs=1e-8)


@pytest.mark.parametrize("hidden", [(), (4,), (5, 3)])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_gradient_is_that_of_the_loss_with_the_weights_of_pairs_held(hidden, activation):
    data, label, _ = one_query(3)
    rows = SparseRows.of_entries(data.rankings, ExpertGroups(data.experts), win_values(data.rankings, "log-rank"))
    net = LambdaRankLearner(hidden=hidden, activation=activation)
    weights = net.start(rows, np.random.default_rng(0)) + 0.1
    sizes, relu = net._sizes(rows), activation == "relu"
    n_units = int(sizes[1:].sum())
    target = Target.of("KendallTau", np.array([0, 8]), label)  # its pairs weigh the same whatever the order

    def run(w):
        units = np.empty((8, n_units))
        forward(0, 8, rows.row_ptr, rows.column, rows.value, sizes, relu, w, units)
        return units

    units = run(weights)
    errors, gradient = np.zeros((8, n_units)), np.zeros(len(weights))
    errors[:, -1] = slopes(target, label, units[:, -1].copy())
    backward(0, 8, rows.row_ptr, rows.column, rows.value, sizes, relu, weights, units, errors, gradient)
    step = 1e-6
    for w in range(len(weights)):
        up, down = weights.copy(), weights.copy()
        up[w] += step
        down[w] -= step
        rise = kendall_loss(label, run(up)[:, -1]) - kendall_loss(label, run(down)[:, -1])
        assert gradient[w] == pytest.approx(rise / (2 * step), abs=1e-7)


def test_a_step_is_the_rate_times_the_mean_gradient_of_its_queries_and_the_decay():
    data = random_dataset(4, n_queries=3)
    label = np.sort(np.nan_to_num(data.slot_labels).reshape(3, 9)).ravel()
    rows = SparseRows.of_entries(data.rankings, ExpertGroups(data.experts), win_values(data.rankings, "binary"))
    target = Target.of("AP", data.rankings.slot_ptr, label)
    start = LambdaRankLearner().start(rows, np.random.default_rng(0))
    moved = {}
    for batch, decay in ((3, 0.0), (3, 0.5), (7, 0.0)):
        moved[batch, decay] = start.copy()
        LambdaRankLearner(rate=0.1, decay=decay, batch=batch).epoch(
            rows, target, np.random.default_rng(1), moved[batch, decay]
        )
    assert_allclose(moved[7, 0.0], moved[3, 0.0])
    assert_allclose(moved[3, 0.5], moved[3, 0.0] - 0.1 * 0.5 * start)
    dense = rows.dense().reshape(data.rankings.n_slots, -1)
    gradient = np.zeros(len(start))
    for q in range(3):
        here = slice(data.rankings.slot_ptr[q], data.rankings.slot_ptr[q + 1])
        out = pushes(target, here, target.normaliser[q], label[here], dense[here] @ start)
        gradient += dense[here].T @ out / 3
    assert_allclose(moved[3, 0.0], start - 0.1 * gradient, atol=1e-12)


def test_training_lowers_the_loss():
    data = random_dataset(5, n_queries=30)
    rows = SparseRows.of_entries(data.rankings, ExpertGroups(data.experts), win_values(data.rankings, "log-rank"))
    label = np.sort(np.nan_to_num(data.slot_labels).reshape(30, 9))
    target = Target.of("KendallTau", data.rankings.slot_ptr, label.ravel())
    for hidden in ((), (8,)):
        net = LambdaRankLearner(hidden=hidden, rate=0.05, decay=0.0)
        rng = np.random.default_rng(0)
        weights, losses = net.start(rows, rng), []
        for _ in range(30):
            net.epoch(rows, target, rng, weights)
            score = net.scores(rows, data.rankings.slot_ptr, weights).reshape(30, 9)
            losses.append(sum(map(kendall_loss, label, score)))
        assert np.mean(losses[-3:]) < 0.99 * losses[0]


def test_a_target_that_cannot_be_optimised_is_named():
    with pytest.raises(ParameterError, match=f"one of {', '.join(KINDS)}, got 'RBO'"):
        Target.of("RBO", np.array([0, 1]), np.zeros(1))
