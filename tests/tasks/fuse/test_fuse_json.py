"""Lists that are JSON text give what a Fuser gives for the lists themselves, or are left to it."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import juryrank
from juryrank.kernels import library
from juryrank.tasks.fuse.json_lists import JsonRoom, JsonSums
from juryrank.tasks.fuse.preparation import plain_way
from juryrank.tasks.fuse.sums import PointSums

pytestmark = pytest.mark.skipif(
    library.open_library() is None, reason="no library of kernels; `make kernels` builds it"
)


def encode(numbers: list[float]) -> bytes:
    return json.dumps(numbers, separators=(",", ":")).encode()


@pytest.fixture(scope="module")
def room() -> JsonRoom:
    return JsonRoom(encode)


def text_sums(method: Any, room: JsonRoom) -> JsonSums:
    way = plain_way(method)
    assert isinstance(way, PointSums)
    return way.of_json(room)


def as_text(lists: dict[str, list[str]]) -> dict[str, bytes]:
    return {expert: json.dumps(listed).encode() for expert, listed in lists.items()}


def random_queries(number: int) -> Iterator[dict[str, list[str]]]:
    random = np.random.default_rng(0)
    for _ in range(number):
        n_lists, size = int(random.integers(1, 6)), int(random.integers(1, 300))
        names = [str(name) for name in random.permutation(2 * size)]
        names = names if random.random() < 0.5 else [f"d{name}" for name in names]
        experts = random.permutation([f"e{n}" for n in range(10)])[:n_lists].tolist()
        yield {e: random.permutation(names)[: int(random.integers(1, size + 1))].tolist() for e in experts}


METHODS = [
    juryrank.RRF(), juryrank.RRF(k=1, weights={"e1": 2.5, "e3": 0.0}), juryrank.RRF(dialect="langchain"),
    juryrank.Dowdall(),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:rrf. weights for experts")
@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_items_and_scores_are_those_of_a_fuser(method: Any, room: JsonRoom) -> None:
    fuser, sums = juryrank.Fuser(method), text_sums(method, room)
    for lists in random_queries(60):
        expected = [{"id": item, "score": score} for item, score in fuser(lists).items()]
        found = sums(as_text(lists))
        assert found is not None
        assert (json.loads(found[0]), found[1]) == (expected, sum(map(len, lists.values())))
        best = sums(as_text(lists), top=3)
        assert best is not None
        assert json.loads(best[0]) == expected[:3]


def test_a_learned_model_gives_what_its_fuser_gives(room: JsonRoom) -> None:
    queries = dict(enumerate(random_queries(20)))
    runs = {f"e{n}": {str(q): lists[f"e{n}"] for q, lists in queries.items() if f"e{n}" in lists} for n in range(10)}
    labels = {str(q): {item: len(item) % 2 for item in next(iter(lists.values()))} for q, lists in queries.items()}
    model = juryrank.fit(runs, "tuned-rrf", labels=labels)
    sums = text_sums(model, room)
    for lists in queries.values():
        found = sums(as_text(lists))
        assert found is not None
        assert {item["id"]: item["score"] for item in json.loads(found[0])} == juryrank.fuse(lists, model=model)


def test_long_lists_get_deeper_points_and_too_much_is_left(room: JsonRoom) -> None:
    sums = text_sums(juryrank.RRF(), room)
    for size, fits in ((100, True), (5000, True), (9000, False), (100, True), (40_000, False)):
        lists = {"a": [f"d{n}" for n in range(size)], "b": [f"d{n}" for n in range(size, 0, -1)]}
        found = sums(as_text(lists))
        assert (found is not None) == fits
        if found is not None:
            assert {item["id"]: item["score"] for item in json.loads(found[0])} == juryrank.fuse(lists)


def test_other_lists_are_left(room: JsonRoom) -> None:
    sums = text_sums(juryrank.RRF(), room)
    for wrong in (b'["a","a"]', b'{"a":1}', b"[1]", '["é"]'.encode(), b'["\\n"]', b"null", b"[]"):
        assert sums({"e": wrong}) is None
    assert sums({}) is None
    assert sums({"e": b'["a"]', "f": b"[]"}) is not None


def test_experts_that_come_and_go_take_no_more_memory(room: JsonRoom) -> None:
    sums = text_sums(juryrank.RRF(), room)
    for n in range(3000):
        assert sums({f"expert {n}": b'["a"]'}) is not None
    assert sum(kept.points.nbytes for kept in sums.tables.kept) < 2 << 20
