"""Bytes over a socket, for what no HTTP library would send."""

from __future__ import annotations

import re
import socket
from contextlib import suppress
from pathlib import Path

from server.processes import PATIENCE, Running

ANSWER = re.compile(rb"HTTP/1\.1 (\d{3}) ")


def exchange(service: Running, data: bytes, *, seconds: float = PATIENCE, end: bool = False) -> bytes:
    """What comes back until the service closes, or is silent for so long; with ``end``, nothing more is sent."""
    with socket.create_connection(service.address, timeout=seconds) as connection:
        try:
            connection.sendall(data)
            if end:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # refused before everything was sent
        return read(connection)


def connect(service: Running) -> socket.socket:
    """A connection that waits long for answers."""
    return socket.create_connection(service.address, timeout=PATIENCE)


def first_answer(service: Running, data: bytes, *, seconds: float = PATIENCE) -> bytes:
    """The first answer to these bytes, as soon as it is complete; nothing if the service closes without one."""
    with socket.create_connection(service.address, timeout=seconds) as connection:
        found = b""
        with suppress(OSError):  # refused before everything was sent, or silent
            connection.sendall(data)
        with suppress(OSError):
            while not has_answers(found, 1) and (part := connection.recv(1 << 16)):
                found += part
        return found


def has_answers(found: bytes, number: int) -> bool:
    """Whether these bytes have so many complete answers."""
    return after_answers(found, number) is not None


def after_answers(found: bytes, number: int) -> bytes | None:
    """What comes after so many complete answers; None where there are fewer."""
    while number and (head := re.match(rb"HTTP/1\.1 \d.*?\r\n\r\n", found, re.DOTALL)):
        length = re.search(rb"content-length: (\d+)\r\n", head[0])
        end = head.end() + (int(length[1]) if length else 0)
        if len(found) < end:
            return None
        found, number = found[end:], number - 1
    return None if number else found


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
    head = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%b\r\n"
    return head % (path, len(body) if length is None else length, headers) + body


def memory(service: Running) -> float:
    """MB of the process."""
    lines = Path(f"/proc/{service.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
