"""Methods that are tuned by a metric, against all settings tried one by one with pytrec_eval."""

import json
from itertools import product

import numpy as np
import pytest
import pytrec_eval
from numpy.testing import assert_allclose, assert_array_equal

from conftest import random_dataset
from juryrank import Fuser, evaluate, export, fuse
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, UnknownNameError
from juryrank.methods import method
from juryrank.methods.learned.convex import SHARES, other_shares
from juryrank.methods.learned.tuned_rrf import CONSTANTS, WEIGHTS, all_weights, other_weights
from juryrank.models import from_json, to_json

TUNED = ("convex", "tuned-rrf")


def noisy_runs(seed, n_experts, n_queries=6, n_items=25):
    """Scored runs of experts that see the labels through noise, the first least; and labels of some items."""
    rng = np.random.default_rng(seed)
    runs, labels = {f"e{k}": {} for k in range(n_experts)}, {}
    for q in range(n_queries):
        label = rng.choice(3, n_items, p=[0.7, 0.2, 0.1])
        label[:2] = 1, 0
        labels[f"q{q}"] = {f"i{i}": int(label[i]) for i in range(n_items) if i < 2 or rng.random() < 0.6}
        for k in range(n_experts):
            score = label + rng.normal(0, 0.7 + 0.3 * k, n_items) + 5 * k
            listed = rng.permutation(n_items)[: rng.integers(12, 20)]
            runs[f"e{k}"][f"q{q}"] = {f"i{i}": float(score[i]) for i in listed}
    return runs, labels


def ndcg(fused, labels):
    found = pytrec_eval.RelevanceEvaluator(labels, {"ndcg_cut.10"}).evaluate(fused)
    return float(np.mean([values["ndcg_cut_10"] for values in found.values()]))


def fuse_by_loop(runs, labels, weights, values):
    """Weighted sums over dicts; ``values`` turns the scores of a list into what it gives to its items."""
    fused = {}
    for query in labels:
        total = fused[query] = {}
        for run, weight in zip(runs.values(), weights, strict=True):
            for item, value in values(run[query]).items():
                total[item] = total.get(item, 0.0) + weight * value
    return fused


def reciprocal(k):
    return lambda scores: {i: 1 / (k + r) for r, i in enumerate(sorted(scores, key=scores.get, reverse=True), 1)}


def min_max(scores):
    low, high = min(scores.values()), max(scores.values())
    return {item: (score - low) / (high - low) for item, score in scores.items()}


def z_score(scores):
    mean, sd = np.mean(list(scores.values())), np.std(list(scores.values()))
    return {item: (score - mean) / sd for item, score in scores.items()}


@pytest.mark.parametrize("seed", range(4))
def test_of_two_experts_no_setting_of_weighted_rrf_is_better_than_the_tuned_one(seed):
    runs, labels = noisy_runs(seed, 2)
    data = from_dicts(runs, labels=labels)
    model = method("tuned-rrf").fit(data)
    settings = [(k, w) for k in CONSTANTS for w in product(WEIGHTS, repeat=2) if any(w)]
    best = max(ndcg(fuse_by_loop(runs, labels, w, reciprocal(k)), labels) for k, w in settings)
    own = ndcg(fuse_by_loop(runs, labels, model.weights_, reciprocal(model.k_)), labels)
    assert own == pytest.approx(best, abs=1e-9)
    equal = ndcg(fuse_by_loop(runs, labels, [1, 1], reciprocal(60)), labels)
    assert model.means_ == pytest.approx([own, equal], abs=1e-9)
    assert evaluate(model.predict(data), labels, "nDCG@10")["nDCG@10"] == pytest.approx(own, abs=1e-9)


@pytest.mark.parametrize(("norm", "by_hand"), [("min-max", min_max), ("z-score", z_score)])
@pytest.mark.parametrize("seed", range(3))
def test_of_two_experts_no_share_is_better_than_the_tuned_one(seed, norm, by_hand):
    runs, labels = noisy_runs(seed, 2)
    data = from_dicts(runs, labels=labels)
    model = method("convex", norm=norm).fit(data)
    best = max(ndcg(fuse_by_loop(runs, labels, [1 - a, a], by_hand), labels) for a in SHARES)
    own = ndcg(fuse_by_loop(runs, labels, model.weights_, by_hand), labels)
    assert own == pytest.approx(best, abs=1e-9)
    assert model.means_[0] == pytest.approx(own, abs=1e-9)
    assert evaluate(model.predict(data), labels, "nDCG@10")["nDCG@10"] == pytest.approx(own, abs=1e-9)
    assert model.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", TUNED)
def test_of_many_experts_no_change_of_one_weight_is_better(name):
    runs, labels = noisy_runs(5, 6)
    model = method(name).fit(from_dicts(runs, labels=labels))
    moves, by_hand = (other_shares, min_max) if name == "convex" else (other_weights, reciprocal(model.k_))
    own = ndcg(fuse_by_loop(runs, labels, model.weights_, by_hand), labels)
    assert own > ndcg(fuse_by_loop(runs, labels, np.ones(6), by_hand), labels)
    others = [row for expert in range(6) for row in moves(model.weights_, expert)]
    assert max(ndcg(fuse_by_loop(runs, labels, row, by_hand), labels) for row in others) <= own + 1e-9


def test_the_best_of_the_norms_is_taken():
    runs, labels = noisy_runs(7, 3)
    data = from_dicts(runs, labels=labels)
    tuned = method("convex", norm="tune").fit(data)
    means = {norm: method("convex", norm=norm).fit(data).means_[0] for norm in ("min-max", "max", "z-score", "rank")}
    assert tuned.means_[0] >= max(means.values())
    assert method("convex", norm=tuned.norm_).fit(data).means_[0] == tuned.means_[0]


def test_equal_results_are_resolved_towards_rrf():
    runs = {"x": {"q": ["a", "b", "c"]}, "y": {"q": ["a", "c", "b"]}}
    data = from_dicts(runs, labels={"q": {"a": 1, "b": 0}})
    model = method("tuned-rrf").fit(data)
    assert (model.k_, model.weights_.tolist()) == (60.0, [1.0, 1.0])
    assert method("convex").fit(data).weights_.tolist() == [0.5, 0.5]


def test_weights_with_equal_ratios_are_tried_once():
    rows = all_weights(2)
    ratios = [tuple(row / row.max()) for row in rows]
    assert len(set(ratios)) == len(ratios)
    assert set(ratios) == {tuple(np.array(w) / max(w)) for w in product(WEIGHTS, repeat=2) if any(w)}
    assert rows[0].tolist() == [1.0, 1.0]


def test_with_unjudged_ignore_the_tuned_metric_is_that_of_judged_items_alone():
    runs, labels = noisy_runs(8, 2)
    model = method("tuned-rrf", unjudged="ignore").fit(from_dicts(runs, labels=labels))
    means = []
    for k, weights in product(CONSTANTS, all_weights(2)):
        fused = fuse_by_loop(runs, labels, weights, reciprocal(k))
        judged = {query: {i: s for i, s in scores.items() if i in labels[query]} for query, scores in fused.items()}
        means.append(ndcg(judged, labels))
    assert model.means_[0] == pytest.approx(max(means), abs=1e-9)


def test_lists_without_scores_are_combined_by_rank():
    ranked = {"x": {"q": ["a", "b", "c", "d"]}, "y": {"q": ["d", "a"]}}
    scored = {"x": {"q": {"a": 4, "b": 3, "c": 2, "d": 1}}, "y": {"q": {"d": 2, "a": 1}}}
    one, two = (method("convex").fit(from_dicts(runs, labels={"q": {"a": 1, "d": 0}})) for runs in (ranked, scored))
    assert_allclose(one.weights_, two.weights_)
    assert one.predict(from_dicts(ranked)).to_dict() == two.predict(from_dicts(scored)).to_dict()


@pytest.mark.parametrize("name", TUNED)
@pytest.mark.filterwarnings("ignore:.*has not learned from")
def test_a_saved_model_ranks_and_serves_the_same_and_unknown_experts_have_the_mean_weight(name):
    runs, labels = noisy_runs(9, 3)
    model = method(name).fit(from_dicts(runs, labels=labels))
    again = from_json(to_json(model))
    lists = {"e0": {"a": 2.0, "b": 1.0, "c": 0.5}, "new": {"c": 9.0, "a": 7.0, "d": 1.0}}
    alone = from_dicts({expert: {"q": listed} for expert, listed in lists.items()})
    with pytest.warns(match="has not learned from: new"):
        served = Fuser(again)(lists)
    assert served == again.predict(alone).to_dict()["q"] == model.predict(alone).to_dict()["q"]
    values = min_max if name == "convex" else reciprocal(model.k_)
    weights = [model.weights_[0], model.weights_.mean()]
    by_hand = fuse_by_loop({e: {"q": listed} for e, listed in lists.items()}, ["q"], weights, values)["q"]
    assert served == pytest.approx(by_hand)


def test_a_tuned_rrf_is_exported_with_its_weights_and_constant():
    runs, labels = noisy_runs(2, 3, n_queries=12)
    data = from_dicts(runs, labels=labels)
    model = method("tuned-rrf").fit(data)
    request = json.loads(export(model, "elasticsearch", data=data))["request"]["retriever"]["rrf"]
    assert request["rank_constant"] == model.k_
    weights = {part["retriever"]["standard"]["query"][10:-1]: part["weight"] for part in request["retrievers"]}
    wanted = {e: w for e, w in zip(model.experts_, model.weights_ / model.weights_.max(), strict=True) if w}
    assert weights == pytest.approx(wanted, abs=1e-3)
    table = json.loads(export(model, "json", depth=3))
    assert table["points"]["e0"] == pytest.approx([model.weights_[0] / (model.k_ + rank) for rank in (1, 2, 3)])


def test_convex_is_no_table_of_points():
    runs, labels = noisy_runs(3, 2)
    with pytest.raises(DataError, match="convex with these parameters is not a sum of points by position"):
        export(method("convex").fit(from_dicts(runs, labels=labels)), "json")


@pytest.mark.parametrize("name", TUNED)
def test_the_report_names_the_means_on_the_queries_that_were_tuned_on(name):
    runs, labels = noisy_runs(1, 2)
    model = method(name).fit(from_dicts(runs, labels=labels))
    own, rrf = model.means_
    assert f"tuned on 6 queries and 2 experts. On these queries: nDCG@10 {own:.4f}, RRF {rrf:.4f};" in model.report()


@pytest.mark.parametrize("name", TUNED)
def test_what_cannot_be_tuned_is_refused(name):
    lists = {"x": {"q": ["a", "b"]}, "y": {"q": ["b", "a"]}}
    with pytest.raises(DataError, match=f"{name}: no query has lists and labels that differ"):
        method(name).fit(from_dicts(lists, labels={"q": {"a": 0, "b": 0}}))
    with pytest.raises(UnknownNameError, match="no metric 'nDGC'"):
        method(name, target="nDGC@10").fit(from_dicts(lists, labels={"q": {"a": 1, "b": 0}}))


@pytest.mark.parametrize("name", TUNED)
def test_one_expert_has_all_the_weight(name):
    model = method(name).fit(from_dicts({"x": {"q": ["a", "b"]}}, labels={"q": {"a": 0, "b": 1}}))
    assert model.weights_.tolist() == [1.0]
    assert list(fuse({"x": ["c", "d"]}, model=model)) == ["c", "d"]


@pytest.mark.parametrize("name", ["convex", "tuned-rrf"])
def test_metrics_have_no_weights_so_that_unknown_items_are_not_relevant(name):
    data = random_dataset(4, n_queries=5)
    one, other = (method(name, unjudged=unjudged).fit(data) for unjudged in ("unknown", "irrelevant"))
    assert_array_equal(one.weights_, other.weights_)
    assert one.report() == other.report()
