"""Models of the service: uploads, versions, rollback, removal, files that are put there by hand, and the demo model."""

import json
import os
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import juryrank
from conftest import random_dataset
from juryrank.models import to_json
from juryrank.server.registry import digest
from server.processes import Reply, Running, running
from server.samples import DEMO, learned_model, random_lists, write_model

LISTS = random_lists(5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "models"
    made.mkdir()
    return made


@pytest.fixture
def service(folder: Path) -> Iterator[Running]:
    config = folder.parent / "serve.toml"
    config.write_text("versions = 3\nmax_model = 200000\n")
    with running(folder, "--config", config) as found:
        yield found


def content(seed: int, method: str = "jury") -> bytes:
    return to_json(learned_model(seed, method)).encode()


def fuse(service: Running, **more: Any) -> Reply:
    return service.post("/v1/fuse", {"lists": LISTS, **more})


def versions(service: Running, name: str = "m") -> list[str]:
    return [each["version"] for each in service.get(f"/v1/models/{name}").json()["versions"]]


def test_the_demo_model_is_a_fresh_fit_of_the_demo_data() -> None:
    fresh = juryrank.fit(DEMO / "runs.parquet", "jury", labels=DEMO / "qrels.parquet")
    assert_same(vars(fresh), vars(juryrank.load(DEMO / "model.json")))


def assert_same(one: Any, other: Any) -> None:
    """Equal but for the last digits of floats: those of BLAS and LAPACK depend on the CPU."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, np.ndarray):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)
    elif isinstance(one, list | tuple):
        for each, its in zip(one, other, strict=True):
            assert_same(each, its)
    else:
        assert one == (pytest.approx(other, rel=1e-11) if isinstance(one, float) else other)


def test_the_page_of_a_model_has_what_it_learned_from_how_much_and_its_held_out_gain(
    service: Running, folder: Path
) -> None:
    service.put("/v1/models/m", content(0))
    model, page = learned_model(0), service.get("/v1/models/m").json()
    n, gain, error = model.gain_over_rrf()
    assert page["learned_queries"] == model.n_queries_ == n
    assert page["learned_experts"] == 5
    assert page["experts"] == ["e0", "e1", "e2", "e3", "e4"]
    interval = model.verdict().to_dict()["differences"]["learned - rrf"]
    assert page["held_out"] == {
        "metric": model.target, "queries": n, "gain_over_rrf": gain, "standard_error": error,
        "low": interval["low"], "high": interval["high"],
    }  # fmt: skip
    assert interval["low"] < gain < interval["high"]
    assert page["weights"] == model.expert_weights()
    assert page["params"] == model.params()
    assert page["report"] == model.report()
    assert page["verdict"]["choice"] == model.verdict().choice
    assert page["version"] == digest((folder / "m.json").read_bytes())
    assert page["size"] == len(content(0))
    written = datetime.fromisoformat(page["since"]).timestamp()
    assert written == pytest.approx((folder / "m.json").stat().st_mtime, abs=1)


def test_the_page_of_a_model_without_held_out_values_says_so(service: Running) -> None:
    assert service.put("/v1/models/m", to_json(juryrank.fit(random_dataset(0), "convex")).encode()).status == 201
    page = service.get("/v1/models/m").json()
    assert (page["method"], page["held_out"], page["verdict"]) == ("convex", None, None)
    assert page["learned_queries"] > 0


def test_an_upload_is_in_use_from_then_on_and_every_answer_names_its_version(service: Running) -> None:
    for seed in (0, 1, 0):
        reply = service.put("/v1/models/m", content(seed))
        assert reply.status == 201
        assert reply.json() == {"name": "m", "version": digest(content(seed))}
        answer = fuse(service, model="m").json()
        assert answer["model"] == {"name": "m", "version": digest(content(seed))}
        expected = juryrank.Fuser(learned_model(seed))(LISTS)
        assert {item["id"]: item["score"] for item in answer["items"]} == expected


def test_several_workers_use_a_new_version_at_once(folder: Path) -> None:
    write_model(folder / "m.json", seed=0)
    with running(folder, "--workers", 3) as service:
        for round_ in range(10):
            version = service.put("/v1/models/m", content(round_ % 2)).json()["version"]
            found = {fuse(service).json()["model"]["version"] for _ in range(12)}  # a new connection for each
            assert found == {version}


def test_the_last_versions_are_kept_and_older_ones_removed(service: Running, folder: Path) -> None:
    for seed in range(5):
        service.put("/v1/models/m", content(seed))
    assert versions(service) == [digest(content(seed)) for seed in (4, 3, 2)]
    kept = sorted((folder / ".versions" / "m").glob("*.json"))
    assert [path.read_bytes() for path in kept] == [content(seed) for seed in (2, 3, 4)]


def test_a_rollback_puts_the_version_before_in_use_or_the_one_that_is_named(service: Running) -> None:
    for seed in range(3):
        service.put("/v1/models/m", content(seed))
    assert service.post("/v1/models/m/rollback").json()["version"] == digest(content(1))
    assert fuse(service).json()["model"]["version"] == digest(content(1))
    assert service.post("/v1/models/m/rollback").json()["version"] == digest(content(0))
    assert service.post("/v1/models/m/rollback").status == 404
    named = service.post("/v1/models/m/rollback", {"version": digest(content(2))})
    assert named.json() == {"name": "m", "version": digest(content(2))}
    assert fuse(service).json()["model"]["version"] == digest(content(2))
    unknown = service.post("/v1/models/m/rollback", {"version": "000000000000"})
    assert unknown.status == 404
    assert digest(content(1)) in unknown.json()["detail"]
    assert service.post("/v1/models/m/rollback", {"number": "x"}).status == 422
    assert service.post("/v1/models/absent/rollback").status == 404


def test_a_damaged_version_is_not_put_in_use(service: Running, folder: Path) -> None:
    for seed in range(2):
        service.put("/v1/models/m", content(seed))
    oldest = min((folder / ".versions" / "m").glob("*.json"))
    oldest.write_bytes(oldest.read_bytes()[:-50])
    assert service.post("/v1/models/m/rollback").status == 422
    assert fuse(service).json()["model"]["version"] == digest(content(1))


def test_a_removed_model_is_not_found_and_its_versions_stay(service: Running, folder: Path) -> None:
    service.put("/v1/models/m", content(0))
    assert service.delete("/v1/models/m").status == 204
    assert fuse(service, model="m").status == 404
    assert service.get("/v1/models").json() == {"models": []}
    assert service.delete("/v1/models/m").status == 404
    assert len(list((folder / ".versions" / "m").glob("*.json"))) == 1
    service.put("/v1/models/m", content(1))
    assert service.post("/v1/models/m/rollback").json()["version"] == digest(content(0))


def test_a_file_that_is_put_there_by_hand_is_picked_up_and_kept_when_it_is_replaced(
    service: Running, folder: Path
) -> None:
    write_model(folder / "m.json", seed=0)
    assert fuse(service).json()["model"]["version"] == digest(content(0))
    shutil.copy(write_other(folder.parent, 1), folder / "m.json")
    assert fuse(service).json()["model"]["version"] == digest(content(1))
    service.put("/v1/models/m", content(2))
    assert service.post("/v1/models/m/rollback").json()["version"] == digest(content(1))


def write_other(folder: Path, seed: int) -> Path:
    (folder / "other.json").write_bytes(content(seed))
    return folder / "other.json"


def test_a_replaced_file_of_the_same_size_is_noticed(service: Running, folder: Path) -> None:
    service.put("/v1/models/m", content(0))
    replaced = content(0).replace(b'"e4"', b'"e9"')
    assert len(replaced) == len(content(0))
    (folder / "new").write_bytes(replaced)
    os.replace(folder / "new", folder / "m.json")
    assert "e9" in service.get("/v1/models/m").json()["experts"]


NAMES = ["..", ".", "a.b", "a%2Fb", "..%2F..%2Fetc%2Fpasswd", "a%00b", "-a", "_a", "a" * 65, "%C3%BC", "a%20b", "%0A"]


def test_a_name_that_could_be_a_path_is_refused(service: Running, folder: Path) -> None:
    before = sorted(folder.parent.rglob("*"))
    for name in NAMES:
        for method, body in (("PUT", content(0)), ("GET", None), ("DELETE", None), ("POST", b"")):
            reply = service.call(method, f"/v1/models/{name}{'/rollback' * (method == 'POST')}", body)
            assert reply.status in (404, 405, 422), (name, method, reply)
            assert reply.headers["content-type"] == "application/problem+json"
    assert fuse(service, model="../m").status == 404
    assert sorted(folder.parent.rglob("*")) == before


def damaged() -> dict[str, bytes]:
    good = content(0)
    parsed = json.loads(good)
    return {
        "empty": b"",
        "cut": good[: len(good) // 2],
        "not text": b"\xff\xfe" + good,
        "not a model": b'{"format": "other"}',
        "another method": json.dumps({**parsed, "method": "no-such-method"}).encode(),
        "nothing learned": json.dumps({**parsed, "learned": {}}).encode(),
        "a list": b"[]",
        "deep": b"[" * 100_000,
        "long number": b'{"format": ' + b"9" * 100_000 + b"}",
        "NaN": good.replace(b'"version": 1', b'"version": NaN'),
        "too large": b" " * 200_001,
    }


def test_a_model_file_that_is_damaged_is_refused_and_the_one_in_use_stays(service: Running) -> None:
    service.put("/v1/models/m", content(1))
    for name, sent in damaged().items():
        reply = service.put("/v1/models/m", sent)
        assert reply.status == (413 if name == "too large" else 422), (name, reply)
        assert reply.headers["content-type"] == "application/problem+json"
        assert fuse(service).json()["model"]["version"] == digest(content(1))
    assert versions(service) == [digest(content(1))]
    assert "Traceback" not in service.log


def test_the_demo_service_takes_no_models() -> None:
    with running() as demo:
        reply = demo.put("/v1/models/m", content(0))
        assert reply.status == 422
        assert "juryrank serve MODELS" in reply.json()["detail"]
        assert demo.delete("/v1/models/demo").status == 422
        assert demo.post("/v1/models/demo/rollback").status == 422
        assert demo.get("/v1/models").json()["models"][0]["since"] is None


def test_the_list_has_every_model_with_its_version_and_experts(service: Running, folder: Path) -> None:
    write_model(folder / "b.json", seed=1)
    write_model(folder / "a.json", seed=0, method="ridge")
    (folder / "notes.txt").write_text("no model")
    (folder / "not a name.json").write_text("{}")
    found = service.get("/v1/models").json()["models"]
    assert [(each["name"], each["method"], each["usable"]) for each in found] == [
        ("a", "ridge", True),
        ("b", "jury", True),
    ]
    assert found[1]["version"] == digest((folder / "b.json").read_bytes())
