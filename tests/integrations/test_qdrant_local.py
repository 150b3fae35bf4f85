"""Qdrant's local client: named vectors whose searches return the lists of TREC-COVID systems, fused by a model."""

import pytest

pytest.importorskip("qdrant_client")

from engine_lists import SPARSE, Held, assert_same_ranking, held_out, vectors_of
from qdrant_client import QdrantClient, models

import juryrank
from juryrank.integrations.qdrant import ExactFormula, NearestRRF, fuse_points

DOUBLE = 1e-12  # the local client adds up Python floats
SINGLE = 1e-6  # it rounds the scores of prefetches to float32 before a formula


def search_of(expert: str, place: int, n_queries: int):
    if expert in SPARSE:
        return models.SparseVector(indices=[place], values=[1.0])
    return [float(n == place) for n in range(n_queries)]


def prefetches_of(held: Held, query: str) -> dict[str, models.Prefetch]:
    place = list(held.lists).index(query)
    return {
        expert: models.Prefetch(query=search_of(expert, place, len(held.lists)), using=expert, limit=len(listed))
        for expert, listed in held.lists[query].items()
    }


def point_of(item: int, vectors: dict[str, list[float]]) -> models.PointStruct:
    named = {}
    for expert, values in vectors.items():
        if expert not in SPARSE:
            named[expert] = values
        elif indices := [n for n, value in enumerate(values) if value]:
            named[expert] = models.SparseVector(indices=indices, values=[values[n] for n in indices])
    return models.PointStruct(id=item, vector=named, payload={"name": f"article {item}"})


@pytest.fixture(scope="module")
def held() -> Held:
    return held_out(depth=50)


@pytest.fixture(scope="module")
def client(held: Held):
    made = QdrantClient(":memory:")
    experts = sorted(held.train.experts)
    dense = models.VectorParams(size=len(held.lists), distance=models.Distance.DOT)
    made.create_collection(
        "articles",
        vectors_config={expert: dense for expert in experts if expert not in SPARSE},
        sparse_vectors_config={expert: models.SparseVectorParams() for expert in experts if expert in SPARSE},
    )
    made.upsert("articles", [point_of(item, vectors) for item, vectors in vectors_of(held).items()])
    yield made
    made.close()


@pytest.fixture(scope="module")
def nearest(held: Held) -> NearestRRF:
    return NearestRRF(held.model, held.train)


def ranked(client, limit: int = 2000, **request) -> list[tuple[int, float]]:
    return [(point.id, point.score) for point in client.query_points("articles", **request, limit=limit).points]


def test_the_searches_return_the_lists(client, held):
    for query, lists in held.lists.items():
        for expert, prefetch in prefetches_of(held, query).items():
            found = client.query_points("articles", query=prefetch.query, using=expert, limit=prefetch.limit)
            assert [point.id for point in found.points] == lists[expert]


def test_weights_and_k_give_the_predicted_scores_and_change_the_order(client, held, nearest):
    for query, lists in held.lists.items():
        request = nearest.request(prefetches_of(held, query))
        predicted = juryrank.fuse(
            {expert: lists[expert] for expert in nearest.weights},
            "rrf", dialect="qdrant", k=nearest.k, weights=nearest.weights,
        )  # fmt: skip
        found = ranked(client, **request)
        assert_same_ranking(found, predicted, DOUBLE)
        plain = ranked(client, prefetch=request["prefetch"], query=models.FusionQuery(fusion=models.Fusion.RRF))
        own = juryrank.fuse({expert: lists[expert] for expert in nearest.weights}, "rrf", dialect="qdrant")
        assert_same_ranking(plain, own, DOUBLE)
        assert [item for item, _ in found[:10]] != [item for item, _ in plain[:10]]


def test_the_formula_gives_the_scores_of_the_model_which_are_not_those_of_rrf(client, held):
    exact = ExactFormula(held.model)
    query = next(iter(held.lists))
    lists = held.lists[query]
    fused = juryrank.fuse(lists, model=held.model)
    found = ranked(client, **exact.request(prefetches_of(held, query)))
    assert_same_ranking(found, fused, SINGLE)
    assert [item for item, _ in found[:10]] == list(fused)[:10]
    assert list(fused)[:10] != list(juryrank.fuse(lists))[:10]


def test_a_method_with_other_curves_has_a_formula_too(client, held):
    query = next(iter(held.lists))
    some = dict(list(prefetches_of(held, query).items())[:2])
    for prefetch in some.values():
        prefetch.limit = 8
    model = juryrank.method("dowdall")
    fused = juryrank.fuse({expert: held.lists[query][expert][:8] for expert in some}, "dowdall")
    assert_same_ranking(ranked(client, **ExactFormula(model.fit(held.train)).request(some)), fused, SINGLE)


def test_fused_points_are_in_the_order_of_the_model_with_their_payload(client, held):
    query = next(iter(held.lists))
    answers = {
        expert: client.query_points("articles", query=each.query, using=expert, limit=each.limit)
        for expert, each in prefetches_of(held, query).items()
    }
    fused = juryrank.fuse(held.lists[query], model=held.model, top=20)
    points = fuse_points(answers, juryrank.Fuser(held.model), top=20)
    assert [(point.id, point.score) for point in points] == list(fused.items())
    assert [point.payload for point in points] == [{"name": f"article {item}"} for item in fused]
    plain = fuse_points({expert: answer.points for expert, answer in answers.items()}, "rrf", top=20, k=60)
    assert [point.id for point in plain] == list(juryrank.fuse(held.lists[query], top=20))
    assert [point.id for point in plain] != [point.id for point in points]
