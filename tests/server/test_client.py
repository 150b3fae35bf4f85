"""Clients against the service itself: what comes back is what juryrank computes here."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import juryrank
from juryrank.errors import JuryrankError, ServiceError
from server.feedback_samples import MODEL, labels_by_query, lists_by_query
from server.processes import Running, running

LISTS = {"bm25": ["a", "b", "c"], "dense": {"c": 0.9, "a": 0.4}, "splade": [("b", 2.0), ("d", 1.0)]}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A file of keys, and the only key in it."""
    path = tmp_path_factory.mktemp("keys") / "keys.json"
    command = [sys.executable, "-m", "juryrank", "serve", "--create-key", "all", "--scopes", "fuse,feedback,admin"]
    done = subprocess.run([*command, "--keys", str(path)], capture_output=True, text=True, check=True)
    return path, done.stdout.strip()


@pytest.fixture(scope="module")
def service(models: Path, key: tuple[Path, str]) -> Iterator[Running]:
    with running(models, "--keys", key[0]) as service:
        yield service


@pytest.fixture
def client(service: Running, key: tuple[Path, str]) -> Iterator[juryrank.Client]:
    with juryrank.Client(service.url, key[1]) as client:
        yield client


def fitted(seed: int) -> Any:
    random = np.random.default_rng(seed)
    lists, labels = {}, {}
    for n in range(30):
        items = [f"d{i}" for i in range(12)]
        lists[f"q{n}"] = {expert: random.permutation(items).tolist() for expert in ("bm25", "dense")}
        labels[f"q{n}"] = {item: int(random.integers(2)) for item in items}
    runs = {expert: {query: lists[query][expert] for query in lists} for expert in ("bm25", "dense")}
    return juryrank.fit(runs, "tuned-rrf", labels=labels)


def pairs(answer: dict[str, Any]) -> list[tuple[Any, float]]:
    return [(item["id"], item["score"]) for item in answer["items"]]


def test_a_fused_list_is_that_of_fuse(client: juryrank.Client) -> None:
    expected = juryrank.fuse(LISTS, method="rrf", k=10)
    answer = client.fuse(LISTS, method="rrf", params={"k": 10})
    assert pairs(answer) == list(expected.items())
    assert pairs(client.fuse(LISTS, method="rrf", params={"k": 10}, top=2)) == list(expected.items())[:2]
    batch = client.fuse(queries={"q2": LISTS, "q1": {"bm25": ["x"]}}, method="rrf", params={"k": 10})
    assert list(batch["queries"]) == ["q2", "q1"]
    assert pairs({"items": batch["queries"]["q2"]}) == list(expected.items())


def test_an_explanation_is_that_of_a_fuser(client: juryrank.Client) -> None:
    weights = {"bm25": 2.0, "dense": 1.0, "splade": 1.0}
    answer = client.explain(LISTS, method="rrf", weights=weights, top=3)
    expected = juryrank.Fuser("rrf", weights=weights).detailed(LISTS, top=3)
    assert [(each["id"], each["ranks"], each["contributions"]) for each in answer["items"]] == [
        (each.item, each.ranks, each.contributions) for each in expected
    ]


def test_models_are_put_described_rolled_back_and_removed(client: juryrank.Client, tmp_path: Path) -> None:
    first, second = fitted(1), fitted(2)
    juryrank.save(second, tmp_path / "second.json")
    old = client.put_model("search", first)
    new = client.put_model("search", tmp_path / "second.json")
    assert old["version"] != new["version"]
    lists = {"bm25": ["a", "b"], "dense": ["b", "c"]}
    answer = client.fuse(lists, model="search")
    assert answer["model"] == {"name": "search", "version": new["version"]}
    assert pairs(answer) == list(juryrank.fuse(lists, model=second).items())
    assert [each["name"] for each in client.models()["models"]] == ["search"]
    assert client.model("search")["version"] == new["version"]
    assert client.roll_back("search")["version"] == old["version"]
    assert pairs(client.fuse(lists, model="search")) == list(juryrank.fuse(lists, model=first).items())
    assert client.roll_back("search", new["version"])["version"] == new["version"]
    assert client.delete_model("search") == {}
    with pytest.raises(ServiceError, match="no model 'search'") as caught:
        client.model("search")
    assert caught.value.status == 404


def test_errors_have_the_status_and_the_id_of_the_request(client: juryrank.Client, service: Running) -> None:
    with pytest.raises(ServiceError, match="no method 'bordo'; did you mean 'borda'") as caught:
        client.fuse(LISTS, method="bordo")
    assert caught.value.status == 422
    client.health()  # the line is written after the answer
    assert caught.value.request_id in {line.get("request_id") for line in service.log_lines()}
    with juryrank.Client(service.url) as without_key, pytest.raises(ServiceError, match="a key is needed") as caught:
        without_key.models()
    assert caught.value.status == 401


def test_a_model_that_is_none_is_refused_before_or_by_the_service(client: juryrank.Client, tmp_path: Path) -> None:
    (tmp_path / "wrong.json").write_text("{}")
    with pytest.raises(ServiceError, match="not a juryrank model") as caught:
        client.put_model("wrong", tmp_path / "wrong.json")
    assert caught.value.status == 422
    with pytest.raises(JuryrankError, match="cannot be read"):
        client.put_model("wrong", tmp_path / "absent.json")
    with pytest.raises(ServiceError, match="name of a model"):
        client.put_model("a name", fitted(1))


def test_health_needs_no_key(service: Running) -> None:
    with juryrank.Client(service.url) as client:
        assert client.health() == {"status": "ok", "version": juryrank.__version__}


def test_many_calls_at_once_give_the_same(service: Running, key: tuple[Path, str], client: juryrank.Client) -> None:
    expected = client.fuse(LISTS, method="borda")

    async def ask() -> list[dict[str, Any]]:
        async with juryrank.AsyncClient(service.url, key[1]) as many:
            return await asyncio.gather(*(many.fuse(LISTS, method="borda") for _ in range(40)))

    assert asyncio.run(ask()) == [expected] * 40
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: client.fuse(LISTS, method="borda"), range(40))) == [expected] * 40


def test_feedback_is_stored_once_and_a_refit_learns_from_it(tmp_path: Path) -> None:
    (tmp_path / "demo.json").write_bytes(MODEL)
    lists, labels = lists_by_query(), labels_by_query()
    queries = list(labels)[:12]
    with running(tmp_path) as service, juryrank.Client(service.url) as client:
        first = client.feedback(queries[0], lists[queries[0]], labels=labels[queries[0]], key="mine")
        again = client.feedback(queries[0], lists[queries[0]], labels=labels[queries[0]], key="mine")
        assert (first["stored"], again["stored"]) == (1, 0)
        entries = [{"query": query, "lists": lists[query], "labels": labels[query]} for query in queries[1:]]
        assert client.feedback_many(entries)["stored"] == len(entries)
        before = client.model("demo")["version"]
        report = client.refit("demo", promote=True)
        assert (report["promoted"], report["learned_queries"]) == (True, len(queries))
        assert client.model("demo")["version"] != before
        assert client.refits("demo")["refits"][0]["learned_queries"] == len(queries)
        with pytest.raises(ServiceError, match="feedback needs labels"):
            client.feedback("q")
