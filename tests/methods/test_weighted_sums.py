"""Means of weighted sums against pytrec_eval, with nothing left out."""

import numpy as np
import pytest
import pytrec_eval
from numpy.testing import assert_allclose

from juryrank.data.build import from_dicts
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods.learned.weighted_sums import WeightedSums, coordinate_search
from juryrank.metrics import parse_metric

TREC = {"nDCG@10": "ndcg_cut_10", "nDCG@3": "ndcg_cut_3", "AP": "map", "P@5": "P_5", "RR": "recip_rank"}


def long_lists(seed, n_items=450, n_experts=4):
    """Lists of items that experts see through noise; long enough that most items cannot be among the first."""
    rng = np.random.default_rng(seed)
    runs, labels = {f"e{k}": {} for k in range(n_experts)}, {}
    for q in range(3):
        label = rng.choice(3, n_items, p=[0.9, 0.07, 0.03])
        names = [f"i{i}" for i in rng.permutation(n_items)]
        judged = rng.random(n_items) < 0.5
        labels[f"q{q}"] = {names[i]: int(label[i]) for i in range(n_items) if judged[i]}
        for k in range(n_experts):
            noisy = label + rng.normal(0, 1.0 + 0.5 * k, n_items)
            listed = np.argsort(-noisy)[: rng.integers(5, n_items)]
            runs[f"e{k}"][f"q{q}"] = [names[i] for i in listed]
    return runs, labels


def by_pytrec_eval(runs, labels, weights, metric, points, condensed=False):
    """The mean for one weight per expert, with sums over dicts."""
    fused = {}
    for query, judged in labels.items():
        scores = fused[query] = {}
        for run, weight in zip(runs.values(), weights, strict=True):
            for rank, item in enumerate(run[query], 1):
                if not condensed or item in judged:
                    scores[item] = scores.get(item, 0.0) + weight * points(rank)
    name = TREC[metric]
    found = pytrec_eval.RelevanceEvaluator(labels, {name.replace("_cut_", "_cut.").replace("P_", "P.")}).evaluate(fused)
    return np.mean([values[name] for values in found.values()])


@pytest.mark.parametrize("metric", TREC)
@pytest.mark.parametrize("unjudged", ["irrelevant", "ignore"])
def test_means_are_those_of_pytrec_eval_whatever_the_weights(metric, unjudged):
    runs, labels = long_lists(1)
    queries = LabelledQueries.of(from_dicts(runs, labels=labels), unjudged)
    rank = queries.rankings.entry_rank
    sums = WeightedSums(queries, -rank + 1000.0, metric, unjudged)
    cut = parse_metric(metric).cutoff is not None and unjudged == "irrelevant"
    assert (len(sums.position) < 0.8 * queries.rankings.n_slots) or not cut
    weights = np.random.default_rng(2).choice([0.0, 0.0, 0.3, 1.0, 4.0], (30, 4))
    weights[0] = [0, 1, 0, 0]
    found = sums.means(sums.by_expert(1.0 / (7.0 + rank)), weights)
    condensed = unjudged == "ignore"
    wanted = [by_pytrec_eval(runs, labels, row, metric, lambda r: 1.0 / (7.0 + r), condensed) for row in weights]
    assert_allclose(found, wanted, atol=1e-9)


def test_points_below_zero_keep_items_that_lists_leave_out_in_the_running():
    runs, labels = long_lists(3)
    queries = LabelledQueries.of(from_dicts(runs, labels=labels), "irrelevant")
    points = 100.0 - queries.rankings.entry_rank  # an item at rank 300 is worse than one that is left out
    sums = WeightedSums(queries, points, "nDCG@10", "irrelevant")
    weights = np.random.default_rng(4).random((10, 4))
    wanted = [by_pytrec_eval(runs, labels, row, "nDCG@10", lambda r: 100.0 - r) for row in weights]
    assert_allclose(sums.means(sums.by_expert(points), weights), wanted, atol=1e-9)


def test_a_search_ends_where_no_change_of_one_weight_is_better():
    def values(rows):
        return -np.abs(rows - [3.0, 1.0, 2.0]).sum(axis=1)

    def moves(weights, expert):
        rows = np.tile(weights, (5, 1))
        rows[:, expert] = np.arange(5.0)
        return rows

    weights, value = coordinate_search(values, np.zeros(3), moves)
    assert (weights.tolist(), value) == ([3.0, 1.0, 2.0], 0.0)


def test_a_search_without_a_better_weight_stays_where_it_began():
    start = np.array([0.5, 0.5])
    weights, _ = coordinate_search(lambda rows: np.ones(len(rows)), start, lambda w, k: np.eye(2))
    assert weights.tolist() == [0.5, 0.5]
