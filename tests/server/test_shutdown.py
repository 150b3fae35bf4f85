"""The end of the service: what was accepted is answered, and nothing new is taken."""

import signal
import socket
import time
from pathlib import Path

import pytest

from server.load import load
from server.processes import running
from server.raw import post, read, statuses
from server.samples import wait_until

GOOD = b'{"lists":{"a":["x"]},"method":"rrf"}'


def ask(connection: socket.socket) -> None:
    """One request, whose answer is read to its end."""
    connection.sendall(post(GOOD))
    answer = b""
    while not answer.endswith(b"}]}"):
        answer += connection.recv(1000)
    assert statuses(answer) == [200]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_under_load_fails_no_request(workers: int, number: signal.Signals) -> None:
    with running("--workers", workers) as service, load(service) as outcome:
        wait_until(lambda: outcome.answered > 100)
        service.process.send_signal(number)
        assert service.process.wait(30) == (0 if number == signal.SIGTERM or workers > 1 else 130)
        time.sleep(1.5)  # clients whose connection was not taken up try again after a second
    assert outcome.failures == []
    assert set(outcome.by_status) == {200}
    assert outcome.refused == 8  # each client, in the end


def test_a_request_that_has_begun_is_answered_and_its_connection_is_closed() -> None:
    with running() as service:
        begun = [socket.create_connection(service.address, timeout=20) for _ in range(5)]
        idle = [socket.create_connection(service.address, timeout=20) for _ in range(5)]
        for connection in idle:
            ask(connection)
        request = post(GOOD)
        for connection in begun:
            connection.sendall(request[:-10])
        time.sleep(0.3)
        service.process.terminate()
        time.sleep(0.5)
        for connection in begun:
            connection.sendall(request[-10:])
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
    with running() as service:
        connection = socket.create_connection(service.address, timeout=20)
        ask(connection)
        service.process.terminate()
        time.sleep(0.5)
        connection.sendall(post(GOOD))
        answer = read(connection)
        assert statuses(answer) == [200]
        assert b"connection: close" in answer
        connection.close()


def test_new_connections_are_refused_after_the_signal() -> None:
    with running() as service:
        waiting = socket.create_connection(service.address)
        waiting.sendall(post(GOOD)[:-10])  # holds the service
        time.sleep(0.3)
        service.process.terminate()
        time.sleep(1.0)
        assert service.process.poll() is None
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(service.address, timeout=5)
        waiting.close()


def test_a_request_that_does_not_end_holds_the_service_for_a_limited_time(tmp_path: Path) -> None:
    config = tmp_path / "serve.toml"
    config.write_text("shutdown_seconds = 1\nbody_seconds = 60\n")
    with running("--config", config) as service:
        waiting = socket.create_connection(service.address)
        waiting.sendall(post(GOOD)[:-10])
        time.sleep(0.3)
        start = time.monotonic()
        service.process.terminate()
        assert service.process.wait(20) == 0
        assert time.monotonic() - start < 8
        waiting.close()


def test_workers_end_with_the_service() -> None:
    with running("--workers", 3) as service:
        workers = service.workers()
        assert len(workers) == 3
        service.process.terminate()
        assert service.process.wait(30) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in workers)
