"""Refits by the real service: asked for, by the clock, beside other work, and when it ends."""

import fcntl
import http.client
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from juryrank.models import from_json
from server.feedback_samples import entry, fitted
from server.processes import PATIENCE, running
from server.samples import wait_until
from server.test_refit import FIRST, QUERIES, REST, turned

REFIT_SECONDS = 600.0  # a refit has a low priority: it takes long on a busy machine


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "m.json").write_bytes(fitted(FIRST))
    return tmp_path


def send(service, *entries):
    answer = service.post("/v1/feedback", {"feedback": list(entries)})
    assert answer.status == 201, answer.body


def ask_for_refit(service, name="m", promote=None):
    """The answer, however long it takes."""
    return service.call("POST", f"/v1/models/{name}/refit", {"promote": promote}, timeout=REFIT_SECONDS)


def refit_processes(service):
    """The processes that refit now, and the worker that has started each."""
    found = {}
    for pid, parent in service.descendants().items():
        with suppress(OSError):  # it has ended
            if b"juryrank.server.refit" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found[pid] = parent
    return found


def lock_files(pid):
    """The file of the lock on refits, if this process has opened it."""
    with suppress(OSError):
        opened = [os.readlink(file) for file in Path(f"/proc/{pid}/fd").iterdir()]
        return [name for name in opened if name.endswith("-refit.lock")]
    return []


def is_locked(name):
    """Whether a process has locked a file that it has opened."""
    with open(name, "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def stopped(service):
    """A process that is stopped in the middle of its refit, if there is one."""
    for pid in filter(lock_files, refit_processes(service)):
        with suppress(OSError):  # it has ended
            os.kill(pid, signal.SIGSTOP)
            wait_until(lambda pid=pid: Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
            if any(map(is_locked, lock_files(pid))):
                return pid
            os.kill(pid, signal.SIGCONT)
    return None


@contextmanager
def held_refit(service, pool):
    """The answer to come of a refit that is held until the block ends; one that ends too soon is repeated."""
    asked, held = None, None

    def is_held():
        nonlocal asked, held
        if asked is None or asked.done():
            asked = pool.submit(ask_for_refit, service)
        held = stopped(service)
        return held is not None

    wait_until(is_held, pause=0.002)
    try:
        yield asked
    finally:
        os.kill(held, signal.SIGCONT)


def version(service):
    return service.get("/v1/models/m").json()["version"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_refit_is_reported_promoted_if_asked_and_in_use_by_all_workers(folder, workers):
    with running(folder, "--workers", workers) as service:
        before = version(service)
        send(service, *(entry(query) for query in REST))
        report = ask_for_refit(service).json()
        assert (report["running"], report["promoted"], report["learned_queries"]) == (before, False, len(REST))
        assert report["held_out"]["low"] < report["held_out"]["gain"] < report["held_out"]["high"]
        assert version(service) == before
        promoted = ask_for_refit(service, promote=True).json()
        assert promoted["promoted"]
        assert promoted["candidate"] == report["candidate"]
        fused = [service.post("/v1/fuse", {"lists": {"a": ["x"]}}).json()["model"] for _ in range(10)]
        assert fused == [{"name": "m", "version": promoted["candidate"]}] * 10
        assert from_json((folder / "m.json").read_text()).n_queries_ == len(QUERIES)
        found = service.get("/v1/models/m/refit").json()["refits"]
        assert [(each["promoted"], each["candidate"]) for each in found] == [
            (True, report["candidate"]), (False, report["candidate"]),
        ]  # fmt: skip
        service.post("/v1/models/m/rollback")
        assert version(service) == before


def test_mistakes_in_requests_for_refits(folder):
    (folder / "plain.json").write_bytes(fitted(FIRST, "borda-fuse"))
    with running(folder) as service:
        assert service.post("/v1/models/other/refit").status == 404
        assert service.get("/v1/models/other/refit").status == 404
        for body in ({"promote": "always"}, {"promote": 1}, {"rule": "gain"}, [], b"{"):
            assert service.post("/v1/models/m/refit", body).status == 422
        answer = ask_for_refit(service, "plain")
        assert answer.status == 422
        assert "models of jury and ridge can" in answer.json()["detail"]
        nothing = ask_for_refit(service, promote="gain").json()
        assert (nothing["promoted"], nothing["reason"]) == (False, "there is no feedback to learn from")
    with running() as demo:
        assert demo.post("/v1/models/demo/refit").status == 409


def test_the_demo_with_a_store_learns_and_says_why_it_cannot_promote(tmp_path):
    with running("--store", tmp_path / "feedback.db") as service:
        send(service, *(entry(query) for query in REST[:3]))
        report = ask_for_refit(service, "demo", promote=True).json()
        assert (report["learned_queries"], report["promoted"]) == (3, False)
        assert "start it with juryrank serve MODELS" in report["reason"]


def test_the_schedule_refits_and_promotes_by_its_rule_once_for_all_workers(folder):
    (folder / "serve.toml").write_text('refit_hours = 0.0003\npromote = "gain"\nworkers = 2\n')
    with running(folder, "--config", folder / "serve.toml") as service:
        before = version(service)
        send(service, *(turned(query, query) for query in REST))
        wait_until(lambda: version(service) != before, REFIT_SECONDS)
        wait_until(lambda: "refit of model m: learned from" in service.log, REFIT_SECONDS)
        wait_until_both_have_looked_again(service)
        found = service.get("/v1/models/m/refit").json()["refits"]
        assert [each["promoted"] for each in found if each["learned_queries"] == len(REST)].count(True) == 1
        assert len(found) <= 2
        assert not [line for line in service.log_lines() if line["level"] == "error"]


def wait_until_both_have_looked_again(service):
    """Until each worker has begun another refit and ended it, by the schedule."""
    before, seen = set(refit_processes(service)), {}

    def have_looked():
        now = refit_processes(service)
        seen.update({pid: worker for pid, worker in now.items() if pid not in before})
        return {worker for pid, worker in seen.items() if pid not in now} >= set(service.workers())

    wait_until(have_looked, REFIT_SECONDS, pause=0.01)


def test_fusion_and_feedback_go_on_during_a_refit_and_there_is_one_at_a_time(folder):
    with running(folder) as service, ThreadPoolExecutor() as pool:
        send(service, *(entry(query) for query in REST))
        with held_refit(service, pool) as first:
            for n in range(20):
                assert service.post("/v1/fuse", {"lists": {"a": ["x", "y"]}}).status == 200
                send(service, entry(REST[0], key=f"during {n}", lists=None))
            assert ask_for_refit(service).status == 409
            assert not first.done()
        assert first.result().status == 200


def test_a_service_that_ends_during_a_refit_leaves_the_version_in_use(folder):
    content = (folder / "m.json").read_bytes()
    (folder / "serve.toml").write_text("shutdown_seconds = 0.0\n")
    with running(folder, "--config", folder / "serve.toml") as service:
        send(service, *(entry(query) for query in REST))
        with ThreadPoolExecutor() as pool:
            asked = pool.submit(ask_for_refit, service, promote=True)
            wait_until(lambda: any(map(lock_files, refit_processes(service))), pause=0.002)
            service.process.terminate()
            service.process.wait(PATIENCE)
            assert isinstance(asked.exception(PATIENCE), OSError | http.client.HTTPException | None)
    found = (folder / "m.json").read_bytes()
    assert found == content or from_json(found.decode()).n_queries_ == len(QUERIES)
    with running(folder) as service:
        report = ask_for_refit(service, promote=True).json()
        assert report["learned_queries"] == len(REST)
        assert from_json((folder / "m.json").read_text()).n_queries_ == len(QUERIES)
        json.dumps(report, allow_nan=False)
