"""Clients against a small server that refuses, loses answers and is slow: what is tried again, and for how long."""

import asyncio
import json
import pickle
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import juryrank
from fake_endpoint import Answer, serve
from juryrank.errors import DataError, ParameterError, ServiceError

KEY = "jr_0123456789ab_" + "s" * 43
LISTS = {"bm25": ["a", "b"], "dense": ["b"]}
ITEMS = [{"id": "b", "score": 0.1}, {"id": "a", "score": 0.05}]
FUSED = {"method": "rrf", "model": None, "warnings": [], "items": ITEMS}
OK = Answer(raw=json.dumps(FUSED).encode())
LOST = Answer(raw=b"{", headers={"Content-Length": "1000"})  # the connection ends before the answer is complete

Call = Callable[..., Any]


def refusal(status: int, detail: str = "", **headers: str) -> Answer:
    problem = {"type": "about:blank", "status": status, "detail": detail, "request_id": "r-1"}
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status=status, headers=names, raw=json.dumps(problem).encode())


def one_after_another(*answers: Answer) -> Callable[[Any, int], Answer]:
    """The answers in turn, and the last for ever."""
    return lambda body, n: answers[min(n, len(answers) - 1)]


def call_sync(url: str, name: str, *args: Any, options: dict[str, Any] | None = None, **given: Any) -> Any:
    with juryrank.Client(url, KEY, **(options or {})) as client:
        return getattr(client, name)(*args, **given)


def call_async(url: str, name: str, *args: Any, options: dict[str, Any] | None = None, **given: Any) -> Any:
    async def run() -> Any:
        async with juryrank.AsyncClient(url, KEY, **(options or {})) as client:
            return await getattr(client, name)(*args, **given)

    return asyncio.run(run())


@pytest.fixture(params=[call_sync, call_async], ids=["Client", "AsyncClient"])
def call(request: pytest.FixtureRequest) -> Call:
    return request.param


def test_the_answer_is_that_of_the_service_in_its_order(call: Call) -> None:
    with serve(OK) as fake:
        assert call(fake.url, "fuse", LISTS, top=2) == FUSED
    assert fake.requests == [{"lists": LISTS, "top": 2}]
    assert fake.headers[0]["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_busy_service_is_asked_again(call: Call, status: int) -> None:
    with serve(one_after_another(refusal(status), refusal(status), OK)) as fake:
        assert call(fake.url, "fuse", LISTS) == FUSED
    assert len(fake.requests) == 3


def test_the_time_that_the_service_asks_for_is_waited_for(call: Call) -> None:
    with serve(one_after_another(refusal(429, retry_after="1"), OK)) as fake:
        start = time.monotonic()
        assert call(fake.url, "fuse", LISTS) == FUSED
    assert time.monotonic() - start >= 1.0  # however busy the machine is


def test_a_wait_that_is_longer_than_the_time_left_is_an_error_at_once(call: Call) -> None:
    busy = refusal(503, "busy", retry_after="3600")
    with serve(busy) as fake, pytest.raises(ServiceError, match="HTTP 503: busy") as caught:
        call(fake.url, "fuse", LISTS, options={"timeout": 3000.0})  # a wait would not end
    assert (caught.value.status, caught.value.request_id, len(fake.requests)) == (503, "r-1", 1)


@pytest.mark.parametrize("status", [301, 400, 401, 403, 404, 413, 422, 500, 504])
def test_other_refusals_are_errors_at_once(call: Call, status: int) -> None:
    with serve(refusal(status, "no such thing")) as fake, pytest.raises(ServiceError, match="no such thing") as caught:
        call(fake.url, "fuse", LISTS)
    assert (caught.value.status, caught.value.request_id, len(fake.requests)) == (status, "r-1", 1)


def test_attempts_are_counted(call: Call) -> None:
    with serve(refusal(503)) as fake, pytest.raises(ServiceError):
        call(fake.url, "fuse", LISTS, options={"retries": 2})
    assert len(fake.requests) == 3


def test_a_lost_answer_is_asked_for_again(call: Call) -> None:
    with serve(one_after_another(LOST, OK)) as fake:
        assert call(fake.url, "fuse", LISTS) == FUSED
    assert len(fake.requests) == 2


def test_attempts_of_feedback_have_one_key_and_calls_have_different_ones(call: Call) -> None:
    stored = Answer(raw=b'{"stored": 1}')
    with serve(one_after_another(LOST, stored)) as fake:
        for _ in range(2):
            call(fake.url, "feedback", "q1", LISTS, labels={"a": 1})
        call(fake.url, "feedback_many", [{"query": "q1", "labels": {"a": 1}}, {"query": "q2", "key": "mine"}])
    first, again, second, many = fake.requests
    assert first == again == {"query": "q1", "lists": LISTS, "labels": {"a": 1}, "key": first["key"]}
    assert first["key"] != second["key"]
    assert [entry["key"] == "mine" for entry in many["feedback"]] == [False, True]


@pytest.mark.parametrize(("name", "args"), [("refit", ("m",)), ("roll_back", ("m",))])
def test_what_would_be_done_twice_is_not_tried_again_after_a_lost_answer(call: Call, name: str, args: Any) -> None:
    with serve(LOST) as fake, pytest.raises(ServiceError, match="no connection"):
        call(fake.url, name, *args)
    assert len(fake.requests) == 1
    with serve(one_after_another(refusal(503), OK)) as fake:  # refused, so that nothing was done
        call(fake.url, name, *args)
    assert len(fake.requests) == 2


def test_a_named_version_may_be_put_back_twice(call: Call) -> None:
    with serve(one_after_another(LOST, OK)) as fake:
        call(fake.url, "roll_back", "m", "0123456789ab")
    assert fake.requests == [{"version": "0123456789ab"}] * 2


def test_the_time_of_a_call_is_limited_however_slow_the_service(call: Call) -> None:
    slow = Answer(raw=b"{}", wait=30.0)  # which would be another error
    with serve(slow) as fake, pytest.raises(ServiceError, match="no answer in time") as caught:
        call(fake.url, "fuse", LISTS, options={"timeout": 0.5})
    assert caught.value.status is None


def test_an_answer_that_drips_is_given_up_in_time(call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        code = f"""
import socket, time
listener = socket.socket(fileno={listener.fileno()})
connection, _ = listener.accept()
connection.recv(65536)
connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 1000\\r\\n\\r\\n")
for _ in range(900):
    connection.sendall(b" "); time.sleep(0.1)
"""
        slow = subprocess.Popen([sys.executable, "-c", code], pass_fds=[listener.fileno()], stderr=subprocess.DEVNULL)
        try:
            with pytest.raises(ServiceError, match="no answer in time"):
                call(f"http://127.0.0.1:{listener.getsockname()[1]}", "health", options={"timeout": 1.0, "retries": 0})
            assert slow.poll() is None  # it still drips
        finally:
            slow.kill()
            slow.wait()


def test_where_nothing_listens_the_error_says_so(call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with pytest.raises(ServiceError, match="is the URL right, and the service running") as caught:
        call(url, "health", options={"retries": 1})
    assert caught.value.status is None


def test_another_server_is_noticed(call: Call) -> None:
    with serve(Answer(raw=b"<html>welcome</html>")) as fake, pytest.raises(ServiceError, match="not that of juryrank"):
        call(fake.url, "fuse", LISTS)


def test_numbers_of_numpy_are_sent_and_what_json_has_not_is_an_error(call: Call) -> None:
    import numpy as np

    with serve(OK) as fake:
        call(fake.url, "fuse", {"bm25": dict(zip("ab", np.array([2.0, 1.0]), strict=True)), "dense": np.arange(2)})
        assert fake.requests == [{"lists": {"bm25": {"a": 2.0, "b": 1.0}, "dense": [0, 1]}}]
        for wrong in ({"a": float("nan")}, {"a": object()}):
            with pytest.raises(DataError, match="cannot be sent as JSON"):
                call(fake.url, "fuse", {"bm25": wrong})
    assert len(fake.requests) == 1


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8347", "ftp://host", "http://", "http://u:p@host", "http://host?key=1", 3]
)
def test_a_url_that_is_none_is_an_error(url: Any) -> None:
    with pytest.raises(ParameterError, match="URL of a service"):
        juryrank.Client(url)


@pytest.mark.parametrize("options", [{"timeout": 0}, {"timeout": float("inf")}, {"retries": -1}, {"retries": 1.5}])
def test_limits_that_are_none_are_errors(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be"):
        juryrank.Client("http://127.0.0.1:1", **options)


def test_the_key_is_in_no_text() -> None:
    with pytest.raises(ParameterError) as caught:
        juryrank.Client("http://127.0.0.1:1", "secret\nkey")
    assert "secret" not in str(caught.value)
    with juryrank.Client("http://127.0.0.1:1", KEY) as client:
        assert repr(client) == "Client('http://127.0.0.1:1')"


def test_an_error_can_be_sent_to_another_process() -> None:
    error = pickle.loads(pickle.dumps(ServiceError("no", status=404, request_id="r-1")))
    assert (str(error), error.status, error.request_id) == ("no", 404, "r-1")


def test_without_httpx_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['httpx'] = None; import juryrank; juryrank.Client('http://127.0.0.1:1')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "juryrank[serve]" in done.stderr.splitlines()[-1]
