"""What HTTP asks of every path: HEAD wherever GET is, all methods in ``Allow``; and a document that says what holds."""

from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from server.processes import Running, running
from server.raw import exchange, statuses
from server.samples import bearer, make_keys, model_content
from studio.studios import RunningStudio, running_studio

ALLOWED = {
    "/v1/fuse": "POST",
    "/v1/explain": "POST",
    "/v1/feedback": "POST",
    "/v1/models": "GET, HEAD",
    "/v1/models/m": "DELETE, GET, HEAD, PUT",
    "/v1/models/m/refit": "GET, HEAD, POST",
    "/v1/models/m/rollback": "POST",
    "/healthz": "GET, HEAD",
    "/readyz": "GET, HEAD",
    "/metrics": "GET, HEAD",
    "/openapi.json": "GET, HEAD",
}
STUDIO = {
    "/": "GET, HEAD",
    "/studio/api/state": "GET, HEAD",
    "/studio/api/judge": "POST",
    "/studio/static/main.js": "GET, HEAD",
}
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("models")) as found:
        assert found.put("/v1/models/m", model_content(0)).status == 201
        yield found


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    with running_studio(tmp_path_factory.mktemp("studio")) as found:
        found.headers["Content-Type"] = "application/json"
        yield found


def demand_allowed(service: Running, path: str, allowed: str) -> None:
    for method in METHODS:
        if method not in allowed.split(", "):
            reply = service.call(method, path)
            assert (reply.status, reply.headers.get("allow")) == (405, allowed), method


def test_a_refused_method_has_one_line_allow(service: Running, studio: RunningStudio) -> None:
    for where, path in ((service, "/v1/models/m"), (service, "/v1/fuse"), (studio, "/studio/api/state")):
        more = "".join(f"{name}: {value}\r\n" for name, value in where.headers.items())
        answer = exchange(
            where, f"PATCH {path} HTTP/1.1\r\nHost: localhost\r\n{more}Connection: close\r\n\r\n".encode()
        )
        assert (statuses(answer), answer.lower().count(b"\r\nallow:")) == ([405], 1), path


def demand_head(service: Running, path: str) -> None:
    get, head = service.get(path), service.call("HEAD", path)
    assert (head.status, head.body) == (200, b"")
    varying = ("x-request-id", "content-length") if path == "/metrics" else ("x-request-id",)
    assert {name: value for name, value in head.headers.items() if name not in varying} == {
        name: value for name, value in get.headers.items() if name not in varying
    }
    assert int(head.headers["content-length"]) > 0


@pytest.mark.parametrize("path", ALLOWED)
def test_allow_has_every_method_of_a_path(service: Running, path: str) -> None:
    demand_allowed(service, path, ALLOWED[path])


@pytest.mark.parametrize("path", [path for path, allowed in ALLOWED.items() if "HEAD" in allowed])
def test_head_is_get_without_the_body(service: Running, path: str) -> None:
    demand_head(service, path)
    assert service.call("HEAD", "/v1/models/absent").status == 404


def test_after_head_the_connection_goes_on(service: Running) -> None:
    """A body that is sent after all would be read as the next answer."""
    head = b"HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with_close = head * 3 + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = exchange(service, with_close)
    assert statuses(answer) == [200] * 4
    assert answer.count(b'{"status":"ok"') == 1


def test_the_studio_has_the_same(studio: RunningStudio) -> None:
    for path, allowed in STUDIO.items():
        demand_allowed(studio, path, allowed)
        if "HEAD" in allowed:
            demand_head(studio, path)


@pytest.mark.parametrize("path", ["/v1/fuse", "/v1/explain"])
@pytest.mark.parametrize("more", [{}, *({"top": top} for top in (None, 1, 5, 0, -1, 1.5, True, "1", [1]))], ids=str)
def test_top_is_what_the_document_says(service: Running, path: str, more: dict[str, object]) -> None:
    document = service.get("/openapi.json").json()
    schema = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    body = {"lists": {"a": ["x", "y"]}, "method": "rrf", **more}
    reply = service.post(path, body)
    assert reply.status == (200 if Draft202012Validator(schema).is_valid(body) else 422)
    if more.get("top") is None:
        assert len(reply.json()["items"]) == 2


def test_reading_by_head_needs_the_key_that_get_needs(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("keys")
    keys = make_keys(folder / "keys.json")
    with running("--keys", folder / "keys.json") as service:
        for path, status in (("/v1/models", 401), ("/metrics", 401), ("/healthz", 200)):
            assert service.call("HEAD", path).status == status
            assert service.call("HEAD", path, headers=bearer(keys["fuse"])).status == 200
