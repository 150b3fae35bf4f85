"""A load generator for HTTP services: ``python -m studies.http_load`` reads a plan as JSON and prints what it measured.

It is a process of its own with raw sockets and one request in bytes, so that it takes little time beside the service.
In a closed loop, each connection sends its next request when it has the answer to the last. In an open loop, requests
are due at the times of a Poisson process, whether or not the service is ready for them, and latencies count from then.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from juryrank.errors import DataError

PROCESSES = Path("/proc")
QUANTILES = (0.5, 0.9, 0.99, 0.999)
MOST_REQUESTS = 5_000_000
SECONDS_TO_ANSWER = 30.0  # after the last request was due
RECEIVED = 1 << 18


@dataclass(frozen=True)
class Plan:
    """What is sent: for ``seconds``, after ``warm_up`` requests; with ``rate`` requests per second, in an open loop."""

    host: str
    port: int
    request: str  # the bytes, as Latin-1
    connections: int = 8
    warm_up: int = 200
    seconds: float = 2.0
    rate: float | None = None
    seed: int = 0
    processes: tuple[int, ...] = ()  # of the service, whose CPU time is measured


@dataclass(frozen=True)
class Load:
    """What was measured."""

    requests: int
    errors: int  # answers that are not 200, and requests without an answer
    seconds: float
    cpu: float  # seconds of the service
    latencies: dict[str, float] = field(default_factory=dict)  # seconds by quantile, and max
    error: str = ""  # the first

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    @property
    def cpu_per_request(self) -> float:
        """Seconds of CPU time of the service for each request."""
        return self.cpu / max(1, self.requests)


def run_load(plan: Plan) -> Load:
    """Run a plan in a process of its own."""
    limit = plan.seconds + 2 * SECONDS_TO_ANSWER + 60.0
    command = [sys.executable, "-m", "studies.http_load"]
    done = subprocess.run(
        command, input=json.dumps(asdict(plan)), capture_output=True, text=True, timeout=limit, check=False
    )
    if done.returncode:
        raise DataError(f"the load generator failed: {done.stderr.strip()[-500:]}")
    return Load(**json.loads(done.stdout))


def post_request(path: str, body: bytes, **headers: str) -> str:
    """The bytes of a request that keeps the connection, as text of a plan."""
    fields = {"host": "localhost", "content-type": "application/json", "content-length": len(body), **headers}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    return "\r\n".join([*lines, "", ""]) + body.decode("latin-1")


def cpu_seconds(processes: Sequence[int]) -> float:
    """The CPU time of processes, of all their threads, user and system, to the nanosecond."""
    files = [file for process in processes for file in (PROCESSES / str(process) / "task").glob("*/schedstat")]
    return sum(int(file.read_text().split()[0]) for file in files) * 1e-9


class Connection:
    """A connection with at most one request under way."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._request = plan, plan.request.encode("latin-1")
        self._buffer = b""
        self.due = 0.0
        self._open()

    def _open(self) -> None:
        self._socket = socket.create_connection((self._plan.host, self._plan.port), timeout=SECONDS_TO_ANSWER)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def send(self, due: float) -> None:
        """Send the request."""
        self.due, self._buffer = due, b""
        with suppress(OSError):  # the answer will not come, which is an error then
            self._socket.sendall(self._request)

    def receive(self) -> tuple[bool, str]:
        """Whether the answer is complete, and what is wrong with it."""
        try:
            received = self._socket.recv(RECEIVED)
        except OSError as error:
            received, reason = b"", str(error)
        else:
            reason = "the connection ended before the answer"
        if not received:
            self._socket.close()
            self._open()
            return True, reason
        self._buffer = received = self._buffer + received if self._buffer else received
        head = received.find(b"\r\n\r\n")
        if head < 0:
            return False, ""
        start = received.index(b"content-length: ", 0, head) + 16
        if len(received) < head + 4 + int(received[start : received.index(b"\r\n", start)]):
            return False, ""
        return True, "" if received[9:12] == b"200" else received[:300].decode("latin-1")

    def close(self) -> None:
        """End the connection."""
        self._socket.close()


class Generator:
    """Sends the requests of a plan over its connections."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._connections = [Connection(plan) for _ in range(plan.connections)]
        self.latencies: list[float] = []
        self.errors, self.error = 0, ""

    def run(self) -> Load:
        """Warm up, then measure."""
        self._closed_loop(time.perf_counter() + SECONDS_TO_ANSWER, self._plan.warm_up)
        self.latencies, self.errors, self.error = [], 0, ""
        busy, start = cpu_seconds(self._plan.processes), time.perf_counter()
        if self._plan.rate is None:
            self._closed_loop(start + self._plan.seconds, MOST_REQUESTS)
        else:
            self._open_loop(start, self._plan.rate)
        seconds = time.perf_counter() - start
        cpu = cpu_seconds(self._plan.processes) - busy
        for connection in self._connections:
            connection.close()
        return Load(len(self.latencies), self.errors, seconds, cpu, self._quantiles(), self.error)

    def _quantiles(self) -> dict[str, float]:
        if not self.latencies:
            return {}
        found = np.quantile(self.latencies, [*QUANTILES, 1.0]).tolist()
        return dict(zip([*(f"p{100 * q:g}" for q in QUANTILES), "max"], found, strict=True))

    def _finish(self, connection: Connection) -> bool:
        """Whether a connection that can be read has its whole answer."""
        complete, wrong = connection.receive()
        if complete:
            self.latencies.append(time.perf_counter() - connection.due)
            self.errors += bool(wrong)
            self.error = self.error or wrong
        return complete

    def _closed_loop(self, end: float, most: int) -> None:
        """Each connection sends again when it has its answer, until ``end``; ``most`` requests in all."""
        busy = set(self._connections)
        for connection in busy:
            connection.send(time.perf_counter())
        n_sent = len(busy)
        while busy:
            ready = select.select(busy, (), (), SECONDS_TO_ANSWER)[0]
            for connection in filter(self._finish, ready):
                if (now := time.perf_counter()) >= end or n_sent >= most:
                    busy.discard(connection)
                else:
                    connection.send(now)
                    n_sent += 1
            if not ready:
                self._give_up(len(busy))
                break

    def _open_loop(self, start: float, rate: float) -> None:
        """Requests are sent when they are due and a connection is free, in order."""
        number = min(MOST_REQUESTS, max(1, round(rate * self._plan.seconds)))
        gaps = np.random.default_rng(self._plan.seed).exponential(1.0 / rate, number)
        due = deque((start + np.cumsum(gaps)).tolist())
        free, busy = list(self._connections), set[Connection]()
        end = due[-1] + SECONDS_TO_ANSWER
        while due or busy:
            now = time.perf_counter()
            while due and due[0] <= now and free:
                connection = free.pop()
                connection.send(due.popleft())
                busy.add(connection)
            wait = max(0.0, due[0] - time.perf_counter()) if due and free else SECONDS_TO_ANSWER
            ready = select.select(busy, (), (), wait)[0]
            for connection in filter(self._finish, ready):
                busy.discard(connection)
                free.append(connection)
            if now > end:
                self._give_up(len(due) + len(busy))
                break

    def _give_up(self, number: int) -> None:
        self.errors += number
        self.error = self.error or f"no answer within {SECONDS_TO_ANSWER:g} seconds"


def main() -> None:
    """Run the plan on stdin."""
    plan = Plan(**json.load(sys.stdin))
    print(json.dumps(asdict(Generator(plan).run())))


if __name__ == "__main__":
    main()
