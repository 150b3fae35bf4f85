"""A chat completions server on this machine that answers as a test wants it to, and counts what it is asked."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """What the server does with a request."""

    content: Any = '{"grade": 2}'
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None  # the whole body
    wait: float = 0.0  # seconds


def completion(content: Any) -> bytes:
    usage = {"prompt_tokens": 100, "completion_tokens": 7}
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": content}}], "usage": usage}).encode()


class FakeEndpoint:
    """``answer`` gets the body of a request and how many came before."""

    def __init__(self, answer: Callable[[dict[str, Any], int], Answer]) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.most_at_once = self._now = 0
        self._lock = threading.Lock()
        self.url = ""

    @property
    def prompts(self) -> list[str]:
        return [request["messages"][0]["content"] for request in self.requests]

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        with self._lock:
            count = len(self.requests)
            self.requests.append(body)
            self.headers.append(dict(handler.headers))
            self.paths.append(handler.path)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        answer = self.answer(body, count)
        time.sleep(answer.wait)
        content = completion(answer.content) if answer.raw is None else answer.raw
        with self._lock:
            self._now -= 1
        handler.send_response(answer.status)
        for name, value in {"Content-Length": str(len(content)), **answer.headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(content)


@contextmanager
def serve(answer: Callable[[dict[str, Any], int], Answer] | Answer) -> Iterator[FakeEndpoint]:
    """A server for the time of the block."""
    fake = FakeEndpoint((lambda body, count: answer) if isinstance(answer, Answer) else answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            with suppress(ConnectionError):  # the client has not waited
                fake.respond(self)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
