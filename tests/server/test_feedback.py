"""``POST /v1/feedback``: what is stored, once, and what is wrong with a request."""

import asyncio
import json
import sqlite3
from importlib.resources import files

import httpx
import pytest

from juryrank.server.app import create_app
from juryrank.server.settings import Settings
from juryrank.server.store import Outcome
from juryrank.server.store_sqlite import SQLiteStore
from juryrank.server.writer import Writer

MODEL = (files("juryrank") / "demo" / "trec-covid" / "model.json").read_bytes()
ENTRY = {
    "key": "k",
    "query": "origin of covid",
    "lists": {"bm25": ["a", "b", 7], "dense": {"b": 0.9, "c": 0.1}, "sparse": [["c", 2.0], ["a", 1.0]]},
    "labels": {"a": 1, "b": 0.0, "7": 2},
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "covid.json").write_bytes(MODEL)
    return tmp_path


@pytest.fixture
def service(folder):
    return Service(Settings(models=folder, access_log=False, max_items=50, max_experts=4, max_queries=3))


class Service:
    """The application without a server."""

    def __init__(self, settings):
        self.app, self.path = create_app(settings), None if settings.models is None else settings.models / "feedback.db"

    def call(self, method, path, body=None, headers=None):
        async def send():
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                return await client.request(method, path, content=content, headers=headers)

        return asyncio.run(send())

    def post(self, body, headers=None):
        return self.call("POST", "/v1/feedback", body, headers)

    def stored(self):
        connection = sqlite3.connect(self.path)
        try:
            rows = connection.execute("SELECT key, model, content FROM juryrank_feedback ORDER BY number").fetchall()
        finally:
            connection.close()
        return [(key, model, json.loads(content)) for key, model, content in rows]


def test_feedback_is_stored_with_ids_as_text_and_scores_as_they_are(service):
    answer = service.post(ENTRY)
    assert (answer.status_code, answer.json()) == (201, {"stored": 1, "duplicates": 0, "warnings": []})
    lists = {"bm25": [["a", "b", "7"], None], "dense": [["b", "c"], [0.9, 0.1]], "sparse": [["c", "a"], [2.0, 1.0]]}
    content = {"query": "origin of covid", "lists": lists, "labels": {"a": 1.0, "b": 0.0, "7": 2.0}}
    assert service.stored() == [("k", "covid", content)]


def test_feedback_takes_hits_of_search_engines(service):
    hits = {"bm25": [{"id": 7, "score": 2.0, "text": "…"}, {"id": "a", "score": 1}], "dense": [{"_id": "a"}]}
    assert service.post({**ENTRY, "lists": hits}).json()["warnings"] == []
    assert service.stored()[0][2]["lists"] == {"bm25": [["7", "a"], [2.0, 1.0]], "dense": [["a"], None]}


def test_a_repeat_is_recognised_by_its_key_and_other_content_under_it_is_a_conflict(service):
    service.post(ENTRY)
    again = service.post(ENTRY)
    assert (again.status_code, again.json()["duplicates"]) == (200, 1)
    other = service.post({**ENTRY, "labels": {"a": 2}})
    assert other.status_code == 409
    assert other.headers["content-type"] == "application/problem+json"
    assert other.json()["detail"] == "the key 'k' was used for other feedback; nothing of this request was stored"
    assert len(service.stored()) == 1


def test_the_header_can_have_the_key_also_of_a_batch(service):
    entry = {name: value for name, value in ENTRY.items() if name != "key"}
    assert service.post(entry, {"idempotency-key": "h"}).status_code == 201
    batch = {"feedback": [entry, {**entry, "query": "other"}, {**entry, "key": "own"}]}
    assert service.post(batch, {"idempotency-key": "b"}).json()["stored"] == 3
    assert service.post(batch, {"idempotency-key": "b"}).json() == {"stored": 0, "duplicates": 3, "warnings": []}
    assert [key for key, _, _ in service.stored()] == ["h", "b/1", "b/2", "own"]


def test_a_batch_with_one_mistake_stores_nothing(service):
    answer = service.post({"feedback": [ENTRY, {**ENTRY, "key": "l", "labels": {"a": -1}}]})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith("entry 2: labels: a grade must be a number from 0 to 1e+50")
    service.post({**ENTRY, "key": "m"})
    assert [key for key, _, _ in service.stored()] == ["m"]


def test_clicks_are_stored_with_what_was_shown(service):
    clicks = {"shown": ["a", 7, "b"], "clicked": [7, 7], "propensity": {"a": 1.0, "7": 0.5, "b": 0.25}}
    entry = {"key": "c", "query": "q", "clicks": clicks, "judge": "ann"}
    assert service.post(entry).status_code == 201
    expected = {"shown": ["a", "7", "b"], "clicked": ["7"], "propensity": {"a": 1.0, "7": 0.5, "b": 0.25}}
    assert service.stored()[0][2] == {"query": "q", "clicks": expected, "judge": "ann"}


def test_what_looks_wrong_is_a_warning(service):
    repeated = {**ENTRY, "lists": {"bm25": ["a", "b", "a", "a"]}, "key": "1"}
    assert service.post(repeated).json()["warnings"] == [
        "expert 'bm25': 2 items are in the list more than once; the best place counts"
    ]
    strangers = {**ENTRY, "labels": {"x": 1}, "key": "2"}
    assert service.post(strangers).json()["warnings"] == ["no item with a label is in the lists; are the ids the same?"]


def test_warnings_are_in_the_answer_and_not_on_stderr(service, capfd):
    pairs = {**ENTRY, "lists": {"bm25": [["secret", 2.0], ["secret", 1.0], ["a", 0.5]]}}
    text = "expert 'bm25': 1 items are in the list more than once; the best place counts"
    assert service.post(pairs).json()["warnings"] == [text]
    assert "secret" not in capfd.readouterr().err


CLICKS = {"shown": ["a", "b"], "clicked": ["a"]}
WRONG = [
    ({}, "Object missing required field `query`"),
    ({"query": " "}, "query must be a text that is not blank"),
    ({"query": 7}, "Expected `str`, got `int` - at `$.query`"),
    ({"query": "q", "key": "k"}, "feedback needs labels, {id: grade}, or clicks"),
    ({"query": "q", "key": "k", "labels": {}}, "feedback needs labels, {id: grade}, or clicks"),
    ({"query": "q", "labels": {"a": 1}}, "feedback needs a key (or the header Idempotency-Key)"),
    ({**ENTRY, "key": ""}, "a key must have 1 to 255 printable characters, got ''"),
    ({**ENTRY, "key": "a\nb"}, "a key must have 1 to 255 printable characters"),
    ({**ENTRY, "key": "x" * 256}, "a key must have 1 to 255 printable characters"),
    ({**ENTRY, "labels": {"a": "1"}}, "Expected `float | null`, got `str`"),
    ({**ENTRY, "labels": {"a": True}}, "Expected `float | null`, got `bool`"),
    ({**ENTRY, "labels": {"a": 1e51}}, "a grade must be a number from 0 to 1e+50"),
    ({**ENTRY, "labels": {"a": -0.5}}, "that of item 'a' is -0.5"),
    ({**ENTRY, "lists": {"bm25": "abc"}}, "got `str`; a list is [id, …], {id: score}, [[id, score], …] or"),
    (
        {**ENTRY, "lists": {"bm25": ["a", None]}},
        "position 2: Expected `int | str | object | array`, got `null`; a list is [id, …]",
    ),
    (
        {**ENTRY, "lists": {"bm25": [{"id": "a"}, {"name": "b"}]}},
        "position 2: an object needs id, or _id",
    ),
    ({**ENTRY, "lists": {"bm25": ["a", ["b", 1.0]]}}, "all elements of a list must have the same shape"),
    ({**ENTRY, "lists": {"bm25": {"a": None}}}, "expert 'bm25': Expected `float`, got `null`"),
    ({**ENTRY, "lists": {"x" * 201: ["a"]}}, "the name of an expert or a judge may have 200 characters, got 201"),
    ({**ENTRY, "clicks": {"shown": [], "clicked": []}}, "shown must have the items in the order"),
    ({**ENTRY, "clicks": {"shown": ["a", "a"], "clicked": []}}, "shown must have the items in the order"),
    ({**ENTRY, "clicks": {"shown": ["a"], "clicked": ["b"]}}, "clicked has the item 'b', which is not among those"),
    ({**ENTRY, "clicks": {**CLICKS, "propensity": {"a": 1}}}, "propensity must give every shown item a probability"),
    ({**ENTRY, "clicks": {**CLICKS, "propensity": {"a": 0, "b": 1}}}, "a probability above 0 and at most 1"),
    ({**ENTRY, "unknown": 1}, "Object contains unknown field `unknown`"),
    ({"feedback": []}, "feedback must have at least one entry"),
    ({"feedback": [ENTRY], "key": "k"}, "Object contains unknown field `key`"),
    ([ENTRY], "Expected `object`, got `array`"),
]


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_a_mistake_is_a_422_that_says_what_must_hold(service, body, message):
    answer = service.post(body)
    assert answer.status_code == 422, answer.text
    assert message in answer.json()["detail"]
    assert not service.path.exists()


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"query": NaN}', b"\xff\xfe", b'{"query": "q", "lists": ' + b"[" * 100_000, b'{"query": "\\ud800"}'],
    ids=["nothing", "half", "NaN", "bytes", "deep", "surrogate"],
)
def test_what_is_not_json_is_a_400(service, body):
    assert service.post(body).status_code == 400


def test_too_much_of_anything_is_a_413(service):
    many = {**ENTRY, "lists": {"bm25": list(range(60))}}
    assert service.post(many).json()["detail"] == "a request may have 50 items, got 63"
    experts = {**ENTRY, "lists": {f"e{n}": ["a"] for n in range(5)}}
    assert service.post(experts).json()["detail"] == "a query may have 4 experts, got 5"
    entries = {"feedback": [{**ENTRY, "key": str(n)} for n in range(4)]}
    assert service.post(entries).json()["detail"] == "a request may have 3 entries, got 4"
    assert service.post(many).status_code == service.post(experts).status_code == service.post(entries).status_code
    assert service.post(many).status_code == 413


def test_feedback_is_for_a_model_that_exists(service, folder):
    assert service.post({**ENTRY, "model": "covid"}).status_code == 201
    answer = service.post({**ENTRY, "model": "other"})
    assert (answer.status_code, answer.json()["detail"]) == (404, "no model 'other'; known: covid")
    (folder / "second.json").write_bytes(MODEL)
    answer = service.post({**ENTRY, "key": "new"})
    assert answer.status_code == 422
    assert "there are 2 models: name one" in answer.json()["detail"]


def test_the_demo_keeps_no_feedback_unless_it_has_a_store(tmp_path):
    answer = Service(Settings(access_log=False)).post(ENTRY)
    assert answer.status_code == 409
    assert "start it with juryrank serve MODELS, or with --store" in answer.json()["detail"]
    service = Service(Settings(access_log=False, store=str(tmp_path / "feedback.db")))
    assert service.post(ENTRY).status_code == 201


def test_outcomes_are_counted(service):
    service.post(ENTRY)
    service.post(ENTRY)
    service.post({**ENTRY, "labels": {"a": 5}})
    text = service.call("GET", "/metrics").text
    for outcome in ("stored", "duplicate", "conflict"):
        assert f'juryrank_feedback_total{{outcome="{outcome}"}} 1.0' in text


def test_the_document_describes_the_routes(service):
    document = service.call("GET", "/openapi.json").json()
    operation = document["paths"]["/v1/feedback"]["post"]
    assert {"200", "201", "409", "422", "503", "507"} <= operation["responses"].keys()
    assert "requestBody" in operation
    assert document["paths"]["/v1/models/{name}/refit"].keys() == {"get", "post"}


class SlowStore(SQLiteStore):
    """Counts transactions, and is slow enough for requests to wait."""

    groups: list[int]

    def add(self, requests):
        self.groups.append(len(requests))
        import time

        time.sleep(0.05)
        return super().add(requests)


def test_requests_that_wait_share_a_transaction_and_closing_stores_them(tmp_path):
    from server.test_store import row

    store = SlowStore(tmp_path / "feedback.db", 5.0)
    store.groups = []

    async def send():
        writer = Writer(store)
        tasks = [asyncio.create_task(writer.add([row(f"k{n}")])) for n in range(100)]
        await asyncio.sleep(0.01)
        await asyncio.to_thread(writer.close)
        return await asyncio.gather(*tasks)

    assert asyncio.run(send()) == [Outcome(1, 0)] * 100
    assert sum(store.groups) == 100
    assert len(store.groups) <= 4
    with SQLiteStore(tmp_path / "feedback.db", 5.0) as again:
        assert len(list(again.read("m", 1000))) == 100


def test_the_same_feedback_for_another_model_is_other_feedback(folder):
    """Else it would be taken for a repetition, and the other model would never learn it."""
    (folder / "other.json").write_bytes((folder / "covid.json").read_bytes())
    service = Service(Settings(models=folder, access_log=False))
    assert service.post({**ENTRY, "model": "covid"}).status_code == 201
    assert service.post({**ENTRY, "model": "covid"}).status_code == 200
    assert service.post({**ENTRY, "model": "other"}).status_code == 409
    assert service.post({**ENTRY, "model": "other", "key": "k2"}).status_code == 201
    assert [model for _, model, _ in service.stored()] == ["covid", "other"]
