"""The load generator counts what a server has received, and the load test and the benchmark of the service run."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from studies.http_load import Load, Plan, cpu_seconds, post_request, run_load
from studies.load import LoadReport, Phase, measure
from studies.services import HOST
from studies.speed import service
from studies.speed.clock import Timing

TOP = Path(__file__).parents[2]
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


class Server:
    """Answers each request with bytes that may depend on how many came before."""

    def __init__(self, answer: Callable[[int], bytes], wait: float) -> None:
        self._answer, self._wait, self._lock = answer, wait, threading.Lock()
        self.received = 0
        self.bodies: set[bytes] = set()
        self.listener = socket.create_server((HOST, 0), backlog=200)
        self.port = self.listener.getsockname()[1]

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(ConnectionError), connection, connection.makefile("rb") as lines:
            while head := self._head(lines):
                body = lines.read(head)
                with self._lock:
                    number = self.received
                    self.received += 1
                    self.bodies.add(body)
                time.sleep(self._wait)
                if not (answer := self._answer(number)):
                    return
                connection.sendall(answer)

    def _head(self, lines: "socket.SocketIO") -> int:
        length = 0
        while (line := lines.readline().strip()) or not length:
            if line.startswith(b"content-length: "):
                length = int(line[16:])
            elif not line:
                return 0
        return length


@contextmanager
def serving(answer: Callable[[int], bytes] = lambda n: OK, wait: float = 0.0) -> Iterator[Server]:
    server = Server(answer, wait)
    threading.Thread(target=server.accept, daemon=True).start()
    try:
        yield server
    finally:
        server.listener.close()


def plan(server: Server, **options: object) -> Plan:
    defaults = {"connections": 4, "warm_up": 8, "seconds": 0.5}
    return Plan(HOST, server.port, post_request("/x", b"hello"), **{**defaults, **options})  # type: ignore[arg-type]


def test_a_closed_loop_sends_what_it_counts() -> None:
    with serving() as server:
        found = run_load(plan(server))
    assert found.errors == 0
    assert found.requests > 8
    assert 8 <= server.received - found.requests <= 8 + 4
    assert server.bodies == {b"hello"}


def test_an_open_loop_keeps_its_rate_and_latencies_count_from_when_requests_are_due() -> None:
    with serving(wait=0.05) as server:  # one connection answers at most 20 requests per second
        found = run_load(plan(server, connections=1, warm_up=1, rate=60.0, seconds=0.5))
    assert (found.requests, found.errors) == (30, 0)
    assert found.latencies["p50"] > 0.25  # half a second of requests waits for one and a half
    with serving(wait=0.0) as server:
        assert run_load(plan(server, connections=8, rate=60.0)).latencies["p50"] < 0.25


@pytest.mark.parametrize("broken", [b"HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n", b""], ids=["refused", "closed"])
@pytest.mark.parametrize("rate", [None, 100.0], ids=["closed loop", "open loop"])
def test_answers_that_are_no_success_are_errors(broken: bytes, rate: float | None) -> None:
    with serving(lambda n: broken if n == 20 else OK) as server:
        found = run_load(plan(server, rate=rate))
    assert found.errors == 1
    assert found.error


def test_the_cpu_time_of_a_process_is_its_own() -> None:
    before = cpu_seconds([os.getpid()])
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    assert 0.2 <= cpu_seconds([os.getpid()]) - before <= 1.0


def phase(resident: list[int], errors: int = 0) -> Phase:
    return Phase(0.5, 10.0, Load(10, errors, 1.0, 0.5, {"p50": 0.001}, "gone" if errors else ""), resident)


def test_memory_that_grows_after_the_warm_up_and_errors_are_faults() -> None:
    megabyte = 1 << 20
    flat = phase([(50 + 40 * (n > 10) + n % 2) * megabyte for n in range(100)])  # grows once, in the first quarter
    leak = phase([(90 + n // 10) * megabyte for n in range(100)])
    assert (flat.grows, leak.grows) == (False, True)
    assert leak.rise / megabyte == pytest.approx(7.5, abs=0.5)
    report = LoadReport(Load(10, 0, 1.0, 0.5), [flat, leak, phase([megabyte], errors=2)], 1, (0.0, 0.0))
    assert [fault.split(" at ")[0] for fault in report.faults] == ["memory grows by 7.4 MiB", "2 errors"]


def test_the_service_is_measured_at_every_share_of_its_capacity(tmp_path: Path) -> None:
    report = measure(tmp_path, seconds=3.0)
    assert [p.share for p in report.phases] == [0.2, 0.5, 0.8]
    assert report.faults == []
    for p in report.phases:
        assert p.load.requests == pytest.approx(p.share * report.capacity.rate, rel=0.1)
        assert p.load.latencies["p50"] <= p.load.latencies["p99.9"] <= p.load.latencies["max"]
    assert "errors" in report.render("markdown")


def test_ctrl_c_ends_the_service_and_the_load() -> None:
    command = [sys.executable, "-m", "studies", "load", "--seconds", "120"]
    with subprocess.Popen(command, cwd=TOP, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "capacity" in process.stderr.readline()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert children
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    end = time.monotonic() + 20.0  # killed, but the system may be busy
    while any(Path(f"/proc/{child}").exists() for child in children) and time.monotonic() < end:
        time.sleep(0.05)
    assert [child for child in children if Path(f"/proc/{child}").exists()] == []


def test_rows_of_the_benchmark_have_requests_per_second_and_targets_their_limits() -> None:
    times = {
        service.RRF: (200e-6, 100e-6), service.LEARNED: (400e-6, 300e-6), service.ECHO: (50e-6, 50e-6),
        service.PLAIN: (100e-6, 100e-6),
    }  # fmt: skip
    measured = {name: Timing(None, seconds, 3, cpu) for name, (seconds, cpu) in times.items()}
    measured[service.ENSEMBLE] = Timing(None, 1e-3, 3, 0.9e-3)
    rows = service.rows_of(measured, measured, same=True)
    assert [row.agreement.split(";")[0] for row in rows] == [
        "requests/s: 5,000 and 20,000", "requests/s: 5,000 and 10,000", "times are median latencies",
        "requests/s: 2,500 and 20,000", "requests/s: 2,500 and 10,000", "times are median latencies",
        "requests/s: 5,000 and 1,000",
    ]  # fmt: skip
    targets = service.targets_of(rows)
    assert [(target.cpu, target.verdict) for target in targets] == [
        ("2.00×", "met"), ("1.00×", "met"), ("2.00×", "met"), ("6.00×", "NOT met"), ("3.00×", "NOT met"),
        ("6.00×", "NOT met"), ("9.00×", "met"),
    ]  # fmt: skip
