"""``/v1/fuse`` and ``/v1/explain`` of the real process, compared with juryrank in this one."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import juryrank
from juryrank.errors import JuryrankWarning
from server.processes import Running, running
from server.samples import DEMO, EXPERTS, learned_model, random_lists, scored, write_model


@pytest.fixture(scope="module")
def demo() -> Iterator[Running]:
    with running() as service:
        yield service


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "first.json", seed=0)
    write_model(folder / "second.json", seed=1)
    write_model(folder / "ridge.json", seed=0, method="ridge")
    config = folder.parent / "serve.toml"
    config.write_text('default_model = "second"\n')
    with running(folder, "--config", config) as service:
        yield service


def fused(lists: Any, model: Any = "rrf", **options: Any) -> list[dict[str, Any]]:
    """The items of an answer, by the library."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JuryrankWarning)
        found = juryrank.Fuser(model)(lists, **options)
    return [{"id": item, "score": score} for item, score in found.items()]


def demo_lists() -> dict[str, dict[str, dict[str, int]]]:
    """The lists of the demo data by query: {query: {expert: {item: -rank}}}."""
    import polars as pl

    frame = pl.read_parquet(DEMO / "runs.parquet")
    found: dict[str, dict[str, dict[str, int]]] = {}
    for query, item, expert, rank in frame.iter_rows():
        found.setdefault(str(query), {}).setdefault(expert, {})[item] = -rank
    return found


def test_the_demo_model_fuses_the_demo_queries_as_the_library_does(demo: Running) -> None:
    queries = demo_lists()
    assert len(queries) == 30
    model = DEMO / "model.json"
    answer = demo.post("/v1/fuse", {"queries": queries, "model": "demo"}).json()
    assert answer["warnings"] == []
    assert answer["queries"] == {query: fused(lists, model) for query, lists in queries.items()}
    assert sum(map(len, answer["queries"].values())) > 5000


def test_a_learned_model_orders_the_demo_queries_otherwise_than_rrf(demo: Running) -> None:
    queries = demo_lists()
    learned = demo.post("/v1/fuse", {"queries": queries}).json()["queries"]
    rrf = demo.post("/v1/fuse", {"queries": queries, "method": "rrf"}).json()["queries"]
    assert all([item["id"] for item in learned[query]] != [item["id"] for item in rrf[query]] for query in queries)


@pytest.mark.parametrize("name", ["first", "second", "ridge"])
@pytest.mark.parametrize("shape", ["ids", "scores", "pairs"])
def test_every_model_fuses_lists_of_every_shape_as_the_library_does(models: Running, name: str, shape: str) -> None:
    model = learned_model(1 if name == "second" else 0, "ridge" if name == "ridge" else "jury")
    for seed in range(10):
        lists: Any = random_lists(seed)
        if shape == "scores":
            lists = scored(lists, seed)
        sent = lists
        if shape == "pairs":
            lists = {expert: list(listed.items()) for expert, listed in scored(lists, seed).items()}
            sent = {expert: [list(pair) for pair in listed] for expert, listed in lists.items()}
        answer = models.post("/v1/fuse", {"lists": sent, "model": name}).json()
        assert answer["items"] == fused(lists, model)
        assert answer["warnings"] == []
        assert answer["method"] == model.name
        assert answer["model"]["name"] == name


def test_the_shapes_of_lists_can_be_mixed_in_one_request(demo: Running) -> None:
    lists = {"a": ["x", "y"], "b": {"y": 2.5, "z": 1}, "c": [["z", 0.5], ["x", 0.25]]}
    mixed = {**lists, "c": [("z", 0.5), ("x", 0.25)]}
    assert demo.post("/v1/fuse", {"lists": lists, "method": "rrf"}).json()["items"] == fused(mixed)
    assert demo.post("/v1/fuse", {"lists": lists, "method": "combsum"}).json()["items"] == fused(mixed, "combsum")


@pytest.mark.parametrize("method", ["rrf", "combsum", "mean-rank"])
@pytest.mark.parametrize("prefix", ["", "_"])
def test_hits_are_fused_as_the_library_does(demo: Running, method: str, prefix: str) -> None:
    for seed in range(5):
        lists = scored(random_lists(seed), seed)
        hits = {
            expert: [
                {f"{prefix}id": item, "source": {"n": [1]}, f"{prefix}score": score} for item, score in each.items()
            ]
            for expert, each in lists.items()
        }
        expected = fused(lists, method)
        assert fused(hits, method) == expected
        for sent in (hits, {**hits, "e0": lists["e0"]}):  # one shape, or one for each expert
            answer = demo.post("/v1/fuse", {"lists": sent, "method": method}).json()
            assert (answer["items"], answer["warnings"]) == (expected, [])
        batch = demo.post("/v1/fuse", {"queries": {"q": hits}, "method": method}).json()
        assert batch["queries"]["q"] == expected
        explained = demo.post("/v1/explain", {"lists": hits, "method": method}).json()["items"]
        assert [{"id": item["id"], "score": item["score"]} for item in explained] == expected


def test_hits_without_scores_are_in_order_and_answers_can_be_fused_again(demo: Running) -> None:
    lists = random_lists(0)
    hits = {expert: [{"id": item} for item in listed] for expert, listed in lists.items()}
    once = demo.post("/v1/fuse", {"lists": hits, "method": "rrf"}).json()["items"]
    assert once == fused(lists)
    assert demo.post("/v1/fuse", {"lists": {"a": once}, "method": "rrf"}).json()["items"] == fused({"a": once})
    some = {
        "a": [{"id": "x", "score": None}, {"id": "y", "score": 1}, {"id": "z", "score": 2}, {"id": "z", "score": 0}]
    }
    answer = demo.post("/v1/fuse", {"lists": some, "method": "rrf"}).json()
    assert answer["items"] == fused(some)
    assert ["without a score" in answer["warnings"][0], "repeat an item" in answer["warnings"][1]] == [True, True]


def test_ids_that_are_whole_numbers_stay_whole_numbers(demo: Running) -> None:
    lists = {"a": [3, -1, 2**70], "b": [[2**70, 1.5], [3, 0.5]]}
    answer = demo.post("/v1/fuse", {"lists": lists, "method": "rrf"}).json()
    assert [item["id"] for item in answer["items"]] == [3, 2**70, -1]
    assert {type(item["id"]) for item in answer["items"]} == {int}
    assert answer["warnings"] == []


def test_the_same_id_as_text_and_as_number_is_one_item_and_reported(demo: Running) -> None:
    answer = demo.post("/v1/fuse", {"lists": {"a": [1, 2], "b": ["2", "1"]}, "method": "rrf"}).json()
    assert len(answer["items"]) == 2
    assert "several types" in answer["warnings"][0]


def test_the_default_model_answers_requests_that_name_none(models: Running) -> None:
    lists = random_lists(3)
    answer = models.post("/v1/fuse", {"lists": lists}).json()
    assert answer["model"]["name"] == "second"
    assert answer["items"] == fused(lists, learned_model(1))


def test_a_service_with_several_models_and_no_default_asks_which(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_model(tmp_path / f"{name}.json")
    with running(tmp_path) as service:
        reply = service.post("/v1/fuse", {"lists": {"e0": ["a"]}})
        assert reply.status == 422
        assert "there are 2 models" in reply.json()["detail"]
        (tmp_path / "two.json").unlink()
        assert service.post("/v1/fuse", {"lists": {"e0": ["a"]}}).json()["model"]["name"] == "one"


def test_a_batch_is_every_query_alone(models: Running) -> None:
    queries = {f"q{seed}": random_lists(seed) for seed in range(5)}
    batch = models.post("/v1/fuse", {"queries": queries, "top": 4}).json()
    assert "items" not in batch
    for query, lists in queries.items():
        assert batch["queries"][query] == models.post("/v1/fuse", {"lists": lists, "top": 4}).json()["items"]
        assert len(batch["queries"][query]) == 4


def test_a_batch_may_be_empty_and_so_may_queries_and_lists(models: Running) -> None:
    assert models.post("/v1/fuse", {"queries": {}}).json()["queries"] == {}
    assert models.post("/v1/fuse", {"queries": {"q": {}}}).json()["queries"] == {"q": []}
    assert models.post("/v1/fuse", {"lists": {}}).json()["items"] == []
    assert models.post("/v1/fuse", {"lists": {"e0": []}}).json()["items"] == []


@pytest.mark.parametrize("method", ["rrf", "borda", "combsum", "combmnz", "dowdall", "mean-rank", "rbc"])
def test_methods_give_what_the_library_gives(demo: Running, method: str) -> None:
    for seed in range(5):
        lists = scored(random_lists(seed), seed)
        answer = demo.post("/v1/fuse", {"lists": lists, "method": method}).json()
        assert answer["items"] == fused(lists, method)
        assert (answer["method"], answer["model"]) == (method, None)


def test_weights_and_parameters_of_a_method_are_used(demo: Running) -> None:
    lists, weights = random_lists(0), {"e0": 3.0, "e1": 0.5}
    answer = demo.post("/v1/fuse", {"lists": lists, "method": "rrf", "weights": weights, "params": {"k": 7}}).json()
    assert answer["items"] == fused(lists, juryrank.method("rrf", k=7, weights=weights))
    assert answer["items"] != demo.post("/v1/fuse", {"lists": lists, "method": "rrf"}).json()["items"]


def test_a_method_that_can_take_long_or_learns_is_not_offered(demo: Running) -> None:
    for method, reason in (("kemeny", "can take long"), ("jury", "learns from labels"), ("rff", "did you mean 'rrf'")):
        reply = demo.post("/v1/fuse", {"lists": {"a": ["x"]}, "method": method})
        assert reply.status == 422
        assert reason in reply.json()["detail"]


def test_explanations_are_those_of_the_library_and_add_up(models: Running) -> None:
    lists, fuser = random_lists(1), juryrank.Fuser(learned_model(1))
    explained = models.post("/v1/explain", {"lists": lists, "top": 3}).json()
    assert explained["items"] == [
        {"id": found.item, "score": found.score, "ranks": found.ranks, "contributions": found.contributions}
        for found in fuser.detailed(lists, top=3)
    ]
    assert models.post("/v1/fuse", {"lists": lists, "top": 3, "explain": True}).json() == explained
    for item in explained["items"]:
        assert item["ranks"] == {e: lists[e].index(item["id"]) + 1 for e in EXPERTS if item["id"] in lists[e]}
        assert sum(item["contributions"].values()) == pytest.approx(item["score"], rel=1e-12)


def test_explain_takes_one_query(models: Running) -> None:
    assert models.post("/v1/explain", {"queries": {"q": {"e0": ["a"]}}}).status == 422
    batch = models.post("/v1/fuse", {"queries": {"q": {"e0": ["a"]}}, "explain": True}).json()
    assert batch["queries"]["q"][0]["ranks"] == {"e0": 1}


def test_unknown_experts_are_named_in_every_answer_and_not_only_in_the_first(models: Running) -> None:
    lists = {**random_lists(0), "bm25": ["i0"]}
    answers = [models.post("/v1/fuse", {"lists": lists}).json() for _ in range(3)]
    assert [len(answer["warnings"]) for answer in answers] == [1, 1, 1]
    assert all("not learned from: bm25; known: e0" in answer["warnings"][0] for answer in answers)
    assert all(answer["items"] == fused(lists, learned_model(1)) for answer in answers)
    explained = models.post("/v1/explain", {"lists": lists}).json()
    assert explained["warnings"] == answers[0]["warnings"]
    known = models.post("/v1/fuse", {"lists": random_lists(0)}).json()
    assert known["warnings"] == []


def test_a_batch_names_the_unknown_experts_of_all_its_queries(models: Running) -> None:
    queries = {"q": {"e0": ["a"], "new": ["a"]}, "r": {"e1": ["a"], "other": ["b"]}}
    for _ in range(2):
        answer = models.post("/v1/fuse", {"queries": queries}).json()
        assert len(answer["warnings"]) == 1
        assert "not learned from: new, other; known" in answer["warnings"][0]


def test_duplicates_are_reported_in_every_answer(models: Running) -> None:
    for _ in range(2):
        for listed in (["a", "b", "a"], [["a", 3.0], ["b", 2.0], ["a", 1.0]]):
            answer = models.post("/v1/fuse", {"lists": {"e0": listed}}).json()
            assert any("1 entries repeat an item" in text for text in answer["warnings"])
            assert [item["id"] for item in answer["items"]] == ["a", "b"]


def test_weights_of_experts_without_a_list_are_reported(demo: Running) -> None:
    body = {"lists": {"a": ["x"]}, "method": "rrf", "weights": {"b": 2.0}}
    for _ in range(2):
        assert "weights for experts that are not in the data: b" in demo.post("/v1/fuse", body).json()["warnings"][0]


def test_of_equal_names_in_one_object_the_last_counts(demo: Running) -> None:
    answer = demo.post("/v1/fuse", b'{"lists": {"a": ["x"], "a": ["y"]}, "method": "rrf"}').json()
    assert [item["id"] for item in answer["items"]] == ["y"]


BAD = {
    "no list": ({"method": "rrf"}, "give lists"),
    "both": ({"lists": {}, "queries": {}}, "give lists"),
    "unknown field": ({"lists": {}, "methods": "rrf"}, "unknown field `methods`"),
    "text as list": ({"lists": {"a": "x"}}, "expert 'a'"),
    "number as id": ({"lists": {"b": [1.5]}}, "expert 'b'"),
    "null as id": ({"lists": {"b": [None]}}, "expert 'b'"),
    "truth as id": ({"lists": {"b": [True]}}, "expert 'b'"),
    "object as id": ({"lists": {"b": [{}]}}, "expert 'b'"),
    "text as score": ({"lists": {"b": {"x": "1"}}}, "expert 'b'"),
    "null as score": ({"lists": {"b": {"x": None}}}, "expert 'b'"),
    "truth as score": ({"lists": {"b": [["x", True]]}}, "expert 'b'"),
    "three in a pair": ({"lists": {"b": [["x", 1, 2]]}}, "expert 'b'"),
    "in a batch": ({"queries": {"q": {"a": ["x"]}, "r": {"c": [None]}}}, "expert 'c'"),
    "object without id": ({"lists": {"b": [{"id": "x"}, {"name": "y"}]}}, "expert 'b': position 2: an object needs id"),
    "text as score of a hit": ({"lists": {"b": [{"id": "x", "score": "1"}]}}, "expert 'b': position 1: Expected"),
    "number as id of a hit": ({"lists": {"b": [{"id": "x"}, {"_id": 1.5}]}}, "expert 'b': position 2: Expected"),
    "ids and hits": (
        {"lists": {"b": ["x", {"id": "y", "score": 2}]}},
        'expert \'b\': position 1 is an id, but position 2 is an object with .id: {"id":"y","score":2.0}',
    ),
    "hits and pairs": (
        {"queries": {"q": {"b": [{"_id": "y"}, {"id": "z"}, ["x", 1]]}}, "method": "rrf"},
        "expert 'b': position 1 is an object with .id, but position 3 is an (id, score) pair",
    ),
    "pairs and ids": ({"lists": {"b": [["x", 1], "y"]}}, "all elements of a list must have the same shape"),
    "top of 0": ({"lists": {}, "top": 0}, "top must be a whole number >= 1, got 0"),
    "top of 1.5": ({"lists": {}, "top": 1.5}, "$.top"),
    "model and method": ({"lists": {}, "model": "demo", "method": "rrf"}, "give model or method, not both"),
    "weights of a model": ({"lists": {}, "weights": {"a": 1}}, "a model has its weights"),
    "params of a model": ({"lists": {}, "params": {"k": 1}}, "a model has its weights"),
    "negative weight": ({"lists": {}, "method": "rrf", "weights": {"a": -1}}, "must be a finite number >= 0"),
    "unknown parameter": ({"lists": {}, "method": "rrf", "params": {"kk": 1}}, "rrf has no parameter kk"),
    "parameter of Python": ({"lists": {}, "method": "rrf", "params": {"self": 1}}, "rrf has no parameter self"),
    "parameter out of bounds": ({"lists": {}, "method": "rrf", "params": {"k": -1}}, "k of RRF must be > 0"),
    "nested parameter": ({"lists": {}, "method": "rrf", "params": {"k": [1]}}, "$.params"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_request_that_does_not_fit_is_told_why(demo: Running, name: str) -> None:
    body, reason = BAD[name]
    reply = demo.post("/v1/fuse", body, {"X-Request-Id": "mine-7"})
    problem = reply.json()
    assert reply.status == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert reason in problem["detail"]
    assert (problem["type"], problem["title"], problem["status"]) == ("about:blank", "Unprocessable Entity", 422)
    assert problem["request_id"] == reply.headers["x-request-id"] == "mine-7"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/fuse", 405),
        ("PUT", "/v1/explain", 405),
        ("GET", "/", 404),
        ("POST", "/v1/nothing", 404),
        ("GET", "/v1/models/absent", 404),
        ("GET", "/v1/models/", 404),
        ("PATCH", "/v1/models/demo", 405),
    ],
)
def test_paths_and_methods_that_do_not_exist_are_problems(demo: Running, method: str, path: str, status: int) -> None:
    reply = demo.call(method, path)
    assert reply.status == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["request_id"] == reply.headers["x-request-id"]


def test_a_model_that_does_not_exist_is_not_found(demo: Running) -> None:
    reply = demo.post("/v1/fuse", {"lists": {"a": ["x"]}, "model": "dmeo"})
    assert reply.status == 404
    assert "did you mean 'demo'" in reply.json()["detail"]


def test_what_is_not_json_is_refused_as_such(demo: Running) -> None:
    for body in (b"", b"{", b"lists=a", json.dumps({"lists": {}}).encode("utf-16")):
        reply = demo.post("/v1/fuse", body)
        assert reply.status == 400
        assert "must be JSON in UTF-8" in reply.json()["detail"]


def test_every_answer_has_an_id_and_those_of_the_caller_are_kept_if_they_are_harmless(demo: Running) -> None:
    found = {demo.get("/healthz").headers["x-request-id"] for _ in range(5)}
    assert len(found) == 5
    for given in ("a b", "x" * 65, "{}", "ü"):
        reply = demo.call("GET", "/healthz", headers={"X-Request-Id": given.encode("latin-1")})  # type: ignore[dict-item]
        assert reply.headers["x-request-id"] != given
    assert demo.get("/healthz", {"X-Request-Id": "trace-1.2_3"}).headers["x-request-id"] == "trace-1.2_3"
