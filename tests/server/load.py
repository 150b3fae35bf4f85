"""Clients that send requests one after the other until nobody listens any more, and tell what went wrong."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from server.processes import Running

BODY = json.dumps({"lists": {name: [f"{n}" for n in range(100)] for name in ("a", "b", "c")}, "method": "rrf"}).encode()
LONGEST = 60.0  # seconds of a load


@dataclass
class Outcome:
    """What the clients have met."""

    answered: int = 0
    refused: int = 0
    failures: list[str] = field(default_factory=list)
    by_status: dict[int, int] = field(default_factory=dict)


class Client(threading.Thread):
    """One client; with ``keep``, it keeps its connection as long as the service does."""

    def __init__(self, service: Running, outcome: Outcome, stop: threading.Event, *, keep: bool) -> None:
        super().__init__(daemon=True)
        self._service, self._outcome, self._finished, self._keep = service, outcome, stop, keep
        self._connection: http.client.HTTPConnection | None = None

    def run(self) -> None:
        """Send requests until told to stop, or refused."""
        end = time.monotonic() + LONGEST
        while not self._finished.is_set() and time.monotonic() < end:
            if self._connection is None and not self._connect():
                return
            assert self._connection is not None
            try:
                self._connection.request("POST", "/v1/fuse", BODY, self._service.headers)
                reply = self._connection.getresponse()
                reply.read()
            except (OSError, http.client.HTTPException) as error:
                self._outcome.failures.append(repr(error))
                self._close()
                continue
            counts = self._outcome.by_status
            counts[reply.status] = counts.get(reply.status, 0) + 1
            self._outcome.answered += reply.status == 200
            if not self._keep or reply.will_close:
                self._close()
        self._close()

    def _connect(self) -> bool:
        connection = http.client.HTTPConnection(*self._service.address, timeout=30)
        try:
            connection.connect()
        except ConnectionRefusedError:
            self._outcome.refused += 1
            return False
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = connection
        return True

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


@contextmanager
def load(service: Running, *, keeping: int = 4, connecting: int = 4) -> Iterator[Outcome]:
    """So many clients with a lasting connection and with a new one for each request, during the block."""
    outcome, stop = Outcome(), threading.Event()
    clients = [Client(service, outcome, stop, keep=n < keeping) for n in range(keeping + connecting)]
    for client in clients:
        client.start()
    try:
        yield outcome
    finally:
        stop.set()
        for client in clients:
            client.join(LONGEST)
    assert not any(client.is_alive() for client in clients)
