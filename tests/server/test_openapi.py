"""The OpenAPI document, and thousands of requests that schemathesis makes from it.

``SCHEMATHESIS=1000 pytest tests/server/test_openapi.py`` makes more of them: that many for each operation and kind.
"""

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS

from server.processes import Running, running
from server.samples import write_model

EXAMPLES = int(os.environ.get("SCHEMATHESIS", "25"))
# A request of the right shape may still name what does not exist, and null is the same as a field that is left out.
LEFT_OUT = (
    "positive_data_acceptance",
    "negative_data_rejection",
    "use_after_free",
    "ensure_resource_availability",
    "ignored_auth",
)
OPERATIONS = [
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{name}"),
    ("PUT", "/v1/models/{name}"),
    ("DELETE", "/v1/models/{name}"),
    ("POST", "/v1/models/{name}/rollback"),
    ("POST", "/v1/models/{name}/refit"),
    ("GET", "/v1/models/{name}/refit"),
    ("POST", "/v1/feedback"),
    ("POST", "/v1/fuse"),
    ("POST", "/v1/explain"),
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/metrics"),
]
FIXED = {"/healthz", "/readyz", "/metrics", "/v1/models"}  # nothing about a request to these can be wrong
CASES = [
    (method, path, mode)
    for method, path in OPERATIONS
    for mode in GenerationMode
    if mode == GenerationMode.POSITIVE or path not in FIXED
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("models")
    write_model(folder / "m.json")
    with running(folder) as found:
        yield found
        assert "Traceback" not in found.log


def rss(service: Running) -> float:
    """Memory in MB."""
    line = next(line for line in Path(f"/proc/{service.pid}/status").read_text().splitlines() if "VmRSS" in line)
    return int(line.split()[1]) / 1024


def with_names(document: dict[str, Any]) -> dict[str, Any]:
    """The document with names that exist, so that many requests get further than to their name."""
    fuse = document["paths"]["/v1/fuse"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    explain = document["paths"]["/v1/explain"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    for schema in (fuse, explain):
        schema["properties"]["model"] = {"enum": ["m", "m", "other", ""]}
        schema["properties"]["method"] = {"enum": ["rrf", "borda", "combsum", "combmnz", "kemeny", "jury", "x"]}
        schema["properties"]["params"]["propertyNames"] = {"enum": ["k", "missing"]}
    for path, item in document["paths"].items():
        for operation in item.values():
            for parameter in operation.get("parameters", ()):
                if path != "/v1/models/{name}/refit" and "delete" not in item:
                    parameter["schema"] = {"enum": ["m", "absent"]}
    return document


def test_the_document_has_every_route_and_every_route_is_in_the_document(service: Running) -> None:
    document = service.get("/openapi.json").json()
    found = {(method.upper(), path) for path, item in document["paths"].items() for method in item}
    assert found == set(OPERATIONS)
    for method, path in OPERATIONS:
        reply = service.call(method, path.replace("{name}", "absent"), b"" if method in ("POST", "PUT") else None)
        assert reply.status != 405
        assert b"lists all routes" not in reply.body  # as for a path that does not exist
    assert b"lists all routes" in service.get("/v1/absent").body
    assert document["openapi"].startswith("3.1")
    for path, item in document["paths"].items():
        for operation in item.values():
            assert operation["summary"]
            assert "429" in operation["responses"], path


def test_the_examples_of_the_document_are_answered(service: Running) -> None:
    document = service.get("/openapi.json").json()
    tried = 0
    for path, item in document["paths"].items():
        for operation in item.values():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            for example in [*content.get("examples", ()), *content.get("oneOf", [{}])[0].get("examples", ())]:
                reply = service.post(path.replace("{name}", "m"), example)
                assert reply.status in (200, 201), (path, reply)
                tried += 1
    assert tried == 3


@pytest.mark.parametrize(("method", "path", "mode"), CASES, ids=lambda value: getattr(value, "value", value))
def test_requests_of_every_shape_have_an_answer_that_the_document_describes(
    service: Running, method: str, path: str, mode: GenerationMode
) -> None:
    document = with_names(service.get("/openapi.json").json())
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=service.url)
    operation = schema[path][method]
    checks = [check for check in CHECKS.get_all() if check.__name__ not in LEFT_OUT]
    assert len(checks) > 5
    before, sent = rss(service), Counter[int]()  # by status

    @settings(
        max_examples=EXAMPLES, derandomize=True, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=[Phase.explicit, Phase.generate],
    )  # fmt: skip
    @given(case=operation.as_strategy(generation_mode=mode))
    def send(case: Any) -> None:
        response = case.call()
        sent[response.status_code] += 1
        case.validate_response(response, checks=checks)

    send()
    assert not [status for status in sent if status >= 500]
    assert sum(sent.values()) >= (1 if path in FIXED else EXAMPLES)
    if mode == GenerationMode.POSITIVE and path in ("/v1/fuse", "/v1/explain"):
        assert sent[200] > EXAMPLES / 20
    assert rss(service) < before + 100
    assert service.get("/healthz").status == 200
