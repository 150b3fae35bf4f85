"""Weights for search engines: as near to the model as they can be, in the form that each engine takes."""

import json
import warnings
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import juryrank
from conftest import random_dataset
from juryrank.data.build import from_dicts
from juryrank.errors import DataError, DataWarning, UnknownNameError
from juryrank.evaluation.folds import splits_of
from juryrank.methods import method
from juryrank.tasks.export import ENGINES, export
from juryrank.tasks.export.engines import nearest_rrf
from juryrank.tasks.export.rrf_weights import RSquared, best_experts, divide_ranks, fit_weights, multiply_points


def queries_of(n: int = 12, seed: int = 0):
    rng = np.random.default_rng(seed)
    items = [f"i{n}" for n in range(30)]
    queries = [f"q{q}" for q in range(n)]
    runs = {e: {q: [items[i] for i in rng.permutation(30)[:15]] for q in queries} for e in ("a", "b", "c", "d")}
    return from_dicts(runs, labels={q: {i: float(rng.integers(0, 3)) for i in items} for q in queries})


def test_a_weighted_rrf_is_found_again():
    data = queries_of()
    wanted = method("rrf", k=17, weights={"a": 1.0, "b": 0.25, "c": 0.5, "d": 0.0}).fit(data).predict(data)
    weights, constant = fit_weights(wanted, division=False)
    assert constant == 17
    assert_allclose(weights, [1.0, 0.25, 0.5, 0.0], atol=1e-3)


def test_qdrants_weighted_rrf_is_found_again():
    data = queries_of()
    weights = {"a": 2.0, "b": 0.25, "c": 0.5, "d": 1.0}
    wanted = method("rrf", k=10, dialect="qdrant", weights=weights).fit(data).predict(data)
    found, constant = fit_weights(wanted, division=True)
    scale = (constant - 1) / 9  # a factor of all weights, and the same in k - 1, changes nothing
    assert_allclose(found * scale, [2.0, 0.25, 0.5, 1.0], rtol=0.05)


@pytest.mark.parametrize("points", [multiply_points, divide_ranks])
def test_derivatives_are_right_by_finite_differences(points):
    data = random_dataset(3)
    r_squared = RSquared(method("jury").fit(data).predict(data))
    at, constant, step = np.random.default_rng(0).uniform(0.2, 2, len(data.experts)), 20.0, 1e-6

    def value(weights, c=constant):
        return r_squared(points(weights[r_squared.expert], r_squared.rank, c)[0])[0]

    given, by_weight, by_constant = points(at[r_squared.expert], r_squared.rank, constant)
    _, slope = r_squared(given)
    by_hand = [(value(at + d) - value(at - d)) / (2 * step) for d in step * np.eye(len(at))]
    assert_allclose(np.bincount(r_squared.expert, slope * by_weight), by_hand, atol=1e-8)
    if points is multiply_points:
        up, down = (value(at, constant * np.exp(s)) for s in (step, -step))
        assert slope @ by_constant == pytest.approx((up - down) / (2 * step), abs=1e-8)


def test_requests_have_the_form_that_each_engine_takes():
    data = queries_of()
    model = method("jury").fit(data)
    requests = {to: json.loads(export(model, to, data=data)) for to in ENGINES}
    rrf = requests["elasticsearch"]["request"]["retriever"]["rrf"]
    assert all(set(part) == {"retriever", "weight"} and part["weight"] > 0 for part in rrf["retrievers"])
    assert rrf["rank_constant"] >= 1
    assert rrf["rank_window_size"] == 15
    (processor,) = requests["opensearch"]["request"]["phase_results_processors"]
    combination = processor["score-ranker-processor"]["combination"]
    assert combination["technique"] == "rrf"
    assert 1 <= combination["rank_constant"] <= 10000
    assert sum(combination["parameters"]["weights"]) == pytest.approx(1.0, abs=0.01)
    qdrant = requests["qdrant"]["request"]
    assert len(qdrant["prefetch"]) == len(qdrant["query"]["rrf"]["weights"])
    assert qdrant["query"]["rrf"]["k"] >= 1
    for found in requests.values():
        assert set(found["measured on the data given"]["AP"]) == {"model", "these weights", "plain RRF"}


def test_what_is_measured_is_what_the_written_weights_give():
    data = queries_of()
    model = method("jury").fit(data)
    for to in ENGINES:
        found = nearest_rrf(model, data, to)
        weights = dict(zip(found.experts, found.weights.tolist(), strict=True))
        same = method("rrf", dialect=to, k=found.constant, weights=weights).fit(data).predict(data)
        assert juryrank.evaluate(same, data, "AP")["AP"] == pytest.approx(found.loss["AP"][1])


def test_data_is_needed_and_must_say_something():
    data = queries_of()
    model = method("jury").fit(data)
    with pytest.raises(DataError, match="fitted to lists: give data"):
        export(model, "qdrant")
    with pytest.raises(DataError, match="no entries"):
        export(model, "qdrant", data=from_dicts({}))
    level = from_dicts({"a": {"q": ["x"]}})
    with pytest.raises(DataError, match="the same score"):
        export(method("rrf").fit(level), "elasticsearch", data=level)


def many_experts(n: int):
    rng = np.random.default_rng(1)
    queries = [f"q{q}" for q in range(8)]
    runs = {f"e{e}": {q: [f"i{i}" for i in rng.permutation(30)[:15]] for q in queries} for e in range(n)}
    return from_dicts(runs, labels={q: {f"i{i}": float(rng.integers(0, 3)) for i in range(30)} for q in queries})


def test_opensearch_takes_five_queries_and_the_error_names_five_experts():
    data = many_experts(7)
    weights = {"e0": 3.0, "e1": 0.1, "e2": 2.0, "e3": 4.0, "e4": 0.05, "e5": 2.5, "e6": 3.5}
    model = method("rrf", weights=weights).fit(data)
    with pytest.raises(DataError, match=r"at most 5 queries .* 7 experts .* experts=.*: e0,e2,e3,e5,e6$"):
        export(model, "opensearch", data=data)
    found = json.loads(export(model, "opensearch", data=data, experts=["e0", "e2", "e3", "e5", "e6"]))
    assert list(found["weights"]) == ["e0", "e2", "e3", "e5", "e6"]
    assert found["left out, weight 0"] == ["e1", "e4"]
    assert len(found["search"]["query"]["hybrid"]["queries"]) == 5
    assert found["search"]["query"]["hybrid"]["pagination_depth"] == 15
    for to in ("elasticsearch", "qdrant"):  # these have no such limit
        assert len(json.loads(export(model, to, data=data))["weights"]) == 7


def test_the_five_experts_explain_more_than_most_other_fives():
    data = many_experts(8)
    target = method("rrf", weights={f"e{n}": 0.5 + n / 4 for n in range(8)}).fit(data).predict(data)
    weights, constant = fit_weights(target, division=False)
    best, explained, whole = best_experts(target, weights, constant, 5)
    r_squared = RSquared(target)

    def value(five):
        among = np.isin(np.arange(8), five).astype(float)
        found, k = fit_weights(target, division=False, among=among)
        assert set(np.flatnonzero(found)) <= set(five)
        return r_squared(multiply_points(found[r_squared.expert], r_squared.rank, k)[0])[0]

    assert len(best) == 5
    others = [value(five) for five in combinations(range(8), 5)]
    assert explained >= np.quantile(others, 0.9) - 1e-3
    assert explained < whole


def test_chosen_experts_must_be_in_the_data_and_are_for_engines_alone():
    data = queries_of()
    model = method("jury").fit(data)
    with pytest.raises(UnknownNameError, match="not in the data: e; known: a, b, c, d"):
        export(model, "qdrant", data=data, experts=["a", "e"])
    with pytest.raises(DataError, match="a list of names, got the text 'ab'"):
        export(model, "qdrant", data=data, experts="ab")
    with pytest.raises(DataError, match="at least one"):
        export(model, "qdrant", data=data, experts=[])
    with pytest.raises(DataError, match="json has the points of all; leave it out"):
        export(model, "json", data=data, experts=["a"])


def test_elasticsearch_needs_two_retrievers():
    data = queries_of()
    with pytest.raises(DataError, match=r"only the expert 'b' has a positive weight.*send the query of b alone"):
        export(method("rrf").fit(data), "elasticsearch", data=data, experts=["b"])
    assert json.loads(export(method("rrf").fit(data), "opensearch", data=data, experts=["b"]))["weights"] == {"b": 1.0}


@pytest.mark.parametrize("length", [5, 9, 10, 11])
def test_elasticsearch_is_not_asked_for_more_items_than_its_window_has(length):
    """Its default size is 10, and it refuses a size above rank_window_size."""
    items = [f"i{n}" for n in range(length)]
    data = from_dicts({"a": {"q": items}, "b": {"q": items[::-1]}})
    request = json.loads(export(method("rrf", weights={"a": 2.0}).fit(data), "elasticsearch", data=data))["request"]
    assert request["retriever"]["rrf"]["rank_window_size"] == max(length, 10)


@pytest.mark.parametrize("to", ["elasticsearch", "opensearch"])
def test_lists_that_are_longer_than_an_engine_takes_are_reported(to):
    data = from_dicts({e: {"q": [f"i{n}" for n in range(10_001)][::step]} for e, step in (("a", 1), ("b", -1))})
    with pytest.warns(DataWarning, match="up to 10,001 items, and .* takes 10,000"):
        found = json.loads(export(method("rrf", weights={"a": 2.0}).fit(data), to, data=data))
    cut = found["request"]["retriever"]["rrf"]["rank_window_size"] if to == "elasticsearch" else (
        found["search"]["query"]["hybrid"]["pagination_depth"]
    )  # fmt: skip
    assert cut == 10_000


def test_a_method_that_is_no_sum_has_a_nearest_rrf_too():
    data = queries_of()
    found = nearest_rrf(method("kemeny").fit(data), data, "elasticsearch")
    assert found.common[10] > 0.7


@pytest.mark.parametrize("folder", ["trec-covid-round1", "robust03"])
def test_weights_learned_on_some_queries_beat_plain_rrf_on_others(shared_data, folder):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        data = juryrank.read(shared_data / folder / "runs", labels=shared_data / folder / "qrels.txt")
    fold = splits_of(5, data, seed=0)[0]
    train, test = data[[*fold.train, *fold.valid]], data[list(fold.test)]
    model = method("jury").fit(train)
    found = nearest_rrf(model, train, "elasticsearch")
    for full, these, plain in found.loss.values():
        assert these - plain > 0.7 * (full - plain) > 0
    weights = dict(zip(found.experts, found.weights.tolist(), strict=True))
    there = method("rrf", k=found.constant, weights=weights).fit(test).predict(test)
    plain = method("rrf").fit(test).predict(test)
    assert juryrank.evaluate(there, test, "AP")["AP"] > juryrank.evaluate(plain, test, "AP")["AP"]
