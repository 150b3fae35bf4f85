"""Feedback to the real service: durable before the answer, whatever happens to process, disk and store."""

import http.client
import json
import os
import resource
import signal
import sqlite3
import threading
from contextlib import closing
from importlib.resources import files

import pytest

from server.processes import PATIENCE, running
from server.samples import wait_until
from server.stores import new_database, postgres_server

MODEL = (files("juryrank") / "demo" / "trec-covid" / "model.json").read_bytes()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "covid.json").write_bytes(MODEL)
    return tmp_path


def entry(key, **more):
    lists = {"bm25": ["a", "b", "c"], "dense": ["b", "c", "d"]}
    return {"key": key, "query": f"query {key}", "lists": lists, "labels": {"a": 1, "b": 0}, **more}


def stored_keys(path):
    with closing(sqlite3.connect(path)) as connection:
        return [key for (key,) in connection.execute("SELECT key FROM juryrank_feedback ORDER BY number")]


class Senders:
    """Threads that send feedback until the service is gone; ``acknowledged`` has what was answered."""

    def __init__(self, service, names):
        self.acknowledged, self.failed, self._service = [], [], service
        self._threads = [threading.Thread(target=self._send, args=[name]) for name in names]
        for thread in self._threads:
            thread.start()

    def _send(self, name):
        with closing(http.client.HTTPConnection(*self._service.address, timeout=PATIENCE)) as connection:
            for n in range(100_000):
                key = f"{name}-{n}"
                try:
                    connection.request("POST", "/v1/feedback", json.dumps(entry(key)))
                    answer = connection.getresponse()
                    answer.read()
                except (OSError, http.client.HTTPException):
                    return
                (self.acknowledged if answer.status == 201 else self.failed).append(key)

    def wait_for(self, count):
        wait_until(lambda: len(self.acknowledged) >= count, pause=0.005)

    def join(self):
        for thread in self._threads:
            thread.join()


def test_what_was_acknowledged_is_there_after_kill_9_and_repeats_are_recognised(folder):
    with running(folder) as service:
        senders = Senders(service, "abcdefgh")
        senders.wait_for(200)
        os.kill(service.pid, signal.SIGKILL)
        senders.join()
    assert not senders.failed
    keys = stored_keys(folder / "feedback.db")
    assert set(senders.acknowledged) <= set(keys)
    assert len(keys) == len(set(keys)) <= len(senders.acknowledged) + 8  # stored, but not yet answered
    with running(folder) as service:
        again = {"feedback": [entry(key) for key in senders.acknowledged[:200]]}
        assert service.post("/v1/feedback", again).json() == {"stored": 0, "duplicates": 200, "warnings": []}


@pytest.mark.parametrize("workers", [1, 2])
def test_sigterm_stores_and_answers_what_was_accepted(folder, workers):
    with running(folder, "--workers", workers) as service:
        senders = Senders(service, "abcd")
        senders.wait_for(50)
        service.process.terminate()
        senders.join()
        assert service.process.wait(PATIENCE) in (0, -signal.SIGTERM)
    assert not senders.failed
    assert set(senders.acknowledged) <= set(stored_keys(folder / "feedback.db"))
    with pytest.raises(OSError, match="refused"):
        service.get("/healthz")


def test_two_workers_store_a_key_once(folder):
    with running(folder, "--workers", 2) as service:
        answers = []

        def send():
            for n in range(30):  # a new connection each time, which either worker accepts
                answers.append(service.post("/v1/feedback", entry(f"k{n}")).status)

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(set(answers)) == [200, 201]
    assert answers.count(201) == 30
    assert sorted(stored_keys(folder / "feedback.db")) == sorted(f"k{n}" for n in range(30))


def test_a_full_disk_is_a_507_until_there_is_room_and_fusion_goes_on(folder):
    with running(folder) as service:
        assert service.post("/v1/feedback", entry("before")).status == 201
        size = max(path.stat().st_size for path in folder.glob("feedback.db*"))
        resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        large = [service.post("/v1/feedback", entry(f"large{n}", judge="x" * 150)) for n in range(50)]
        refused = [each for each in large if each.status == 507]
        assert refused
        assert refused[0].headers["content-type"] == "application/problem+json"
        assert refused[0].json()["detail"] == "the store of feedback cannot be written: the disk is full, or fails"
        assert service.post("/v1/fuse", {"lists": {"a": ["x"]}, "method": "rrf"}).status == 200
        resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert service.post("/v1/feedback", entry("after")).status == 201
        kept = [f"large{n}" for n, each in enumerate(large) if each.status == 201]
        assert 'juryrank_feedback_total{outcome="failed"}' in service.get("/metrics").body.decode()
    assert stored_keys(folder / "feedback.db") == ["before", *kept, "after"]


def test_a_locked_store_is_a_503_with_retry_after(folder, tmp_path):
    (tmp_path / "serve.toml").write_text("store_seconds = 0.2\n")
    with running(folder, "--config", tmp_path / "serve.toml") as service:
        assert service.post("/v1/feedback", entry("a")).status == 201
        with closing(sqlite3.connect(folder / "feedback.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            answer = service.post("/v1/feedback", entry("b"))
            assert answer.status == 503
            assert answer.headers["retry-after"] == "1"
            assert service.post("/v1/fuse", {"lists": {"a": ["x"]}, "method": "rrf"}).status == 200
        assert service.post("/v1/feedback", entry("b")).status == 201
    assert stored_keys(folder / "feedback.db") == ["a", "b"]


def test_a_damaged_store_is_an_error_at_the_start(folder):
    (folder / "feedback.db").write_bytes(b"something else " * 1000)
    with pytest.raises(AssertionError, match="not a store of feedback, or damaged"), running(folder):
        pass


def test_texts_of_users_are_not_in_the_log(folder):
    with running(folder) as service:
        service.post("/v1/feedback", entry("secret-key", query="secret query", labels={"secret-item": 1}))
        service.post("/v1/feedback", entry("secret-key", query="secret query", labels={"secret-item": 2}))
        service.call("POST", "/v1/models/covid/refit", timeout=600)  # which has a low priority
        assert "refit of model covid" in service.log
        assert "secret" not in service.log


def test_feedback_needs_a_key_with_its_scope_and_refits_need_admin(folder):
    from juryrank.server.keys import create_key

    keys = folder / "keys.conf"
    feedback, fuse = (create_key(keys, name, (name,)) for name in ("feedback", "fuse"))
    with running(folder, "--keys", keys) as service:
        assert service.post("/v1/feedback", entry("a")).status == 401
        assert service.post("/v1/feedback", entry("a"), {"authorization": f"Bearer {fuse}"}).status == 403
        assert service.post("/v1/feedback", entry("a"), {"authorization": f"Bearer {feedback}"}).status == 201
        assert service.post("/v1/models/covid/refit", None, {"authorization": f"Bearer {feedback}"}).status == 403


def test_feedback_in_postgresql_survives_kill_9_of_the_service(folder):
    import psycopg

    with postgres_server() as server:
        address = new_database(server)
        with running(folder, "--store", address, "--workers", 2) as service:
            senders = Senders(service, "abcd")
            senders.wait_for(100)
            for pid in [service.pid, *service.descendants()]:
                os.kill(pid, signal.SIGKILL)
            senders.join()
        assert not senders.failed
        with psycopg.connect(address) as connection:
            keys = [key for (key,) in connection.execute("SELECT key FROM juryrank_feedback").fetchall()]
        assert set(senders.acknowledged) <= set(keys)
        assert len(keys) == len(set(keys))
    assert not (folder / "feedback.db").exists()
