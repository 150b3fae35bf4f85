"""Qdrant's Rust engine (edge build): the same points, requests and predictions as with the local client."""

import pytest

pytest.importorskip("qdrant_client")
pytest.importorskip("qdrant_edge")

import qdrant_edge as edge
from engine_lists import SPARSE, Held, assert_same_ranking, held_out, vectors_of
from qdrant_client import models

import juryrank
from juryrank.integrations.qdrant import ExactFormula, NearestRRF

SINGLE = 1e-6  # the engine computes scores as float32
PLAIN = {"a": [1, 2, 3, 4, 5, 6], "b": [6, 3, 1, 8, 2, 9], "c": [9, 8, 7, 6]}


def sparse(values: list[float]):
    indices = [n for n, value in enumerate(values) if value]
    return edge.SparseVector(indices=indices, values=[values[n] for n in indices])


@pytest.fixture(scope="module")
def held() -> Held:
    return held_out()


@pytest.fixture(scope="module")
def shard(held: Held, tmp_path_factory):
    experts = sorted(held.train.experts)
    dense = edge.EdgeVectorParams(size=len(held.lists), distance=edge.Distance.Dot)
    config = edge.EdgeConfig(
        vectors={expert: dense for expert in experts if expert not in SPARSE},
        sparse_vectors={expert: edge.EdgeSparseVectorParams() for expert in experts if expert in SPARSE},
    )
    made = edge.EdgeShard.create(str(tmp_path_factory.mktemp("shard")), config)
    points = []
    for item, vectors in vectors_of(held).items():
        named = {
            e: sparse(values) if e in SPARSE else values
            for e, values in vectors.items()
            if any(values) or e not in SPARSE
        }
        points.append(edge.Point(item, named))
    made.update(edge.UpdateOperation.upsert_points(points))
    yield made
    made.close()


def prefetches_of(held: Held, query: str):
    place = list(held.lists).index(query)
    unit = [float(n == place) for n in range(len(held.lists))]
    return {
        expert: edge.Prefetch(
            query=edge.Query.Nearest(sparse(unit) if expert in SPARSE else unit, using=expert), limit=len(listed)
        )
        for expert, listed in held.lists[query].items()
    }


def ranked(shard, prefetches, query, limit: int = 2000) -> list[tuple[int, float]]:
    found = shard.query(edge.QueryRequest(prefetches=list(prefetches), query=query, limit=limit))
    return [(point.id, point.score) for point in found]


def as_expression(written):
    """The formula of a request of the client as an expression of the engine."""
    if isinstance(written, str):
        return edge.Expression.Variable(written)
    if isinstance(written, int | float):
        return edge.Expression.Constant(float(written))
    ((operation, operand),) = written.items()
    if operation in ("sum", "mult"):
        return getattr(edge.Expression, operation.title())([as_expression(part) for part in operand])
    if operation == "div":
        default = operand.get("by_zero_default")
        return edge.Expression.Div(as_expression(operand["left"]), as_expression(operand["right"]), default)
    return getattr(edge.Expression, operation.title())(as_expression(operand))


@pytest.mark.parametrize("k", [1, 2, 7, 60])
@pytest.mark.parametrize("weights", [None, [0.3, 2.5, 1.1], [1.0, 0.0, 0.004]])
def test_points_of_a_rank_are_those_of_the_dialect(tmp_path, k, weights):
    config = edge.EdgeConfig(sparse_vectors={name: edge.EdgeSparseVectorParams() for name in PLAIN})
    shard = edge.EdgeShard.create(str(tmp_path), config)
    points = [
        edge.Point(item, {e: sparse([99.0 - listed.index(item)]) for e, listed in PLAIN.items() if item in listed})
        for item in range(1, 10)
    ]
    shard.update(edge.UpdateOperation.upsert_points(points))
    prefetches = [edge.Prefetch(query=edge.Query.Nearest(sparse([1.0]), using=e), limit=len(PLAIN[e])) for e in PLAIN]
    found = ranked(shard, prefetches, edge.Fusion.Rrf(k=k, weights=weights))
    shard.close()
    by_hand = {}
    for weight, listed in zip(weights or [1.0] * 3, PLAIN.values(), strict=True):
        for rank, item in enumerate(listed, 1):
            by_hand[item] = by_hand.get(item, 0.0) + (1 / (rank / weight + k - 1) if weight else 0.0)
    assert_same_ranking(found, by_hand, SINGLE)
    named = None if weights is None else dict(zip(PLAIN, weights, strict=True))
    assert juryrank.fuse(PLAIN, "rrf", dialect="qdrant", k=k, weights=named) == pytest.approx(by_hand, abs=1e-12)


def test_weights_and_k_give_the_predicted_scores_and_change_the_order(shard, held):
    nearest = NearestRRF(held.model, held.train)
    rrf = nearest.request({e: models.Prefetch(query=[1.0]) for e in held.train.experts})["query"].rrf
    for query, lists in held.lists.items():
        prefetches = prefetches_of(held, query)
        used = [prefetches[expert] for expert in nearest.weights]
        named = {expert: lists[expert] for expert in nearest.weights}
        found = ranked(shard, used, edge.Fusion.Rrf(k=rrf.k, weights=rrf.weights))
        predicted = juryrank.fuse(named, "rrf", dialect="qdrant", k=nearest.k, weights=nearest.weights)
        assert_same_ranking(found, predicted, SINGLE)
        plain = ranked(shard, used, edge.Fusion.Rrf(k=2))
        assert_same_ranking(plain, juryrank.fuse(named, "rrf", dialect="qdrant"), SINGLE)
        assert [item for item, _ in found[:10]] != [item for item, _ in plain[:10]]


def test_the_formula_gives_the_scores_of_the_model_which_are_not_those_of_rrf(shard, held):
    exact = ExactFormula(held.model)
    for query, lists in held.lists.items():
        request = exact.request({e: models.Prefetch(query=[1.0], limit=len(listed)) for e, listed in lists.items()})
        written = request["query"].model_dump(mode="json", exclude_none=True)
        formula = edge.Formula(as_expression(written["formula"]), defaults=written["defaults"])
        ranks = [
            edge.Prefetch(prefetches=[prefetch], query=edge.Fusion.Rrf(k=nested.query.rrf.k), limit=nested.limit)
            for prefetch, nested in zip(prefetches_of(held, query).values(), request["prefetch"], strict=True)
        ]
        found = ranked(shard, ranks, formula)
        fused = juryrank.fuse(lists, model=held.model)
        assert_same_ranking(found, fused, SINGLE)
        assert [item for item, _ in found[:20]] == list(fused)[:20]
        assert list(fused)[:20] != list(juryrank.fuse(lists))[:20]
