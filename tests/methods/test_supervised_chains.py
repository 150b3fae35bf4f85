"""Supervised chains: derivatives, stationary distributions, products without a matrix, and what weights follow."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from noisy_experts import noisy_experts, problem_of, weighted_lists
from numpy.testing import assert_allclose
from slow import dense, soft_transition, transition

import juryrank
from conftest import random_dataset
from juryrank.data import Dataset
from juryrank.data.build import from_dicts
from juryrank.data.long_table import from_long
from juryrank.errors import ConvergenceWarning, DataError
from juryrank.kernels.chains import pair_loss, step_down, step_up
from juryrank.learning.labelled import LabelledQueries
from juryrank.methods import method
from juryrank.methods.learned._chain import softmax
from juryrank.methods.learned.relaxation import relaxation
from juryrank.progress import show_progress

CHAINS = ["supervised-mc1", "supervised-mc2", "supervised-mc3", "supervised-mc4"]
every_chain = pytest.mark.parametrize("name", CHAINS)
seeds = pytest.mark.parametrize("seed", range(3))


def logits_of(experts, seed):
    return np.random.default_rng(seed).normal(size=len(experts))


@every_chain
@seeds
def test_the_derivative_is_that_of_finite_differences(name, seed):
    problem, experts = problem_of(weighted_lists(seed))
    model = method(name, tol=1e-13, shrink=0.01)
    logits = logits_of(experts, seed)
    _, slope = model.objective(logits, problem)
    h = 1e-5
    for k in range(len(experts)):
        step = h * (np.arange(len(experts)) == k)
        rise = model.objective(logits + step, problem)[0] - model.objective(logits - step, problem)[0]
        assert slope[k] == pytest.approx(rise / (2 * h), abs=1e-6)


@every_chain
@seeds
def test_the_mass_is_stationary_under_the_dense_matrix(name, seed):
    problem, experts = problem_of(weighted_lists(seed))
    model = method(name, tol=1e-13)
    logits = logits_of(experts, seed)
    model.objective(logits, problem)
    r = problem.rankings
    weighed = replace(r, list_weight=r.list_weight * softmax(logits)[problem.list_place])
    for q in range(len(r)):
        ranks, weights = dense(Dataset(rankings=weighed), q)
        unsupervised = name.removeprefix("supervised-")
        p = (
            soft_transition(ranks, weights, 0.2)
            if name.endswith("4")
            else transition(unsupervised, ranks, weights, "last")
        )
        x = problem.mass[r.slot_ptr[q] : r.slot_ptr[q + 1]]
        assert_allclose(p.sum(1), 1)
        assert_allclose(x, (1 - model.teleport) * x @ p + model.teleport / len(x), atol=1e-10, rtol=0)


@pytest.mark.parametrize("name", ["mc1", "mc2", "mc3"])
@seeds
def test_products_without_a_matrix_are_those_of_the_dense_one(name, seed):
    data = random_dataset(seed)
    r, chain = data.rankings, method(name)
    slot_share, entry_share, tail, stay = chain.moves(r, r.list_weight)
    for q in range(len(r)):
        ranks, weights = dense(data, q)
        p = transition(name, ranks, weights, "last")
        here = slice(r.slot_ptr[q], r.slot_ptr[q + 1])
        v = np.random.default_rng([seed, q]).normal(size=len(p)) ** 2
        lists = (r.list_ptr[q], r.list_ptr[q + 1], r.slot_ptr[q], r.entry_ptr, r.entry_slot, r.entry_rank, entry_share)
        up, down = v * stay[here], np.zeros(len(p))
        step_up(*lists, tail, chain.strict, v * slot_share[here], up)
        step_down(*lists, tail, chain.strict, v, down)
        assert_allclose(up, v @ p, atol=1e-12)
        assert_allclose(down * slot_share[here] + v * stay[here], p @ v, atol=1e-12)


def test_the_chance_to_stay_is_that_of_the_dense_matrix(dataset):
    queries = LabelledQueries.of(dataset, "irrelevant").drop_zero_weight_lists()
    r, place = queries.rankings, queries.list_place(queries.experts)
    program = relaxation(queries, queries.experts, 1.0, len(queries), 5, 0)
    for q, query in enumerate(program.queries):
        ranks, _ = dense(queries.data, q)
        for m, expert in enumerate(place[r.list_ptr[q] : r.list_ptr[q + 1]]):
            assert_allclose(query.stay[expert], np.diag(transition("mc2", ranks[m : m + 1], [1.0], "last")))
        absent = np.setdiff1d(np.arange(len(queries.experts)), place[r.list_ptr[q] : r.list_ptr[q + 1]])
        assert (query.stay[absent] == 1 / ranks.shape[1]).all()


@seeds
def test_the_loss_is_the_mean_squared_shortfall_of_the_pairs(seed):
    rng = np.random.default_rng(seed)
    slot_ptr = np.array([0, 4, 4, 9])
    gain, score = rng.integers(0, 3, 9).astype(float), rng.normal(size=9)
    gain[rng.integers(0, 9, 2)] = np.nan
    loss, slope = np.empty(3), np.empty(9)
    pair_loss(slot_ptr, gain, score, 0.7, loss, slope)
    for q in range(3):
        here = range(slot_ptr[q], slot_ptr[q + 1])
        pairs = [max(0.0, 0.7 - score[i] + score[j]) ** 2 for i in here for j in here if gain[i] > gain[j]]
        assert loss[q] == pytest.approx(np.mean(pairs) if pairs else 0.0)


@pytest.mark.parametrize("name", [*CHAINS, "supervised-borda"])
def test_weights_follow_redundancy_as_well_as_accuracy(name):
    alone, doubled = noisy_experts(["a1", "b", "c"], seed=1), noisy_experts(["a1", "a2", "b", "c"], seed=1)
    once, twice = (
        dict(zip(m.experts_, m.weights_, strict=True)) for m in (method(name).fit(d) for d in (alone, doubled))
    )
    assert twice["a1"] + twice["a2"] == pytest.approx(once["a1"], abs=0.02)
    assert (twice["b"], twice["c"]) == pytest.approx((once["b"], once["c"]), abs=0.02)
    assert min(twice["a1"], twice["a2"]) > 0.1
    accuracy = juryrank.evaluate(doubled, doubled, "AP")["AP"]
    assert max(accuracy["b"], accuracy["c"]) < min(accuracy["a1"], accuracy["a2"])
    assert max(twice["a1"], twice["a2"]) < twice["c"]


def test_accuracy_alone_gives_copies_the_weight_of_others():
    data = noisy_experts(["a1", "a2", "b", "c"], n_queries=40, seed=1)
    values = dict(zip(data.experts, method("borda-fuse").fit(data).weights_, strict=True))
    assert min(values["a1"], values["a2"]) > 0.95 * max(values["b"], values["c"])


@every_chain
@pytest.mark.filterwarnings("ignore:.*has not learned from")
def test_a_stranger_weighs_as_the_mean_expert(name):
    data = random_dataset(1)
    model = method(name, epochs=3).fit(data)
    renamed = replace(data.rankings, experts=("e0", "e1", "new", "e3", "e4"))
    model_with_mean = method(name.removeprefix("supervised-"), teleport=model.teleport, weights={
        **{e: w["weight"] for e, w in model.expert_weights().items() if e != "e2"}, "new": 1 / 5
    })  # fmt: skip
    assert_allclose(model.predict(renamed).scores, model_with_mean.fit_predict(renamed).scores, atol=1e-9)


@every_chain
def test_experts_without_a_labelled_query_are_unknown(name):
    data = from_dicts(
        {"good": {"q": ["a", "b"]}, "bad": {"q": ["b", "a"]}, "late": {"r": ["a", "b"]}}, labels={"q": {"a": 1, "b": 0}}
    )
    model = method(name, epochs=3).fit(data)
    assert model.experts_ == ["bad", "good"]
    assert model.weights_.sum() == pytest.approx(1)


@every_chain
def test_walks_that_do_not_settle_are_counted_and_the_weights_kept(name):
    data = random_dataset(0)
    with pytest.warns(ConvergenceWarning, match=f"{name}: . of . training queries did not converge after 2"):
        model = method(name, max_iter=2, epochs=2).fit(data)
    assert model.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", [*CHAINS, "supervised-borda"])
def test_without_labels_that_differ_there_is_nothing_to_learn(name):
    data = from_dicts({"a": {"q": ["x", "y"]}}, labels={"q": {"x": 1, "y": 1}})
    with pytest.raises(DataError, match=f"{name}: no query has lists and labels that differ"):
        method(name).fit(data)


def test_unjudged_items_are_irrelevant_or_say_nothing():
    lists = {"good": {"q": ["a", "b"]}, "bad": {"q": ["b", "a"]}}
    data = from_dicts(lists, labels={"q": {"a": 1}})
    model = method("supervised-mc2").fit(data)
    assert model.expert_weights()["good"]["weight"] > 0.5
    with pytest.raises(DataError, match="nothing to learn"):
        method("supervised-mc2", unjudged="ignore").fit(data)


def test_the_pass_is_chosen_on_the_validation_queries():
    lists = {"x": {"q": ["a", "b", "c"], "v": ["a", "b", "c"]}, "y": {"q": ["c", "b", "a"], "v": ["c", "b", "a"]}}
    data = from_dicts(lists, labels={"q": {"a": 1, "b": 0, "c": 0}, "v": {"a": 0, "b": 0, "c": 1}})
    trained, held = data["q"], data["v"]
    assert method("supervised-mc2").fit(trained).expert_weights()["x"]["weight"] > 0.6
    chosen = method("supervised-mc2").fit(trained, valid=held)
    assert_allclose(chosen.weights_, 0.5)  # every pass makes the validation query worse, so none is taken
    silent = from_dicts({"x": {"v": ["a"]}}, labels={"v": {"a": 1}})
    assert_allclose(
        method("supervised-mc2").fit(trained, valid=silent).weights_, method("supervised-mc2").fit(trained).weights_
    )


def test_a_true_ranking_teaches_too_and_needs_a_metric_that_reads_it():
    rows = [("q", item, e, r) for e, order in {"x": "abc", "y": "cba"}.items() for r, item in enumerate(order, 1)]
    lists = from_long(pl.DataFrame(rows, schema=["query", "item", "expert", "rank"], orient="row"))
    data = Dataset(rankings=lists.rankings, reference=np.array([1.0, 2.0, 3.0]))
    model = method("supervised-mc2", target="KendallTau").fit(data, valid=data)
    assert model.expert_weights()["x"]["weight"] > 0.6
    with pytest.raises(DataError, match="use target=KendallTau"):
        method("supervised-mc2").fit(data, valid=data)
    with pytest.raises(DataError, match="use target=KendallTau"):
        method("borda-fuse").fit(data)
    assert method("borda-fuse", target="KendallTau").fit(data).weights_.tolist() == [1.0, 0.0]


def test_the_passes_can_be_watched(dataset):
    seen = []
    with show_progress(lambda work, text: (seen.append(text) or piece for piece in work)):
        method("supervised-mc2", epochs=4).fit(dataset)
    assert seen == ["supervised-mc2"] * 4


def test_supervised_mc4_refuses_what_will_not_fit(dataset):
    model = method("supervised-mc4", epochs=1).fit(dataset)
    items = list(map(str, range(10_001)))
    large = from_dicts({"e0": {"q": items}}, labels={"q": {"1": 1}})
    for call in (lambda: method("supervised-mc4").fit(large), lambda: model.predict(large)):
        with pytest.raises(DataError, match=r"supervised-mc4 compares all pairs .* use supervised-mc2"):
            call()
