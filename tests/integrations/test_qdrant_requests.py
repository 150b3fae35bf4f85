"""Requests for Qdrant: what users get wrong, and what the prepared objects say about themselves."""

import json

import pytest

pytest.importorskip("qdrant_client")

from qdrant_client import models

import juryrank
from conftest import random_dataset
from juryrank.errors import DataError, DataWarning, UnknownNameError
from juryrank.integrations.qdrant import ExactFormula, NearestRRF, fuse_points


@pytest.fixture(scope="module")
def data():
    return random_dataset(4, ties=False)


@pytest.fixture(scope="module")
def model(data):
    return juryrank.method("jury").fit(data)


def prefetches(*names: str) -> dict[str, models.Prefetch]:
    return {name: models.Prefetch(query=[1.0, 0.0], using=name, limit=5) for name in names}


def test_weights_are_those_of_the_exported_request(model, data):
    nearest = NearestRRF(model, data)
    exported = json.loads(juryrank.export(model, "qdrant", data=data))
    assert nearest.weights == exported["weights"]
    assert nearest.measured == exported["measured on the data given"]
    request = nearest.request(prefetches(*reversed(data.experts)))
    assert [each.using for each in request["prefetch"]] == list(exported["weights"])
    assert request["query"].model_dump() == exported["request"]["query"]
    assert repr(nearest).startswith(f"NearestRRF(k={nearest.k}, weights={{")


def test_a_prefetch_of_an_unknown_expert_or_a_missing_one_is_an_error(model, data):
    nearest = NearestRRF(model, data)
    first, *others = nearest.weights
    with pytest.raises(UnknownNameError, match=r"without a weight: e9; known: e0, e1"):
        nearest.request(prefetches(*data.experts, "e9"))
    with pytest.raises(DataError, match=f"none for {first}; give it, or fit the weights of the others"):
        nearest.request(prefetches(*others))
    fewer = NearestRRF(model, data, experts=others)
    assert set(fewer.weights) <= set(others)
    assert len(fewer.request(prefetches(*others))["prefetch"]) == len(fewer.weights)


def test_the_exported_formula_is_a_request_of_the_client(model):
    exported = json.loads(juryrank.export(model, "qdrant-formula", depth=5))["request"]
    request = ExactFormula(model).request(prefetches(*sorted(model.expert_weights().keys() - {model.others_key})))
    assert request["query"] == models.FormulaQuery(**exported["query"])
    assert [each.limit for each in request["prefetch"]] == [each["limit"] for each in exported["prefetch"]]
    assert {each.query.rrf.k for each in request["prefetch"]} == {1}


def test_an_expert_that_the_model_has_not_learned_from_is_named_once(model):
    exact = ExactFormula(model)
    with pytest.warns(DataWarning, match="has not learned from: new"):
        request = exact.request(prefetches("e0", "new"))
    assert exact.request(prefetches("e0", "new")) == request


def test_what_is_no_sum_of_points_by_rank_has_no_formula(data, model):
    for name in ("kemeny", "borda"):
        with pytest.raises(
            DataError, match=f"{name} with these parameters is not a sum of points by rank alone.*fuse_points"
        ):
            ExactFormula(juryrank.method(name).fit(data))
    with pytest.raises(DataError, match="at least one expert"):
        ExactFormula(model).request({})


def points_of(*scores: float) -> list[models.ScoredPoint]:
    return [models.ScoredPoint(id=n, version=0, score=score) for n, score in enumerate(scores)]


def test_methods_that_use_scores_get_them_and_distances_are_refused():
    near, far = points_of(0.9, 0.8, 0.1), points_of(0.2, 0.15)[::-1]
    fused = fuse_points({"a": near, "b": sorted(far, key=lambda point: -point.score)}, "combsum", norm="none")
    assert {point.id: point.score for point in fused} == pytest.approx({0: 1.1, 1: 0.95, 2: 0.1})
    assert near[0].score == 0.9  # the points that were given stay as they are
    with pytest.raises(DataError, match="expert 'a': scores grow along the list, as distances do"):
        fuse_points({"a": points_of(0.1, 0.2)}, "combsum")
    assert [point.id for point in fuse_points({"a": points_of(0.1, 0.2)}, "rrf")] == [0, 1]


def test_a_sequence_of_answers_needs_no_names_and_one_answer_alone_is_no_list_of_lists():
    near, far = points_of(0.9, 0.8), points_of(0.7)
    assert fuse_points([near, far]) == fuse_points({"1": near, "2": far})
    for wrong in (near, {"a": "text"}, {"a": [3]}):
        with pytest.raises(DataError, match=r"expert '?.': a list of points, or what query_points returns, is needed"):
            fuse_points(wrong)


def test_without_points_there_is_nothing_to_fuse():
    assert fuse_points({"a": [], "b": []}) == []
