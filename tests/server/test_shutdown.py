"""The end of the service: what was accepted is answered, and nothing new is taken."""

import signal
import socket
from pathlib import Path

import pytest

from server.load import load
from server.processes import Running, running
from server.raw import connect, has_answers, post, read, statuses
from server.samples import wait_until

GOOD = b'{"lists":{"a":["x"]},"method":"rrf"}'


def ask(connection: socket.socket) -> bytes:
    """The answer to one request; once it is there, the service has taken up the connection."""
    connection.sendall(post(GOOD))
    answer = b""
    while not has_answers(answer, 1):
        answer += connection.recv(1000)
    assert statuses(answer) == [200]
    return answer


def begin(service: Running) -> socket.socket:
    """A connection on which a request has begun."""
    connection = connect(service)
    ask(connection)
    connection.sendall(post(GOOD)[:-10])
    return connection


def is_refused(service: Running) -> bool:
    """Whether nobody listens any more."""
    try:
        connect(service).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load_fails_no_request(workers: int, number: signal.Signals) -> None:
    with running("--workers", workers) as service, load(service) as outcome:
        wait_until(lambda: outcome.answered > 100)
        service.process.send_signal(number)
        assert service.process.wait(30) == (0 if number == signal.SIGTERM or workers > 1 else 130)
        wait_until(lambda: outcome.refused == 8)  # each client, in the end
    assert outcome.failures == []
    assert set(outcome.by_status) == {200}


def test_a_request_that_has_begun_is_answered_and_its_connection_is_closed() -> None:
    with running() as service:
        begun = [begin(service) for _ in range(5)]
        idle = [connect(service) for _ in range(5)]
        for connection in idle:
            ask(connection)
        service.process.terminate()
        wait_until(lambda: is_refused(service))
        for connection in begun:
            connection.sendall(post(GOOD)[-10:])
            answer = read(connection)
            assert statuses(answer) == [200]
            assert b"connection: close" in answer
        for connection in idle:
            assert read(connection) == b""  # closed, and nothing was lost
        assert service.process.wait(20) == 0
        assert "Traceback" not in service.log
        for connection in (*begun, *idle):
            connection.close()


def test_a_request_on_an_open_connection_is_still_answered_right_after_the_signal() -> None:
    """A client cannot know that the service ends; its request may be on its way."""
    with running() as service, connect(service) as connection:
        ask(connection)
        service.process.terminate()
        while b"connection: close" not in ask(connection):
            pass  # the signal has not arrived
        assert read(connection) == b""


def test_new_connections_are_refused_after_the_signal() -> None:
    with running() as service, begin(service):  # which holds the service
        service.process.terminate()
        wait_until(lambda: is_refused(service))
        assert service.process.poll() is None


def test_a_request_that_does_not_end_holds_the_service_for_a_limited_time(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text("shutdown_seconds = 1\nbody_seconds = 600\n")
    with running("--config", config) as service, begin(service):
        service.process.terminate()
        assert service.process.wait(60) == 0  # long before the body would be late


def test_workers_end_with_the_service() -> None:
    with running("--workers", 3) as service:
        workers = service.workers()
        assert len(workers) == 3
        service.process.terminate()
        assert service.process.wait(30) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
