"""OpenSearch: the exported requests and the examples of the page, through the real client to a fake server."""

import json

import pytest

pytest.importorskip("opensearchpy")

import opensearchpy
from fake_search_server import serve_searches
from opensearchpy.helpers.search import Search
from search_pages import assert_fused_as_juryrank, run_page
from typer.testing import CliRunner

import juryrank
from conftest import random_dataset
from juryrank.cli import app
from juryrank.errors import DataError
from juryrank.integrations.opensearch import fuse_hits


@pytest.fixture
def server():
    with serve_searches() as fake:
        yield fake


@pytest.fixture
def client(server):
    made = opensearchpy.OpenSearch(server.url, timeout=5, max_retries=0)
    yield made
    made.close()


def test_pipeline_and_search_arrive_as_they_were_exported(server, client):
    data = random_dataset(4, ties=False)
    found = json.loads(juryrank.export(juryrank.method("jury").fit(data), "opensearch", data=data))
    client.search_pipeline.put(id="jury", body=found["request"])
    queries = [{"match": {"text": name}} for name in found["weights"]]
    found["search"]["query"]["hybrid"]["queries"] = queries
    server.answers.append({"hits": {"hits": []}})
    client.search(index="texts", body=found["search"], params={"search_pipeline": "jury"})
    pipeline, search = server.requests
    assert (pipeline.method, pipeline.path) == ("PUT", "/_search/pipeline/jury")
    assert pipeline.headers["content-type"] == "application/json"
    assert pipeline.body == found["request"]
    assert set(pipeline.body) == {"description", "phase_results_processors"}
    (processor,) = pipeline.body["phase_results_processors"]
    combination = processor["score-ranker-processor"]["combination"]
    assert combination["technique"] == "rrf"
    assert isinstance(combination["rank_constant"], int)
    assert 1 <= combination["rank_constant"] <= 10_000
    assert combination["parameters"]["weights"] == list(found["weights"].values())
    assert (search.method, search.path) == ("POST", "/texts/_search?search_pipeline=jury")
    assert search.body == found["search"]
    assert search.body["query"]["hybrid"]["pagination_depth"] == max(data.rankings.list_size)


def test_all_examples_of_the_page_run_and_the_fused_order_is_juryranks(server, capsys):
    space = run_page("opensearch", server.url)
    client = space["client"]
    lists = {}
    for expert, query in space["queries"]("food sticks to my pan").items():
        answer = client.search(index="texts", body={"query": query, "size": 20})
        lists[expert] = [hit["_id"] for hit in answer["hits"]["hits"]]
    titles = {item: source["title"] for item, source in server.documents["texts"].items()}
    (processor,) = server.pipelines["jury"]["phase_results_processors"]
    constant = processor["score-ranker-processor"]["combination"]["rank_constant"]
    assert_fused_as_juryrank(space, lists, titles, capsys.readouterr().out, dialect="opensearch", k=constant)
    client.close()


def test_answers_of_the_client_are_fused_as_they_are(server, client):
    answers = [
        {"hits": {"hits": [{"_index": "t", "_id": i, "_score": 1.0} for i in ids]}} for ids in ("abc", "ca", "b")
    ]
    server.answers.extend(answers)
    given = {expert: client.search(index="t", body={"query": {"match_all": {}}}) for expert in ("x", "y", "z")}
    fused = fuse_hits(given, "rrf", k=10)
    lists = {"x": list("abc"), "y": list("ca"), "z": ["b"]}
    assert [(hit["_id"], hit["_score"]) for hit in fused] == list(juryrank.fuse(lists, "rrf", k=10).items())
    server.answers.extend(json.loads(json.dumps(answers)))
    typed = {expert: Search(using=client, index="t").execute() for expert in ("x", "y", "z")}
    assert fuse_hits(typed, "rrf", k=10) == fused


def six_experts(folder):
    data, model = folder / "data.csv", folder / "model.json"
    lines = ["query,item,expert,rank,label"]
    for q in range(8):
        for e in range(6):
            lines += [
                f"q{q},i{(n * (e + 1) + q * e) % 13},e{e},{n + 1},{(n * (e + 1) + q * e) % 13 % 3}" for n in range(9)
            ]
    data.write_text("\n".join(lines) + "\n")
    weights = {f"e{n}": 1.0 + n for n in range(6)}
    juryrank.save(juryrank.method("rrf", weights=weights).fit(juryrank.read(data)), model)
    return str(data), str(model)


def test_six_experts_are_an_error_of_the_command_line_that_names_five(tmp_path):
    data, model = six_experts(tmp_path)
    runner = CliRunner()
    done = runner.invoke(app, ["export", model, "--to", "opensearch", "--data", data])
    assert done.exit_code != 0
    assert isinstance(done.exception, DataError)
    message = str(done.exception)
    assert "OpenSearch takes at most 5 queries in one hybrid query, and 6 experts have a positive weight" in message
    five = message.rpartition(": ")[2]
    assert len(five.split(",")) == 5
    done = runner.invoke(app, ["export", model, "--to", "opensearch", "--data", data, "--experts", five])
    assert done.exit_code == 0, done.output
    written = json.loads(done.stdout)
    assert len(written["search"]["query"]["hybrid"]["queries"]) == 5
    assert list(written["weights"]) == sorted(five.split(","))
