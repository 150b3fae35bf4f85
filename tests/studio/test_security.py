"""Who may use the studio."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.raw import first_answer, statuses
from studio.studios import API, TOKEN, RunningStudio, running_studio

COOKIE = "juryrank-studio-{}"
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStudio]:
    with running_studio(tmp_path_factory.mktemp("studio")) as found:
        found.headers = {}
        yield found


def cookie(studio: RunningStudio, token: str = TOKEN) -> dict[str, str]:
    return {"Cookie": f"{COOKIE.format(studio.address[1])}={token}"}


PATHS = ["/", f"{API}/state", f"{API}/export/qrels", "/studio/static/main.js", "/no/such/path"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Cookie": "juryrank-studio-1=" + TOKEN}, {"Cookie": 'a=b=";'}],
)
def test_without_the_token_everything_is_forbidden(studio: RunningStudio, path: str, headers: dict[str, str]) -> None:
    reply = studio.get(path, headers)
    assert reply.status == 403
    assert reply.headers["content-type"] == "application/problem+json"
    assert "token" in reply.json()["detail"]
    assert TOKEN not in reply.body.decode()
    assert "set-cookie" not in reply.headers


def test_the_address_with_the_token_sets_a_cookie_and_goes_on_without_it(studio: RunningStudio) -> None:
    reply = studio.get(f"/?token={TOKEN}")
    assert (reply.status, reply.headers["location"]) == (303, "/")
    name, *rest = reply.headers["set-cookie"].split("; ")
    assert name == f"{COOKIE.format(studio.address[1])}={TOKEN}"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(rest)
    assert studio.get(f"{API}/state", {"Cookie": f"other=1; {name}"}).status == 200
    assert studio.get("/?token=wrong").status == 403


@pytest.mark.parametrize("given", ["cookie", "bearer", "address"])
def test_with_the_token_requests_are_answered(studio: RunningStudio, given: str) -> None:
    headers = {"cookie": cookie(studio), "bearer": {"Authorization": f"Bearer {TOKEN}"}, "address": {}}[given]
    assert studio.get(f"{API}/state" + (f"?token={TOKEN}" if given == "address" else ""), headers).status == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:{port}", 200), ("localhost:{port}", 200), ("LOCALHOST:9999", 200), ("[::1]:{port}", 200),
        ("evil.example:{port}", 403), ("127.0.0.1.evil.example", 403), ("localhost@evil.example", 403), ("[", 403),
        ("", 400),
    ],
)  # fmt: skip
def test_requests_to_other_hosts_are_refused(studio: RunningStudio, host: str, status: int) -> None:
    headers = {**cookie(studio), "Host": host.format(port=studio.address[1])}
    assert studio.get(f"{API}/state", headers).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"}, 200),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Content-Type": "text/plain"}, 415),
    ],
)
def test_only_the_page_itself_may_change_something(studio: RunningStudio, headers: dict[str, str], status: int) -> None:
    sent = {name: value.format(port=studio.address[1]) for name, value in headers.items()}
    reply = studio.post(f"{API}/judge/undo", {"judge": "ann"}, {**JSON, **cookie(studio), **sent})
    assert reply.status == status


@pytest.mark.parametrize("path", [*PATHS, f"/?token={TOKEN}"])
@pytest.mark.parametrize("known", [True, False])
def test_every_answer_tells_browsers_to_load_nothing_from_elsewhere(
    studio: RunningStudio, path: str, known: bool
) -> None:
    found = studio.get(path, cookie(studio) if known else {}).headers
    policy = dict(part.split(maxsplit=1) for part in found["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert found["x-content-type-options"] == "nosniff"
    assert found["referrer-policy"] == "no-referrer"
    assert found["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/studio/static/../app.py", "/studio/static/%2e%2e/app.py", "/studio/static/..%2fapp.py", "/studio/app.py"]
)
def test_only_the_files_of_the_page_are_served(studio: RunningStudio, path: str) -> None:
    assert studio.get(path, cookie(studio)).status == 404


@pytest.mark.parametrize(("name", "kind"), [("main.js", "text/javascript"), ("style.css", "text/css")])
def test_files_of_the_page_have_the_type_that_browsers_need(studio: RunningStudio, name: str, kind: str) -> None:
    reply = studio.get(f"/studio/static/{name}", cookie(studio))
    assert reply.status == 200
    assert reply.headers["content-type"].split(";")[0] == kind


def test_a_new_token_is_made_for_each_start_and_the_next_port_is_taken(tmp_path: Path) -> None:
    with running_studio(tmp_path, token=None) as one, running_studio(tmp_path, token=None) as other:
        assert one.headers != other.headers
        assert len(one.headers["Authorization"]) > 30
        assert other.get(f"{API}/state", one.headers).status == 403


def test_the_limits_are_those_of_the_service(studio: RunningStudio) -> None:
    """Of heads and bodies, in size and in time; and an offer of another protocol takes no body away."""
    named = f"Host: localhost\r\nAuthorization: Bearer {TOKEN}\r\nContent-Type: application/json\r\n"
    judge = f"POST {API}/judge HTTP/1.1\r\n{named}"
    assert statuses(first_answer(studio, f"GET / HTTP/1.1\r\n{named}X: {'x' * 70_000}".encode())) == [431]
    assert statuses(first_answer(studio, f"{judge}Content-Length: {9 << 20}\r\n\r\n".encode())) == [413]
    for slow in (f"GET / HTTP/1.1\r\n{named}", f"{judge}Content-Length: 100\r\n\r\n{{"):
        assert statuses(first_answer(studio, slow.encode())) == [408]
    offer = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAE\r\n"
    answer = first_answer(studio, f'{judge}{offer}Content-Length: 12\r\n\r\n{{"judge": "a"'.encode())
    assert statuses(answer) == [422]
    assert b"truncated" in answer
