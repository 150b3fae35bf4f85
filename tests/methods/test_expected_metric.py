"""The expected metric against all orders written out, its gradient, and how items are sampled."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank.data import Consensus
from juryrank.data.build import from_dicts
from juryrank.kernels.crf import expected_loss, sample
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.learning.target import Target
from juryrank.methods.learned.expected_metric import ExpectedMetricLearner, all_steps
from juryrank.methods.learned.preferences import win_values
from juryrank.methods.learned.sparse_rows import SparseRows
from juryrank.metrics import judge, parse_metric

TARGETS = ["nDCG", "nDCG(dcg='exp-log2')@2", "AP", "AP(rel=2)", "ERR@3", "RR", "P@2", "KendallTau"]


def value(text: str, label: np.ndarray, order) -> float:
    """The metric of the items in this order, as the catalogue computes it; tau as the share of pairs in order."""
    if text == "KendallTau":
        pairs = [(a, b) for a in range(len(order)) for b in range(a + 1, len(order))]
        return float(sum(label[order[a]] > label[order[b]] for a, b in pairs))
    items = {f"i{i}": float(label[i]) for i in range(len(label))}
    data = from_dicts({"a": {"q": list(items)}}, labels={"q": items})
    score = np.empty(len(label))
    score[list(order)] = -np.arange(len(label))
    return float(parse_metric(text).per_query(judge(Consensus(data.rankings, score), data))[0])


def by_hand(text: str, label: np.ndarray, score: np.ndarray) -> float:
    """The expected loss, from the definition of the energy."""
    n = len(score)
    orders = list(permutations(range(n)))
    energy = np.array([sum(score[i] / np.log(place + 2) for place, i in enumerate(y)) / n**2 for y in orders])
    odds = np.exp(energy - energy.max())
    values = np.array([value(text, label, y) for y in orders])
    return float(1 - odds @ values / odds.sum() / values.max())


def found(text: str, label: np.ndarray, score: np.ndarray) -> tuple[float, np.ndarray]:
    target = Target.of(text, np.array([0, len(label)]), label)
    n, slope = len(label), np.empty(len(label))
    metric = (target.kind, target.cutoff, target.discount)
    room = (np.empty(n, np.int64), np.full((7, 64), np.nan))
    loss = expected_loss(n, score, target.gain, *metric, *all_steps(6), *room, slope)
    return loss, slope


def chosen_items(label: np.ndarray, draws: np.ndarray, size: int) -> np.ndarray:
    chosen = np.empty(size, np.int64)
    sample(label, draws, chosen, np.empty((2, len(label) + 1), np.int64))
    return chosen


@pytest.mark.parametrize("text", TARGETS)
@pytest.mark.parametrize("n", [2, 4, 5])
def test_the_expected_loss_is_the_mean_over_all_orders(text, n):
    rng = np.random.default_rng(n)
    label, score = np.array([2.0, 0, 1, 1, 0])[:n], 30 * rng.normal(size=n)
    loss, _ = found(text, label, score)
    assert loss == pytest.approx(by_hand(text, label, score), abs=1e-12)


@pytest.mark.parametrize("text", TARGETS)
@given(seed=st.integers(0, 10_000), n=st.integers(2, 6))
def test_its_gradient_is_that_of_finite_differences(text, seed, n):
    rng = np.random.default_rng(seed)
    label, score = rng.integers(0, 3, n).astype(float), 20 * rng.normal(size=n)
    _, slope = found(text, label, score)
    step = 1e-4
    for i in range(n):
        up, down = score.copy(), score.copy()
        up[i] += step
        down[i] -= step
        rise = found(text, label, up)[0] - found(text, label, down)[0]
        assert slope[i] == pytest.approx(rise / (2 * step), abs=1e-9)


def test_a_step_on_a_small_query_is_the_rate_times_the_gradient():
    data = random_dataset(0, n_queries=1, n_items=6)
    label = np.sort(np.nan_to_num(data.slot_labels))
    rows = SparseRows.of_entries(
        data.rankings, ExpertGroups(data.experts), win_values(data.rankings, "log-rank", mean=True)
    )
    target = Target.of("nDCG", np.array([0, 6]), label)
    learner, rng = ExpectedMetricLearner(rate=3.0), np.random.default_rng(0)
    before = learner.start(rows, rng)
    after = before.copy()
    learner.epoch(rows, target, rng, after)
    dense = rows.dense().reshape(6, -1)

    def loss(weights):
        return found("nDCG", label, dense @ weights)[0]

    step, numeric = 1e-4, np.empty(len(before))
    for w in range(len(before)):
        move = np.zeros(len(before))
        move[w] = step
        numeric[w] = (loss(before + move) - loss(before - move)) / (2 * step)
    assert_allclose(after, before - 3.0 * numeric, atol=1e-8)


@given(labels=st.lists(st.integers(0, 3), min_size=3, max_size=30), seed=st.integers(0, 100), size=st.integers(2, 6))
def test_a_sample_has_distinct_items_and_every_label_that_fits(labels, seed, size):
    label = np.sort(np.array(labels, float))
    size = min(size, len(label) - 1)
    chosen = chosen_items(label, np.random.default_rng(seed).random(2 * size), size)
    assert len(set(chosen.tolist())) == size
    assert chosen.min() >= 0
    assert chosen.max() < len(label)
    assert len(set(label[chosen])) >= min(size, len(set(labels)))


def test_every_item_of_a_label_is_sampled_as_often_as_another():
    label = np.array([0.0] * 6 + [1.0] * 2)
    times = np.zeros(8)
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        times[chosen_items(label, rng.random(8), 4)] += 1
    assert np.ptp(times[:6]) < 0.05 * times[:6].mean()
    assert np.ptp(times[6:]) < 0.05 * times[6:].mean()


@pytest.mark.parametrize("text", TARGETS)
@pytest.mark.parametrize("scale", [1e3, 1e6, 1e300])
def test_scores_that_differ_much_neither_overflow_nor_vanish(text, scale):
    label, score = np.array([1.0, 0, 2, 1]), scale * np.array([0.3, -1.0, 0.0, 0.4])
    loss, slope = found(text, label, score)
    assert loss == pytest.approx(by_hand(text, label, score), abs=1e-12)
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("text", TARGETS)
def test_items_without_gain_have_no_loss_and_no_gradient(text):
    loss, slope = found(text, np.zeros(4), np.array([3.0, 1.0, 2.0, 0.0]))
    assert loss == 0
    assert_array_equal(slope, 0)


@pytest.mark.parametrize("n", range(2, 9))
def test_the_steps_make_every_order_once(n):
    _, step_ptr, after, item = all_steps(n)
    paths = {0: [()]}
    for s in range((1 << n) - 1):
        for e in range(step_ptr[s], step_ptr[s + 1]):
            if n <= 6:
                paths.setdefault(int(after[e]), []).extend((*path, int(item[e])) for path in paths[s])
            assert after[e] == s | 1 << int(item[e]) != s
    assert len(item) == n * 2 ** (n - 1)
    if n <= 6:
        assert sorted(paths[(1 << n) - 1]) == list(permutations(range(n)))


def test_the_last_item_of_a_label_is_sampled_where_there_are_more_labels_than_places():
    label = np.repeat(np.arange(4.0), 3)  # three items of each of four labels
    for share, item in ((0.0, 0), (0.34, 1), (0.99, 2)):
        # the labels that come first
        assert chosen_items(label, np.array([share, share, 0.0, 0.0]), 2).tolist() == [item, 3 + item]
        # the last label, then the one that took its place
        assert chosen_items(label, np.array([share, share, 0.99, 0.99]), 2).tolist()[0] == 9 + item
