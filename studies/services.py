"""HTTP services as processes on this machine, for benchmarks: ``juryrank serve``, and others on uvicorn."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from juryrank.errors import DataError

HOST = "127.0.0.1"
START_SECONDS, END_SECONDS = 120.0, 30.0
PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")
READY = re.compile(r"startup complete")
UVICORN = (  # as juryrank serve has them
    "--loop", "uvloop", "--http", "httptools", "--no-access-log", "--no-server-header", "--no-date-header",
)  # fmt: skip


@dataclass(frozen=True)
class Service:
    """A service that is running."""

    name: str
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def processes(self) -> tuple[int, ...]:
        """The process and its children, which are its workers."""
        listed = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return (self.process.pid, *map(int, listed))

    @property
    def resident(self) -> int:
        """The bytes that all its processes have in memory."""
        total = 0
        for process in self.processes:
            with suppress(FileNotFoundError):  # a worker that has just ended
                found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
                total += 1024 * int(found[1]) if found else 0
        return total


@contextmanager
def juryrank_service(folder: Path, *options: str, port: int = 0) -> Iterator[Service]:
    """``juryrank serve`` with these options."""
    command = [sys.executable, "-m", "juryrank", "serve", "--port", str(port), *options]
    with _started("juryrank serve", command, folder / "juryrank.log") as service:
        yield service


@contextmanager
def uvicorn_service(folder: Path, app: str, *options: str) -> Iterator[Service]:
    """An ASGI application of a module, with the settings of uvicorn that juryrank serve has."""
    command = [sys.executable, "-m", "uvicorn", app, "--host", HOST, "--port", "0", *UVICORN, *options]
    with _started(app, command, folder / f"{app.rpartition(':')[2]}{''.join(options)}.log") as service:
        yield service


@contextmanager
def _started(name: str, command: Sequence[str], log: Path) -> Iterator[Service]:
    with log.open("wb") as written:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=written, stderr=written)
    try:
        yield Service(name, _port(name, process, log), process, log)
    except BaseException:  # Ctrl-C leaves little time
        process.kill()
        raise
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(name: str, process: subprocess.Popen[bytes], log: Path) -> int:
    """The port in the log, once the service is ready."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        text = log.read_text(errors="replace")
        if READY.search(text) and (found := PORT.search(text)):
            return int(found[1])
        time.sleep(0.05)
    lines = log.read_text(errors="replace").splitlines()
    raise DataError(f"{name} does not start: {lines[-1][:300] if lines else 'its log is empty'}")
