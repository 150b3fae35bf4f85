"""Bytes over a socket, for what no HTTP library would send."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from server.processes import Running

ANSWER = re.compile(rb"HTTP/1\.1 (\d{3}) ")


def exchange(service: Running, data: bytes, *, seconds: float = 1.0, end: bool = False) -> bytes:
    """What comes back until the service closes, or is silent for so long; with ``end``, nothing more is sent."""
    with socket.create_connection(service.address, timeout=seconds) as connection:
        try:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before everything was sent
        return read(connection)


def read(connection: socket.socket) -> bytes:
    """Everything until the end, or until the time is over."""
    found = b""
    try:
        while part := connection.recv(1 << 16):
            found += part
    except OSError:
        pass
    return found


def statuses(answer: bytes) -> list[int]:
    """The statuses of all answers in these bytes."""
    return [int(found) for found in ANSWER.findall(answer)]


def post(body: bytes, *, path: bytes = b"/v1/fuse", headers: bytes = b"", length: int | None = None) -> bytes:
    """A request, with the length of its body or another one."""
    head = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%b\r\n"
    return head % (path, len(body) if length is None else length, headers) + body


def memory(service: Running) -> float:
    """MB of the process."""
    lines = Path(f"/proc/{service.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
