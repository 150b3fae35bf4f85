"""Faults, each in a real process: kills, full disks and damaged files.

Those of feedback are in ``test_feedback_process.py``, the end by SIGTERM is in ``test_shutdown.py``, and a clock that
jumps is in ``test_clock.py``.
"""

import http.client
import os
import random
import resource
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from juryrank.server.registry import digest
from server.load import load
from server.processes import Reply, Running, running
from server.samples import model_content, random_lists, wait_until, write_model

LISTS = random_lists(5)


def fuse(service: Running) -> Reply:
    return service.post("/v1/fuse", {"lists": LISTS})


def version(service: Running) -> str:
    reply = fuse(service)
    assert reply.status == 200, reply
    found: str = reply.json()["model"]["version"]
    return found


def metric(service: Running, name: str) -> float:
    text = service.get("/metrics").body.decode()
    return float(next(line for line in text.splitlines() if line.startswith(name + " ")).split()[1])


def test_kill_9_in_the_middle_of_an_upload_leaves_the_old_version_or_the_new(tmp_path: Path) -> None:
    """Kills at random moments: while the body comes, while it is checked, and while it is written."""
    rng, known = random.Random(3), {digest(model_content(0))}
    (tmp_path / "m.json").write_bytes(model_content(0))
    outcomes = []
    for number in range(5):
        upload = model_content(1 + number % 3, size=20_000_000)
        known.add(digest(upload))
        with running(tmp_path) as service:
            before = version(service)
            assert before in known
            sender = threading.Thread(target=_put_quietly, args=(service, upload), daemon=True)
            sender.start()
            time.sleep(rng.choice((0.02, 0.1, 0.2, 0.3, 0.4, 0.6)))
            os.kill(service.pid, signal.SIGKILL)
            service.process.wait()
            sender.join(30)
        in_use = digest((tmp_path / "m.json").read_bytes())
        assert in_use in (before, digest(upload))
        outcomes.append(in_use == before)
        for kept in (tmp_path / ".versions" / "m").glob("*.json"):
            assert digest(kept.read_bytes()) == kept.stem.split("-")[1]
    with running(tmp_path) as service:
        assert service.get("/readyz").json()["status"] == "ok"
        assert service.put("/v1/models/m", model_content(4)).status == 201
        assert version(service) == digest(model_content(4))
    assert not list(tmp_path.rglob("*.tmp"))  # what killed uploads have left is removed by the next
    assert any(outcomes)


def _put_quietly(service: Running, body: bytes) -> None:
    with suppress(OSError, http.client.HTTPException):  # the service is killed
        service.put("/v1/models/m", body)


def fill(folder: Path) -> Path:
    """Take all room of the file system of a folder."""
    path = folder / "filler"
    with path.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"x" * 4096)
    return path


def check_full_disk(service: Running, make_room: Callable[[], None]) -> None:
    """The old version stays, the refusal says why, and afterwards uploads work again."""
    before = version(service)
    for _ in range(3):
        reply = service.put("/v1/models/m", model_content(1, size=150_000))
        assert reply.status == 507, reply
        assert reply.headers["content-type"] == "application/problem+json"
        assert "cannot be written" in reply.json()["detail"]
        assert version(service) == before
    assert service.get("/readyz").json()["status"] == "ok"
    assert service.get("/v1/models/m").status == 200
    make_room()
    assert service.put("/v1/models/m", model_content(1, size=150_000)).status == 201
    assert version(service) == digest(model_content(1, size=150_000))
    assert "Traceback" not in service.log


def test_a_full_disk_refuses_uploads_and_the_old_version_stays(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    command = 'mount -t tmpfs -o size=600k tmpfs $0 && exec "$@"'
    within = ["unshare", "-rm", "sh", "-c", command, str(tmp_path / "disk")]
    if subprocess.run([*within, "true"], capture_output=True).returncode:
        pytest.skip("this machine does not let us mount a small disk (unshare -rm)")
    with running(tmp_path / "disk", within=within) as service:
        seen = Path(f"/proc/{service.pid}/root{tmp_path / 'disk'}")  # the disk of that process
        assert service.put("/v1/models/m", model_content(0)).status == 201
        filler = fill(seen)
        check_full_disk(service, filler.unlink)
        assert not list(seen.rglob("*.tmp"))


def test_files_that_may_not_grow_refuse_uploads_and_the_old_version_stays(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(model_content(0))
    config = tmp_path.parent / f"{tmp_path.name}.toml"
    config.write_text("access_log = false\n")  # the log is a file, too
    with running(tmp_path, "--config", config) as service:
        resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))

        def lift() -> None:
            resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        check_full_disk(service, lift)
        assert not list(tmp_path.rglob("*.tmp"))


def test_a_folder_that_cannot_be_written_is_said_and_fusion_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "m.json").write_bytes(model_content(0))
    (folder / ".versions").write_text("where a folder should be")
    with running(folder) as service:
        reply = service.put("/v1/models/m", model_content(1))
        assert reply.status == 500
        assert "the folder of models cannot be written" in reply.json()["detail"]
        assert version(service) == digest(model_content(0))
        assert "Traceback" not in service.log


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut in place": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "overwritten": lambda path: path.write_bytes(b"\x00" * 1000),
    "another file": lambda path: path.write_text('{"format": "other"}'),
    "changed numbers": lambda path: path.write_bytes(path.read_bytes().replace(b'"shape"', b'"shapes"')),
    "not text": lambda path: path.write_bytes(b"\xff" + path.read_bytes()),
}


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Path]]:
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "m.json").write_bytes(model_content(0))
    with running(folder, "--workers", 2) as service:
        yield service, folder


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_model_file_leaves_the_version_before_in_use_and_is_reported(
    two_workers: tuple[Running, Path], kind: str
) -> None:
    service, folder = two_workers
    service.put("/v1/models/m", model_content(0))
    # So many that both workers answer some, also on a busy machine.
    wait_until(lambda: {version(service) for _ in range(100)} == {digest(model_content(0))})
    DAMAGE[kind](folder / "m.json")
    assert {version(service) for _ in range(10)} == {digest(model_content(0))}  # both workers
    ready = service.get("/readyz")
    assert (ready.status, ready.json()["status"], ready.json()["usable_models"]) == (200, "degraded", ["m"])
    assert "m.json" in ready.json()["damaged_models"]["m"] or "m:" in ready.json()["damaged_models"]["m"]
    assert metric(service, "juryrank_damaged_models") == 1
    assert service.get("/v1/models").json()["models"][0]["fault"] == ready.json()["damaged_models"]["m"]
    assert service.put("/v1/models/m", model_content(1)).status == 201
    assert version(service) == digest(model_content(1))
    assert service.get("/readyz").json()["status"] == "ok"
    assert metric(service, "juryrank_damaged_models") == 0


def test_a_service_that_starts_with_a_damaged_file_uses_the_newest_version_that_can_be_read(tmp_path: Path) -> None:
    with running(tmp_path) as service:
        for seed in range(3):
            assert service.put("/v1/models/m", model_content(seed)).status == 201
    (tmp_path / "m.json").write_bytes(b"damaged")
    newest = max((tmp_path / ".versions" / "m").glob("*.json"))
    newest.write_bytes(b"damaged, too")
    with running(tmp_path) as service:
        assert version(service) == digest(model_content(1))
        assert service.get("/readyz").json()["status"] == "degraded"


def test_a_model_of_which_nothing_can_be_read_is_unavailable_and_others_are_not(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b"damaged")
    with running(tmp_path) as service:
        assert service.get("/readyz").status == 503
        assert service.get("/healthz").status == 200
        reply = service.post("/v1/fuse", {"lists": LISTS, "model": "bad"})
        assert reply.status == 503
        assert "cannot be used" in reply.json()["detail"]
        assert service.post("/v1/fuse", {"lists": LISTS, "method": "rrf"}).status == 200
        write_model(tmp_path / "good.json")
        ready = service.get("/readyz")
        assert (ready.status, ready.json()["status"]) == (200, "degraded")
        assert service.post("/v1/fuse", {"lists": LISTS, "model": "good"}).status == 200
        (tmp_path / "bad.json").unlink()
        assert service.get("/readyz").json()["status"] == "ok"


def test_a_killed_worker_is_replaced_and_the_service_goes_on(tmp_path: Path) -> None:
    (tmp_path / "m.json").write_bytes(model_content(0))
    with running(tmp_path, "--workers", 2) as service, load(service, keeping=4, connecting=2) as outcome:
        wait_until(lambda: outcome.answered > 50)
        first = set(service.workers())
        assert len(first) == 2
        os.kill(min(first), signal.SIGKILL)
        answered = outcome.answered
        wait_until(lambda: outcome.answered > answered + 100)
        wait_until(lambda: len(set(service.workers()) - first) == 1)
        new = (set(service.workers()) - first).pop()
        wait_until(lambda: any(line.get("process") == new for line in service.log_lines()))
        os.kill(max(first), signal.SIGKILL)  # the new one carries on alone
        answered = outcome.answered
        wait_until(lambda: outcome.answered > answered + 100)
        wait_until(lambda: len(service.workers()) == 2)
        assert version(service) == digest(model_content(0))
        deaths = [line for line in service.log_lines() if "died" in line.get("message", "")]
        assert [line["level"] for line in deaths] == ["error", "error"]
    assert set(outcome.by_status) == {200}
    assert len(outcome.failures) <= 12  # what the killed workers had under way: at most one request of each client
    assert outcome.refused == 0


def test_workers_end_when_their_supervisor_is_killed() -> None:
    with running("--workers", 2) as service:
        workers = service.workers()
        assert len(workers) == 2
        os.kill(service.pid, signal.SIGKILL)
        service.process.wait()
        wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_workers_that_cannot_start_end_the_service(tmp_path: Path) -> None:
    """The folder vanishes after the check: the supervisor gives up instead of starting workers for ever."""
    folder = tmp_path / "models"
    folder.mkdir()
    with running(folder, "--workers", 2) as service:
        shutil.rmtree(folder)
        for pid in service.workers():
            os.kill(pid, signal.SIGKILL)
        assert service.process.wait(120) == 1
        assert "workers die when they start" in service.log
