"""Fuser(..., explore=…): weights that vary by request, and the probabilities that a click log needs."""

import pickle
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from inspect import signature
from math import log, sqrt
from statistics import mean, stdev
from uuid import UUID

import numpy as np
import pytest

import juryrank
from conftest import random_dataset
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.methods import METHODS, method
from juryrank.tasks.fuse import Exploration, Fuser

LISTS = {"e0": ["i0", "i1", "i2", "i4"], "e1": {"i2": 3.0, "i0": 2.0, "i7": 1.0}, "e2": ["i4", "i7", "i1"]}
JURY = method("jury").fit(random_dataset(0))
EXPLORE = Exploration(spread=0.8, variants=16, seed=3)


def requests_of_all_variants(fuser: Fuser, lists=LISTS) -> list[str]:
    """One request for each variant."""
    found: dict[int, str] = {}
    for n in range(2000):
        found.setdefault(fuser.explored(lists, request=n, top=1).variant, str(n))
        if len(found) == EXPLORE.variants:
            break
    return [found[n] for n in range(EXPLORE.variants)]


def slow_sum(points, lists, weights):
    """Points times weights, added up by a loop; equal sums by name."""
    total: Counter = Counter()
    for expert, listed in lists.items():
        items = sorted(listed, key=listed.get, reverse=True) if isinstance(listed, dict) else listed
        for rank, item in enumerate(items, 1):
            total[item] += weights[expert] * points(expert, rank)
    return {item: total[item] for item in sorted(total, key=lambda item: (-total[item], item))}


@pytest.mark.parametrize("explore", [None, 0, 0.0, Exploration(spread=0), Exploration(variants=1)])
def test_no_spread_is_no_exploration(explore):
    fuser = Fuser(JURY, explore=explore)
    assert type(fuser) is Fuser
    assert list(fuser(LISTS, request="r").items()) == list(Fuser(JURY)(LISTS).items())
    shown = fuser.explored(LISTS, request="r", top=3)
    assert list(shown.ranking.items()) == list(Fuser(JURY)(LISTS, top=3).items())
    assert set(shown.propensity.values()) == set(shown.weights.values()) == {1.0}


def test_the_first_variant_is_the_model_itself():
    fuser = Fuser(JURY, explore=EXPLORE)
    first = requests_of_all_variants(fuser)[0]
    assert fuser(LISTS, request=first) == Fuser(JURY)(LISTS)


def test_a_variant_multiplies_the_points_of_each_expert():
    fuser, rrf = Fuser(JURY, explore=EXPLORE), Fuser("rrf", k=10, explore=EXPLORE)
    curves = JURY.formula()
    for request in requests_of_all_variants(fuser):
        shown = fuser.explored(LISTS, request=request, top=None)
        expected = slow_sum(lambda e, r: curves.of(e, np.array([float(r)]))[0], LISTS, shown.weights)
        assert shown.ranking == pytest.approx(expected, rel=1e-12)
        assert rrf(LISTS, request=request) == pytest.approx(slow_sum(lambda e, r: 1 / (10 + r), LISTS, shown.weights))


SCORED = {"e0": {"a": 3.0, "b": 2.5, "c": 0.5}, "e1": {"c": 0.9, "a": 0.3}, "e2": {"b": 8.0, "d": 7.0, "a": 1.0}}


@pytest.mark.parametrize(
    "name", ["rrf", "dowdall", "rbc", "borda", "combsum", "combmnz", "combanz", "isr", "mean-rank"]
)
def test_a_variant_is_the_method_with_other_weights(name):
    fuser = Fuser(name, weights={"e1": 2.0}, explore=EXPLORE)
    for request in ("x", "y", "z"):
        shown = fuser.explored(SCORED, request=request, top=None)
        weights = {expert: factor * (2.0 if expert == "e1" else 1.0) for expert, factor in shown.weights.items()}
        expected = Fuser(name, weights=weights)(SCORED)
        assert shown.ranking == pytest.approx(expected)
        assert list(shown.ranking) == list(expected) == list(fuser(SCORED, request=request))


def test_propensities_are_the_shares_of_the_variants():
    fuser = Fuser(JURY, explore=EXPLORE)
    requests = requests_of_all_variants(fuser)
    pages = [list(fuser(LISTS, request=request, top=3)) for request in requests]
    for request, page in zip(requests, pages, strict=True):
        shown = fuser.explored(LISTS, request=request, top=3)
        assert list(shown.ranking) == page
        for at, item in enumerate(page, 1):
            assert shown.propensity[item] == sum(other[at - 1] == item for other in pages) / len(pages) > 0
            assert sum(shown.positions[item].values()) == pytest.approx(sum(item in p for p in pages) / len(pages))
    assert len({tuple(page) for page in pages}) > 3


def test_requests_have_items_at_positions_as_often_as_stated():
    fuser = Fuser(JURY, explore=EXPLORE)
    stated = fuser.explored(LISTS, request="any", top=None)
    seen, n = Counter(), 4000
    for request in range(n):
        seen.update((item, at) for at, item in enumerate(fuser(LISTS, request=f"request {request}"), 1))
    for item, by_position in stated.positions.items():
        assert sum(by_position.values()) == pytest.approx(1.0)
        for at, p in by_position.items():
            assert abs(seen[item, at] / n - p) <= 5 * sqrt(p * (1 - p) / n)


def test_factors_are_log_normal_with_the_spread():
    exploration = Exploration(spread=0.4, variants=2000, seed=1)
    logs = [log(exploration.factor(n, "bm25")) for n in range(1, 2000)]
    assert abs(mean(logs)) < 5 * 0.4 / sqrt(2000)
    assert abs(stdev(logs) - 0.4) < 5 * 0.4 / sqrt(4000)
    other = [log(exploration.factor(n, "dense")) for n in range(1, 2000)]
    assert abs(np.corrcoef(logs, other)[0, 1]) < 5 / sqrt(2000)


def test_a_request_has_the_same_ranking_in_any_order_of_experts_thread_and_process():
    fuser = Fuser(JURY, explore=EXPLORE)
    requests = [f"r{n}" for n in range(50)]
    expected = [fuser(LISTS, request=request) for request in requests]
    turned = dict(reversed(LISTS.items()))
    fresh = pickle.loads(pickle.dumps(fuser))
    assert [fresh(turned, request=request) for request in reversed(requests)][::-1] == expected
    with ThreadPoolExecutor(4) as pool:
        new = Fuser(JURY, explore=EXPLORE)
        assert list(pool.map(lambda request: new(LISTS, request=request), requests)) == expected
    assert fuser(LISTS, request=7) == fuser(LISTS, request="7")
    assert fuser(LISTS, request=UUID(int=7)) == fuser(LISTS, request=str(UUID(int=7)))


def test_a_saved_model_explores(tmp_path):
    juryrank.save(JURY, tmp_path / "model.json")
    fuser = Fuser(str(tmp_path / "model.json"), explore=EXPLORE)
    assert fuser(LISTS, request="r") == Fuser(JURY, explore=EXPLORE)(LISTS, request="r")
    assert list(signature(Fuser).parameters) == ["model", "explore", "params"]


def test_another_seed_gives_other_weights():
    one, two = (Fuser("rrf", explore=Exploration(seed=seed)).explored(LISTS, request="r") for seed in (1, 2))
    assert one.weights != two.weights


def test_many_queries_of_a_request_have_the_same_weights():
    fuser = Fuser(JURY, explore=EXPLORE)
    many = {expert: {"q": listed, "p": listed} for expert, listed in LISTS.items()}
    for request in range(5):
        one = fuser(LISTS, request=request)
        assert fuser(many, request=request) == {"p": one, "q": one}


def test_the_rows_of_a_log_have_the_columns_of_click_logs():
    shown = Fuser(JURY, explore=EXPLORE).explored(LISTS, request="r", top=2)
    first, second = shown.log_rows(query="tea")
    assert list(first) == ["query", "item", "position", "session", "ranking", "propensity"]
    assert (first["query"], first["position"], second["position"], first["session"]) == ("tea", 1, 2, "r")
    assert [row["item"] for row in (first, second)] == list(shown.ranking)
    assert [row["propensity"] for row in (first, second)] == list(shown.propensity.values())
    assert shown.log_rows("tea", session="s")[0]["session"] == "s"


@pytest.mark.parametrize("request_id", [None, "", 0.5])
def test_a_call_without_an_id_is_refused(request_id):
    fuser = Fuser("rrf", explore=0.3)
    for call in (fuser, fuser.explored):
        with pytest.raises(ParameterError, match="needs request=, the id of the request"):
            call(LISTS, request=request_id)


@pytest.mark.parametrize("explore", [-0.1, 6, float("nan"), "much", True, [0.3]])
def test_a_spread_that_is_none_is_refused(explore):
    with pytest.raises(ParameterError, match="explore is the spread of the weights"):
        Fuser("rrf", explore=explore)


def test_other_parameters_are_checked():
    for wrong in (0, 1.5, True, 10**6):
        with pytest.raises(ParameterError, match="variants must be a whole number"):
            Exploration(variants=wrong)
    with pytest.raises(ParameterError, match="seed must be a whole number"):
        Exploration(seed="a")
    fuser = Fuser("rrf", explore=0.3)
    with pytest.raises(ParameterError, match="top must be a whole number"):
        fuser.explored(LISTS, request="r", top=0)
    with pytest.raises(DataError, match="values must be"):
        fuser.explored(LISTS, request="r", values="both")
    with pytest.raises(DataError, match="one query"):
        fuser.explored({"a": {"q": ["x"]}}, request="r")


@pytest.mark.parametrize("name", ["kemeny", "mc4", "combmax", "combmin", "combmed", "rra"])
def test_a_method_without_weights_in_a_sum_is_refused(name):
    with pytest.raises(ParameterError, match=f"explore varies the weights of experts .*; {name} is no such sum"):
        Fuser(name, explore=0.3)


def test_every_method_explores_or_is_refused():
    explores = set()
    for name in [name for name in METHODS if not METHODS[name].needs_features]:
        try:
            fuser = Fuser(name, explore=Exploration(spread=2.0))
        except (ParameterError, DataError):
            continue
        explores.add(name)
        factors = {tuple(fuser.explored(SCORED, request=n).ranking.items()) for n in range(20)}
        assert len(factors) > 1, name
    assert explores >= {"rrf", "borda", "combsum", "dowdall", "rbc", "isr"}


def test_odd_inputs_are_reported_once():
    fuser = Fuser(JURY, explore=EXPLORE)
    lists = {"e0": ["i0", "i1", "i0"], "new": {"i2": 1.0, "i3": float("nan")}}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        shown = fuser.explored(lists, request="r")
    assert sorted(str(w.message).partition(":")[0] for w in caught) == ["jury", "the data", "the data"]
    with pytest.warns(DataWarning):
        assert fuser(lists, request="r") == shown.ranking
    with pytest.raises(UnknownNameError, match="new"):
        fuser.explored(lists, request="r", strict=True)


def test_objects_ranks_and_generators_are_read_as_in_a_call():
    fuser = Fuser("rrf", explore=EXPLORE)
    objects = {"x": [{"id": 1}, {"id": 2}], "y": [{"id": 2, "n": 1}]}
    assert fuser.explored(objects, request="r").ranking == fuser(objects, request="r")
    ranked = {"x": {"a": 1, "b": 9}, "y": {"a": 2, "b": 3}}
    assert fuser.explored(ranked, request="r", values="rank").ranking == fuser(ranked, request="r", values="rank")
    assert fuser.explored([iter("ab"), iter("bc")], request="r").ranking == fuser([["a", "b"], ["b", "c"]], request="r")
    assert fuser.explored({"x": [], "y": []}, request="r").ranking == {}
    assert juryrank.Exploration is Exploration


def test_the_text_of_a_fuser_says_that_it_explores():
    assert "spread=0.3" in repr(Fuser("rrf", explore=0.3))
    assert "spread" not in repr(Fuser("rrf"))
