"""The service as a real process, for tests: started on a free port of this machine, and always ended."""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

START_SECONDS = 120.0  # on a machine that is busy with other tests
PATIENCE = 60.0  # for what takes much less than a second, on a machine that has time
LISTENING = re.compile(r"listening on (http://\S+?)[,\"]")


def free_port() -> int:
    """A port that nothing listens at, outside of the range from which the system gives ports to other tests."""
    while True:
        port = random.randrange(20_000, 32_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@dataclass
class Reply:
    """What the service answered."""

    status: int
    headers: dict[str, str]  # names in lower case
    body: bytes

    def json(self) -> Any:
        """The body, which must be JSON."""
        return json.loads(self.body)


@dataclass
class Running:
    """A service that is running."""

    url: str
    pid: int
    process: subprocess.Popen[bytes]
    log_path: Path
    headers: dict[str, str] = field(default_factory=dict)  # sent with every call, such as a key

    @property
    def address(self) -> tuple[str, int]:
        """Host and port."""
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = PATIENCE,
    ) -> Reply:
        """Send one request on a new connection; a body that is not bytes is sent as JSON."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection = http.client.HTTPConnection(*self.address, timeout=timeout)
        try:
            connection.request(method, path, content, {**self.headers, **(headers or {})})
            found = connection.getresponse()
            return Reply(found.status, {name.lower(): value for name, value in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        """GET."""
        return self.call("GET", path, headers=headers)

    def post(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """POST."""
        return self.call("POST", path, body, headers)

    def put(self, path: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Reply:
        """PUT."""
        return self.call("PUT", path, body, headers)

    def delete(self, path: str, headers: Mapping[str, str] | None = None) -> Reply:
        """DELETE."""
        return self.call("DELETE", path, headers=headers)

    @property
    def log(self) -> str:
        """Everything that was logged so far."""
        return self.log_path.read_text(encoding="utf-8", errors="surrogateescape")

    def log_lines(self) -> list[dict[str, Any]]:
        """The log, each line of which must be JSON; of a line that is just written, the file may have a part."""
        runs, log = self.process.poll() is None, self.log
        return [json.loads(line) for line in (log[: log.rfind("\n") + 1] if runs else log).splitlines()]

    def workers(self) -> list[int]:
        """The processes of the workers, where there are several."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    def descendants(self) -> dict[int, int]:
        """The processes that the service or its processes have started, each with the one that has started it."""
        found: dict[int, int] = {}
        waiting = [self.pid]
        while waiting:
            parent = waiting.pop()
            with suppress(OSError):  # it has ended
                for file in Path(f"/proc/{parent}/task").glob("*/children"):
                    children = [int(pid) for pid in file.read_text().split()]
                    found.update(dict.fromkeys(children, parent))
                    waiting += children
        return found

    def end(self) -> int:
        """Ask the service to end, and return its exit code; one that does not end is killed."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise


@contextmanager
def running(
    *args: object, env: Mapping[str, str] | None = None, cwd: Path | None = None, within: Sequence[str] = ()
) -> Iterator[Running]:
    """``juryrank serve`` with these arguments, on a free port unless they name one, until the block ends.

    ``within`` is the beginning of a command that takes another command and becomes it, such as ``env A=B``.
    """
    port = [] if "--port" in args else ["--port", "0"]
    command = [*within, sys.executable, "-m", "juryrank", "serve", *map(str, args), *port]
    with tempfile.TemporaryDirectory(prefix="juryrank-test-") as folder:
        log_path = Path(folder) / "log"
        with log_path.open("wb") as log:
            process = subprocess.Popen(
                command, stderr=log, stdout=log, stdin=subprocess.DEVNULL, cwd=cwd, env={**os.environ, **(env or {})}
            )
        service = Running("", process.pid, process, log_path)
        try:
            service.url = _find_url(service)
            wait_until_ready(service)
            yield service
        finally:
            service.end()


def _find_url(service: Running) -> str:
    """The address in the log."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if found := LISTENING.search(service.log):
            return found[1]
        assert service.process.poll() is None, f"the service ended: {service.log}"
        time.sleep(0.02)
    raise AssertionError(f"the service does not listen: {service.log}")


def wait_until_ready(service: Running) -> None:
    """Wait until a worker answers."""
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            assert service.call("GET", "/healthz", timeout=START_SECONDS).status == 200
            return
        except (OSError, http.client.HTTPException):
            assert service.process.poll() is None, f"the service ended: {service.log}"
            assert time.monotonic() < end, f"the service does not answer: {service.log}"
            time.sleep(0.05)
