"""API keys: scopes, unknown and removed keys, how they are kept, and that they appear nowhere."""

import ast
import hashlib
import inspect
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from juryrank.errors import DataError, ParameterError
from juryrank.server import keys as keys_module
from juryrank.server.keys import KeyRing, create_key, read_keys, remove_key
from server.processes import Running, running
from server.samples import SCOPES, bearer, make_keys, wait_until, write_model

FUSE = {"lists": {"e0": ["a", "b"]}}
FEEDBACK = {"query": "q", "lists": FUSE["lists"], "labels": {"a": 1}, "key": "k"}
# (method, path, body) -> the scopes that allow it
ROUTES = [
    ("POST", "/v1/fuse", FUSE, {"fuse", "admin"}),
    ("POST", "/v1/explain", FUSE, {"fuse", "admin"}),
    ("POST", "/v1/feedback", FEEDBACK, {"feedback", "admin"}),
    ("GET", "/v1/models", None, {"fuse", "feedback", "admin"}),
    ("GET", "/v1/models/m", None, {"fuse", "feedback", "admin"}),
    ("GET", "/metrics", None, {"fuse", "feedback", "admin"}),
    ("PUT", "/v1/models/m", b"not a model", {"admin"}),
    ("DELETE", "/v1/models/absent", None, {"admin"}),
    ("POST", "/v1/models/absent/rollback", None, {"admin"}),
    ("POST", "/v1/models/absent/refit", None, {"admin"}),
    ("GET", "/v1/absent", None, {"admin"}),
]  # fmt: skip


class Served:
    def __init__(self, service: Running, keys: dict[str, str], path: Path) -> None:
        self.service, self.keys, self.path = service, keys, path


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "m.json")
    path = folder.parent / "keys.json"
    keys = make_keys(path)
    with running(folder, "--keys", path) as service_without_key:
        yield Served(service_without_key, keys, path)


@pytest.mark.parametrize(("method", "path", "body", "scopes"), ROUTES)
def test_a_key_allows_what_its_scope_says(
    served: Served, method: str, path: str, body: object, scopes: set[str]
) -> None:
    for scope in SCOPES:
        reply = served.service.call(method, path, body, bearer(served.keys[scope]))
        assert (reply.status != 403) == (scope in scopes), (scope, reply)
        if reply.status == 403:
            assert reply.json()["detail"].startswith(f"the key has the scopes {scope}, and this needs ")


@pytest.mark.parametrize(("method", "path", "body", "scopes"), ROUTES)
def test_a_request_without_a_key_or_with_an_unknown_one_is_refused(
    served: Served, method: str, path: str, body: object, scopes: set[str]
) -> None:
    good = served.keys["admin"]
    changed = good[:-1] + ("A" if good[-1] != "A" else "B")
    other_id = good.replace(good[3:15], "0" * 12)
    headers = [{}, bearer(""), bearer("x"), bearer(changed), bearer(other_id), {"X-API-Key": "x"}]
    for header in [*headers, {"Authorization": f"Basic {good}"}, {"Authorization": good}]:
        reply = served.service.call(method, path, body, header)
        assert reply.status == 401
        assert reply.headers["www-authenticate"] == "Bearer"
        assert reply.headers["content-type"] == "application/problem+json"


def test_the_header_x_api_key_is_accepted_as_well(served: Served) -> None:
    assert served.service.post("/v1/fuse", FUSE, {"X-API-Key": served.keys["fuse"]}).status == 200
    assert served.service.post("/v1/fuse", FUSE, {"Authorization": f"bearer {served.keys['fuse']}"}).status == 200


def test_health_and_the_description_need_no_key(served: Served) -> None:
    for path in ("/healthz", "/readyz", "/openapi.json"):
        assert served.service.get(path).status == 200


def test_keys_are_neither_in_logs_nor_in_answers_nor_in_the_file(served: Served) -> None:
    answers = []
    for key in served.keys.values():
        for method, path, body, _ in ROUTES:
            reply = served.service.call(method, path, body, bearer(key))
            answers.append(reply.body + json.dumps(reply.headers).encode())
        served.service.post(f"/v1/{key}?key={key}", FUSE)  # a caller's mistake
    log, file = served.service.log, served.path.read_text()
    for key in served.keys.values():
        secret = key[16:]
        assert len(secret) == 43
        assert secret not in log
        assert secret not in file
        assert hashlib.sha256(secret.encode()).hexdigest() in file
        assert not [answer for answer in answers if secret.encode() in answer]


def test_a_key_that_is_added_or_removed_while_the_service_runs_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    first = create_key(path, "first", ("fuse",))
    with running("--keys", path, "--workers", 2) as service:
        second = create_key(path, "second", ("fuse",))
        wait_until(lambda: _status(service, second) == {200})
        remove_key(path, "first")
        wait_until(lambda: _status(service, first) == {401})
        assert _status(service, second) == {200}


class Clock:
    """A clock that stands still until it is told."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_file_of_keys_that_cannot_be_read_leaves_them_as_they_were(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys.json", Clock()
    first, second = (create_key(path, name, ("fuse",)) for name in ("first", "second"))
    ring = KeyRing(path, clock)
    remove_key(path, "first")
    clock.now += 1.1
    assert ring.find(first) is None
    content = path.read_bytes()
    path.write_text("{ half edited")
    clock.now += 1.1
    assert ring.find(second)
    path.unlink()
    clock.now += 1.1
    assert ring.find(second)
    assert ring.find(first) is None
    path.write_bytes(content)  # whole again
    third = create_key(path, "third", ("fuse",))
    clock.now += 1.1
    assert ring.find(third)


def _status(service: Running, key: str) -> set[int]:
    body = {"lists": {"a": ["x"]}, "method": "rrf"}
    return {service.post("/v1/fuse", body, bearer(key)).status for _ in range(8)}


def test_the_file_of_keys_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    before = os.umask(0)
    try:
        create_key(path, "one", ("fuse",))
        create_key(path, "two", ("admin",))
        remove_key(path, "one")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [key.name for key in read_keys(path).values()] == ["two"]


def test_keys_are_compared_in_constant_time() -> None:
    """No comparison of Python, which stops at the first difference, touches a hash."""
    tree = ast.parse(inspect.getsource(keys_module))
    compared = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Compare)]
    assert not [text for text in compared if "hash" in text]
    calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert "hmac.compare_digest(_hash(shape[2]), key.hash)" in calls


def test_keys_are_random_and_found_again(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made = {create_key(path, f"key {n}", ("fuse", "admin")) for n in range(20)}
    assert len(made) == 20
    ring = KeyRing(path)
    found = [ring.find(key) for key in made]
    assert all(key is not None and key.scopes == ("fuse", "admin") for key in found)
    assert ring.find("") is None
    assert ring.find("jr_" + "0" * 12 + "_" + "A" * 43) is None


def test_a_key_that_was_found_before_is_compared_again(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    keys = [create_key(path, name, ("fuse",)) for name in ("one", "two")]
    ring = KeyRing(path)
    for _ in range(2):
        for key, other in (keys, keys[::-1]):
            found = ring.find(key)
            assert found is not None
            assert found.id == key[3:15]
            for wrong in (key[:-1] + ("A" if key[-1] != "A" else "B"), key[:-1], key + "A", key[:-1] + "\xe4",
                          key[:16] + other[16:], key[:15], "xx_" + key[3:]):  # fmt: skip
                assert ring.find(wrong) is None


def test_a_key_that_was_found_before_is_refused_when_it_is_removed(tmp_path: Path) -> None:
    path, clock = tmp_path / "keys.json", Clock()
    gone, kept = (create_key(path, name, ("fuse",)) for name in ("gone", "kept"))
    ring = KeyRing(path, clock)
    assert ring.find(gone)
    assert ring.find(kept)
    remove_key(path, "gone")
    clock.now += 1.1  # the file is looked at every second
    assert ring.find(gone) is None
    assert ring.find(kept)


@pytest.mark.parametrize(
    ("name", "scopes", "reason"),
    [
        ("", ("fuse",), "1 to 100 printable characters"),
        ("a\nb", ("fuse",), "1 to 100 printable characters"),
        ("x" * 101, ("fuse",), "1 to 100 printable characters"),
        ("a", (), "a key needs a scope: fuse, feedback, admin"),
        ("a", ("fuse", "root"), "scopes are fuse, feedback, admin, got root"),
        ("taken", ("fuse",), "there is a key named 'taken' already"),
    ],
)
def test_a_key_that_cannot_be_made_is_an_error(tmp_path: Path, name: str, scopes: tuple[str, ...], reason: str) -> None:
    path = tmp_path / "keys.json"
    create_key(path, "taken", ("fuse",))
    with pytest.raises(ParameterError, match=reason.replace("(", r"\(")):
        create_key(path, name, scopes)
    assert len(read_keys(path)) == 1


def test_removing_a_key_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    create_key(path, "web", ("fuse",))
    with pytest.raises(ParameterError, match="no key is named 'wbe'; there are web"):
        remove_key(path, "wbe")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys": [{}]}', '{"keys": 3}', "\xff"])
def test_a_damaged_file_of_keys_stops_the_start(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_bytes(content.encode("latin-1"))
    if content == "":
        assert read_keys(path) == {}  # as made for a moment by --create-key
        return
    with pytest.raises(DataError, match="not a file of keys"):
        read_keys(path)
    done = _serve("--keys", path)
    assert done.returncode == 1
    assert "not a file of keys; juryrank serve --create-key makes one" in done.stderr
    assert "Traceback" not in done.stderr


def _serve(*args: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "juryrank", "serve", "--port", "0", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_the_command_makes_and_removes_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made = _serve("--keys", path, "--create-key", "web", "--scopes", "fuse, feedback")
    assert made.returncode == 0
    key = made.stdout.strip()
    assert len(made.stdout.splitlines()) == 1
    assert key not in made.stderr
    assert "not shown again" in made.stderr
    found = KeyRing(path).find(key)
    assert found is not None
    assert (found.name, found.scopes) == ("web", ("fuse", "feedback"))
    both = _serve("--keys", path, "--create-key", "a", "--remove-key", "b")
    assert (both.returncode, both.stderr) == (1, "error: give --create-key or --remove-key, not both\n")
    assert _serve("--keys", path, "--remove-key", "web").returncode == 0
    assert read_keys(path) == {}
