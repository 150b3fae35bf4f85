"""Elasticsearch: the exported request and the examples of the page, through the real client to a fake server."""

import json

import pytest

pytest.importorskip("elasticsearch")

import elasticsearch
from elasticsearch.dsl import Search
from fake_search_server import serve_searches
from search_pages import assert_fused_as_juryrank, run_page
from typer.testing import CliRunner

import juryrank
from conftest import random_dataset
from juryrank.cli import app
from juryrank.integrations.elasticsearch import fuse_hits


@pytest.fixture
def server():
    with serve_searches() as fake:
        yield fake


@pytest.fixture
def client(server):
    with elasticsearch.Elasticsearch(server.url, request_timeout=5, max_retries=0) as made:
        yield made


def exported():
    data = random_dataset(4, ties=False)
    return json.loads(juryrank.export(juryrank.method("jury").fit(data), "elasticsearch", data=data))


def filled(request, queries):
    for part, query in zip(request["retriever"]["rrf"]["retrievers"], queries, strict=True):
        part["retriever"]["standard"]["query"] = query
    return request


def test_the_request_arrives_as_it_was_exported(server, client):
    found = exported()
    queries = [{"match": {"text": name}} for name in found["weights"]]
    request = filled(found["request"], queries)
    server.answers.append({"hits": {"hits": []}})
    client.search(index="texts", size=5, **request)
    (sent,) = server.requests
    assert (sent.method, sent.path) == ("POST", "/texts/_search")
    assert sent.headers["content-type"].startswith("application/vnd.elasticsearch+json; compatible-with=9")
    assert sent.body == {**request, "size": 5}
    rrf = sent.body["retriever"]["rrf"]
    assert [part["weight"] for part in rrf["retrievers"]] == list(found["weights"].values())
    assert set(rrf) == {"retrievers", "rank_constant", "rank_window_size"}


def assert_type(value, expected):
    """The value has the keys and types of RRFRetriever in Elastic's specification (elasticsearch-specification 9.2)."""
    optional = {key for key in expected if key.endswith("?")}
    allowed = {key.removesuffix("?"): kind for key, kind in expected.items()}
    assert value.keys() <= allowed.keys()
    assert {key for key in expected if key not in optional} <= value.keys()
    for key, found in value.items():
        assert isinstance(found, allowed[key]), key
        assert not isinstance(found, bool)


def test_the_request_has_the_types_of_the_specification():
    assert "retriever" in elasticsearch.Elasticsearch.search.__wrapped__.__annotations__
    rrf = exported()["request"]["retriever"]["rrf"]
    assert_type(rrf, {"retrievers": list, "rank_constant?": int, "rank_window_size?": int, "query?": str})
    assert rrf["rank_constant"] >= 1
    for part in rrf["retrievers"]:
        assert_type(part, {"retriever": dict, "weight?": float})
        assert part["weight"] >= 0
        assert list(part["retriever"]) == ["standard"]  # exactly one


def test_all_examples_of_the_page_run_and_the_fused_order_is_juryranks(server, capsys):
    space = run_page("elasticsearch", server.url)
    with space["client"] as client:
        lists = {
            expert: [hit["_id"] for hit in client.search(index="texts", query=query, size=20)["hits"]["hits"]]
            for expert, query in space["queries"]("food sticks to my pan").items()
        }
        titles = {item: source["title"] for item, source in server.documents["texts"].items()}
        constant = space["exported"]["request"]["retriever"]["rrf"]["rank_constant"]
        printed = capsys.readouterr().out
        assert_fused_as_juryrank(space, lists, titles, printed, dialect="elasticsearch", k=constant)


def test_answers_of_the_client_are_fused_as_they_are(server, client):
    answers = [
        {"hits": {"hits": [{"_index": "t", "_id": i, "_score": 1.0} for i in ids]}} for ids in ("abc", "ca", "b")
    ]
    server.answers.extend(answers)
    given = {expert: client.search(index="t", query={"match_all": {}}) for expert in ("x", "y", "z")}
    lists = {"x": list("abc"), "y": list("ca"), "z": ["b"]}
    fused = fuse_hits(given, "rrf", k=10)
    assert [(hit["_id"], hit["_score"]) for hit in fused] == list(juryrank.fuse(lists, "rrf", k=10).items())
    server.answers.extend(json.loads(json.dumps(answers)))
    typed = {expert: Search(using=client, index="t").execute() for expert in ("x", "y", "z")}
    assert fuse_hits(typed, "rrf", k=10) == fused


def test_the_command_line_writes_the_same_request(tmp_path, server, client):
    data = tmp_path / "data.csv"
    model = tmp_path / "model.json"
    lines = ["query,item,expert,rank,label"]
    for q in range(6):
        for expert, shift in (("bm25", 0), ("dense", 3), ("title", 5)):
            lines += [f"q{q},i{(n + shift * q) % 9},{expert},{n + 1},{(n + shift * q) % 9 % 3}" for n in range(9)]
    data.write_text("\n".join(lines) + "\n")
    runner = CliRunner()
    assert runner.invoke(app, ["fit", str(data), "-o", str(model), "--quiet"]).exit_code == 0
    done = runner.invoke(app, ["export", str(model), "--to", "elasticsearch", "--data", str(data)])
    assert done.exit_code == 0, done.output
    written = json.loads(done.stdout)
    assert written == json.loads(juryrank.export(juryrank.load(model), "elasticsearch", data=juryrank.read(data)))
    server.answers.append({"hits": {"hits": []}})
    client.search(index="texts", **filled(written["request"], [{"match_all": {}}] * len(written["weights"])))
    assert server.requests[0].body == written["request"]
