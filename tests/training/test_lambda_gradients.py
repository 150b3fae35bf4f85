"""LambdaRankLearner: what a swap changes, gradients, and the choice of the pass."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from conftest import random_dataset
from juryrank.data import Consensus
from juryrank.errors import ParameterError
from juryrank.kernels.lambdarank import backward, forward, lambdas
from juryrank.metrics import judge, parse_metric
from juryrank.training.columns.sparse_rows import SparseRows
from juryrank.training.columns.wins_and_losses import win_values
from juryrank.training.expert_groups import ExpertGroups
from juryrank.training.solvers.lambdarank_learner import LambdaRankLearner
from juryrank.training.target import KINDS, Target

WHOLE = ["nDCG", "nDCG(dcg='exp-log2')", "AP", "AP(rel=2)", "ERR", "RR", "P@3"]


def one_query(seed: int):
    data = random_dataset(seed, n_queries=1, n_items=8)
    judged = data.slot_labels
    label = np.where(np.isnan(judged), 0.0, judged)
    return data, label, np.random.default_rng(seed).normal(size=8)


def value(text: str, data, score) -> float:
    return float(parse_metric(text).per_query(judge(Consensus(data.rankings, score), data))[0])


@pytest.mark.parametrize("text", WHOLE)
@pytest.mark.parametrize("seed", range(6))
def test_pairs_weigh_what_a_swap_changes_in_the_metric(text, seed):
    data, label, score = one_query(seed)
    target = Target.of(text, np.array([0, 8]), label)
    before = value(text, data, score)
    expected, slope = 0.0, np.zeros(8)
    for i in range(8):
        for j in range(8):
            if label[i] > label[j]:
                swapped = score.copy()
                swapped[i], swapped[j] = score[j], score[i]
                weight = abs(value(text, data, swapped) - before)
                expected += weight * np.log1p(np.exp(score[j] - score[i]))
                push = weight / (1 + np.exp(score[i] - score[j]))
                slope[i] -= push
                slope[j] += push
    found = np.empty(8)
    loss = lambdas(
        score, label, target.gain, target.kind, target.cutoff, target.discount, target.normaliser[0], found
    )  # fmt: skip
    assert loss == pytest.approx(expected, abs=1e-12)
    assert_allclose(found, slope, atol=1e-12)


def test_kendall_weighs_all_pairs_alike():
    _, label, score = one_query(0)
    target = Target.of("KendallTau", np.array([0, 8]), label)
    out = np.empty(8)
    loss = lambdas(score, label, target.gain, target.kind, 8, target.discount, target.normaliser[0], out)
    pairs = [(i, j) for i in range(8) for j in range(8) if label[i] > label[j]]
    assert loss == pytest.approx(np.mean([np.log1p(np.exp(score[j] - score[i])) for i, j in pairs]))


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

    def pushes(w):
        units, out = np.empty((8, n_units)), np.empty(8)
        forward(0, 8, rows.row_ptr, rows.column, rows.value, sizes, relu, w, units)
        loss = lambdas(
            units[:, -1].copy(), label, target.gain, target.kind, 8, target.discount, target.normaliser[0], out
        )  # fmt: skip
        return loss, out, units

    _, out, units = pushes(weights)
    errors, gradient = np.zeros((8, n_units)), np.zeros(len(weights))
    errors[:, -1] = out
    backward(0, 8, rows.row_ptr, rows.column, rows.value, sizes, relu, weights, units, errors, gradient)
    step = 1e-6
    for w in range(len(weights)):
        up, down = weights.copy(), weights.copy()
        up[w] += step
        down[w] -= step
        assert gradient[w] == pytest.approx((pushes(up)[0] - pushes(down)[0]) / (2 * step), abs=1e-7)


def test_a_step_is_the_rate_times_the_mean_gradient_of_its_queries_and_the_decay():
    data = random_dataset(4, n_queries=3)
    label = np.nan_to_num(data.slot_labels)
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
        out = np.empty(9)
        lambdas(
            dense[here] @ start,
            label[here],
            target.gain[here],
            target.kind,
            9,
            target.discount,
            target.normaliser[q],
            out,
        )
        gradient += dense[here].T @ out / 3
    assert_allclose(moved[3, 0.0], start - 0.1 * gradient, atol=1e-12)


def test_training_lowers_the_loss():
    data = random_dataset(5, n_queries=30)
    rows = SparseRows.of_entries(data.rankings, ExpertGroups(data.experts), win_values(data.rankings, "log-rank"))
    target = Target.of("KendallTau", data.rankings.slot_ptr, np.nan_to_num(data.slot_labels))
    for hidden in ((), (8,)):
        net = LambdaRankLearner(hidden=hidden, rate=0.05, decay=0.0)
        rng = np.random.default_rng(0)
        weights = net.start(rows, rng)
        losses = [net.epoch(rows, target, rng, weights) for _ in range(30)]
        assert np.mean(losses[-3:]) < 0.99 * losses[0]


def test_a_target_that_cannot_be_optimised_is_named():
    with pytest.raises(ParameterError, match=f"one of {', '.join(KINDS)}, got 'RBO'"):
        Target.of("RBO", np.array([0, 1]), np.zeros(1))
