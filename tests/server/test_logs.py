"""Logs, metrics and traces: one JSON object per line, counts by route, and nothing that a caller has sent."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from juryrank.server.app import create_app
from juryrank.server.keys import create_key
from juryrank.server.settings import Settings
from server.processes import Running, free_port, running, wait_until_ready
from server.raw import connect
from server.samples import bearer, make_keys, wait_until, write_model

BODY = {"lists": {"a": ["x", "y"], "b": ["y"]}, "method": "rrf"}


@pytest.fixture
def service() -> Iterator[Running]:
    with running() as found:
        yield found


def samples(service: Running) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    text = service.get("/metrics").body.decode()
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def requests(service: Running, route: str, status: int) -> float:
    labels = frozenset((("route", route), ("status", str(status))))
    return samples(service).get(("juryrank_requests_total", labels), 0.0)


def test_every_line_is_json_with_time_and_level_and_every_request_has_one(service: Running) -> None:
    reply = service.post("/v1/fuse", BODY, {"X-Request-Id": "mine"})
    service.get("/v1/absent")
    wait_until(lambda: any(line.get("status") == 404 for line in service.log_lines()))  # written after the answer
    lines = service.log_lines()
    assert all({"time", "level"} <= line.keys() for line in lines)
    for line in lines:
        age = datetime.now(UTC) - datetime.fromisoformat(line["time"])
        assert timedelta(seconds=-1) < age < timedelta(minutes=5)
    (line,) = (each for each in lines if each.get("request_id") == "mine")
    assert (line["route"], line["method"], line["status"]) == ("/v1/fuse", "POST", 200)
    assert 0 < line["milliseconds"] < 10_000
    assert reply.headers["x-request-id"] == "mine"
    assert [each["route"] for each in lines if each.get("status") == 404] == ["other"]


def test_a_line_names_the_key_and_the_model_with_its_version(tmp_path: Path) -> None:
    models = tmp_path / "models"
    models.mkdir()
    content = write_model(models / "m.json")
    keys = {scope: create_key(tmp_path / "keys.json", f'"{scope}" ü', (scope,)) for scope in ("fuse", "admin")}
    with running(models, "--keys", tmp_path / "keys.json") as service:
        version = service.get("/v1/models/m", bearer(keys["fuse"])).json()["version"]
        body = {"lists": BODY["lists"]}
        calls = [
            ("POST", "/v1/fuse", body, "fuse", "m"),  # which the connection answers
            ("POST", "/v1/explain", body, "fuse", "m"),
            ("POST", "/v1/fuse?x=1", body, "fuse", "m"),  # by ASGI
            ("POST", "/v1/fuse", {**BODY, "method": "rrf"}, "fuse", None),
            ("POST", "/v1/fuse", {**body, "model": "absent"}, "fuse", None),
            ("PUT", "/v1/models/m", content, "admin", "m"),
            ("POST", "/v1/feedback", {}, "fuse", None),  # not allowed
            ("POST", "/v1/fuse", BODY, None, None),  # no key
        ]
        for number, (method, path, body, key, _) in enumerate(calls):
            headers = {"X-Request-Id": f"n{number}", **(bearer(keys[key]) if key else {})}
            service.call(method, path, body, headers)
        wait_until(lambda: any(line.get("request_id") == "n7" for line in service.log_lines()))
        lines = {line.get("request_id"): line for line in service.log_lines()}
        assert not [secret for secret in keys.values() if secret[16:] in service.log]
    for number, (*_, key, model) in enumerate(calls):
        line = lines[f"n{number}"]
        name = f'"{key}" ü' if key else None
        assert line.get("key") == name
        assert (line.get("model"), line.get("version")) == (model, version if model else None)


def test_a_lack_of_descriptors_is_logged_once(tmp_path: Path) -> None:
    with running(within=["prlimit", "--nofile=64"]) as service:
        waiting = []
        for _ in range(80):
            with suppress(OSError):
                waiting.append(connect(service))
        try:
            wait_until(lambda: "descriptors" in service.log)
        finally:
            for connection in waiting:
                connection.close()
        wait_until(lambda: _answers(service))
        (line,) = (each for each in service.log_lines() if "descriptors" in each.get("message", ""))
        assert line["level"] == "error"
        assert "of the 64 descriptors" in line["message"]
        assert "LimitNOFILE" in line["message"]


def _answers(service: Running) -> bool:
    try:
        return service.get("/healthz").status == 200
    except (OSError, HTTPException):
        return False


def test_nothing_that_a_caller_sends_is_logged(service: Running) -> None:
    secret = "SECRET7"
    service.post("/v1/fuse", {"lists": {secret: [secret]}, "model": secret})
    service.post(f"/v1/{secret}?x={secret}", secret.encode(), {"X-Request-Id": f"a {secret}", "Cookie": secret})
    service.call(secret, f"/{secret}")
    service.put(f"/v1/models/{secret}", {secret: secret})
    service.post("/v1/fuse", {"lists": {"a": ["x"], "b": {"x": secret}}})
    assert secret not in service.log
    assert secret not in service.get("/metrics").body.decode()


def test_a_line_break_in_what_is_sent_makes_no_line_in_the_log(tmp_path: Path) -> None:
    write_model(tmp_path / "m.json")
    (tmp_path / "bad.json").write_text('{"format": "a\\nb"}')
    with running(tmp_path) as service:
        service.post("/v1/fuse", {"lists": {"a\nb": ["x\ny"]}, "model": "m"})
        service.log_lines()  # all are JSON
        assert any("bad" in line.get("message", "") for line in service.log_lines())


def test_requests_are_counted_by_route_and_status_over_all_workers() -> None:
    with running("--workers", 2) as service:
        for _ in range(20):
            service.post("/v1/fuse", BODY)
        service.post("/v1/fuse", b"{")
        service.get("/a/path/of/strangers")
        assert requests(service, "/v1/fuse", 200) == 20
        assert requests(service, "/v1/fuse", 400) == 1
        assert requests(service, "other", 404) == 1
        found = samples(service)
        assert found["juryrank_request_seconds_count", frozenset((("route", "/v1/fuse"),))] == 21
        assert found["juryrank_fused_items_total", frozenset()] == 60
        assert found["juryrank_damaged_models", frozenset()] == 0


def test_answers_with_warnings_are_counted(service: Running) -> None:
    service.post("/v1/fuse", {"lists": {"a": ["x", "x"]}, "method": "rrf"})
    service.post("/v1/fuse", BODY)
    assert samples(service)["juryrank_warnings_total", frozenset()] == 1


def test_the_number_of_time_series_does_not_grow_with_what_is_sent(service: Running) -> None:
    for path in ("/v1/fuse", "/v1/models/m", "/v1/models/m/refit", "/x"):
        service.post(path, b"{")
    before = len(samples(service))
    for number in range(30):
        service.post(f"/{number}", b"{")
        service.get(f"/v1/models/{number}")
        service.call(f"M{number}", f"/v1/models/{number}/refit", b"{")
    assert len(samples(service)) < before + 30


def test_no_request_is_logged_where_the_level_is_above_info(tmp_path: Path) -> None:
    (tmp_path / "serve.toml").write_text('log_level = "warning"\n')
    port = free_port()
    log = tmp_path / "log"
    command = [sys.executable, "-m", "juryrank", "serve", "--port", str(port), "--config", str(tmp_path / "serve.toml")]
    with log.open("wb") as file, subprocess.Popen(command, stderr=file) as process:
        service = Running(f"http://127.0.0.1:{port}", process.pid, process, log)
        try:
            wait_until_ready(service)
            assert service.post("/v1/fuse", BODY).status == 200
        finally:
            service.end()
    assert log.read_text() == ""


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The spans of one test, kept in memory: a provider that is set stays until the process ends."""
    trace = pytest.importorskip("opentelemetry.trace")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


def call(app: Any, method: str, path: str, body: bytes = b"", headers: list[tuple[bytes, bytes]] | None = None) -> int:
    """One request, in this process."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b"",
        "headers": [(b"host", b"localhost"), *(headers or [])], "http_version": "1.1",
        "scheme": "http", "server": None, "client": None,
        "root_path": "", "asgi": {"version": "3.0"},
    }  # fmt: skip

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return int(sent[0]["status"])


def test_a_configured_opentelemetry_gets_a_span_for_every_request(spans: Any) -> None:
    app = create_app(Settings(access_log=False))
    assert call(app, "POST", "/v1/fuse", json.dumps(BODY).encode()) == 200
    assert call(app, "POST", "/v1/fuse", b"{") == 400
    assert call(app, "GET", "/v1/models/demo") == 200
    ours = [span for span in spans.get_finished_spans() if span.instrumentation_scope.name == "juryrank"]
    found = [(span.name, dict(span.attributes)) for span in ours]
    assert all(span.kind.name == "SERVER" for span in ours)
    assert [name for name, _ in found] == ["POST /v1/fuse", "POST /v1/fuse", "GET /v1/models/{name}"]
    assert [each["http.response.status_code"] for _, each in found] == [200, 400, 200]
    assert [each["http.route"] for _, each in found] == ["/v1/fuse", "/v1/fuse", "/v1/models/{name}"]
    assert all(re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]+", each["juryrank.request_id"]) for _, each in found)


def test_a_span_continues_the_trace_of_the_caller(spans: Any) -> None:
    trace_id = "0af7651916cd43dd8448eb211c80319c"
    header = [(b"traceparent", f"00-{trace_id}-b7ad6b7169203331-01".encode())]
    assert call(create_app(Settings(access_log=False)), "POST", "/v1/fuse", json.dumps(BODY).encode(), header) == 200
    (span,) = spans.get_finished_spans()
    assert format(span.context.trace_id, "032x") == trace_id
    assert format(span.parent.span_id, "016x") == "b7ad6b7169203331"


def test_keys_are_in_no_span(spans: Any, tmp_path: Path) -> None:
    keys = make_keys(tmp_path / "keys.json")
    app = create_app(Settings(access_log=False, keys=tmp_path / "keys.json"))
    header = [(b"authorization", bearer(keys["fuse"])["Authorization"].encode())]
    assert call(app, "POST", "/v1/fuse", json.dumps(BODY).encode(), header) == 200
    assert call(app, "POST", "/v1/fuse", json.dumps(BODY).encode()) == 401
    assert keys["fuse"][16:] not in "".join(span.to_json() for span in spans.get_finished_spans())
    assert len(spans.get_finished_spans()) == 2
