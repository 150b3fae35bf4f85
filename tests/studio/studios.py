"""The studio as a real process, for tests: started on a free port of this machine, and always ended."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import polars as pl

import juryrank
from server.processes import START_SECONDS, Reply, Running

API = "/studio/api"
TOKEN = "token-of-the-tests-0123456789"
PRINTED = re.compile(r"http://127\.0\.0\.1:\d+/\?token=\S+")
DEMO = Path(juryrank.__file__).parent / "demo"


class RunningStudio(Running):
    """A studio that is running; calls have the token."""

    def ask(self, path: str, **query: Any) -> Any:
        """The JSON of a GET, which must succeed."""
        reply = self.request(path, **query)
        assert reply.status == 200, reply.body
        return reply.json()

    def request(self, path: str, **query: Any) -> Reply:
        """A GET below the API."""
        return self.get(f"{API}{path}?{urlencode(query)}" if query else f"{API}{path}")

    def send(self, path: str, **body: Any) -> Reply:
        """A POST below the API."""
        return self.post(f"{API}{path}", body, {"Content-Type": "application/json"})

    def when_ready(self, path: str, **query: Any) -> Any:
        """The JSON of a GET when nothing of it is being computed any more."""
        return wait_for(
            lambda: self.ask(path, **query), lambda found: not (found.get("pending") or found.get("working"))
        )

    def next(self, judge: str) -> dict[str, Any]:
        """The next question to a judge."""
        question: dict[str, Any] = self.when_ready("/judge/next", judge=judge)["question"]
        return question

    def grade(self, judge: str, question: dict[str, Any], grade: int) -> Any:
        """Grade an item, which must succeed."""
        reply = self.send("/judge", judge=judge, query=question["query"], item=question["item"], grade=grade)
        assert reply.status == 200, reply.body
        return reply.json()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self.process.wait()


def wait_for(ask: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
    """The first answer that is right."""
    end = time.monotonic() + START_SECONDS
    while not is_right(found := ask()):
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


@contextmanager
def running_studio(folder: Path, *args: object, token: str | None = TOKEN) -> Iterator[RunningStudio]:
    """``juryrank studio`` with these arguments in a folder, until the block ends."""
    given = [*args, "--no-browser", *([] if "--port" in args else ["--port", 0])]
    command = [sys.executable, "-m", "juryrank", "studio", *map(str, given), *(["--token", token] if token else [])]
    log_path = folder / f"studio-{time.monotonic_ns()}.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            command, stderr=log, stdout=log, stdin=subprocess.DEVNULL, cwd=folder, env={**os.environ}
        )
    studio = RunningStudio("", process.pid, process, log_path)
    try:
        url = wait_for(lambda: _printed(studio), bool)
        studio.url, given_token = url.split("/?token=")
        studio.headers = {"Authorization": f"Bearer {given_token}"}
        yield studio
    finally:
        studio.end()


def _printed(studio: RunningStudio) -> str | None:
    assert studio.process.poll() is None, studio.log
    found = PRINTED.search(studio.log)
    return found[0] if found and studio.log.find("\n", found.end() - 1) >= 0 else None


def cooking_labels() -> dict[tuple[str, str], int]:
    """The labels of the embedded data, which the studio does not show; an unjudged item is not relevant."""
    table = pl.read_csv(DEMO / "cooking.csv").select("query", "item", "label").unique()
    return {(query, item): int(label or 0) for query, item, label in table.rows()}


def judge_cooking(studio: RunningStudio, n: int, judge: str = "ann") -> dict[tuple[str, str], int]:
    """Answer the next ``n`` questions by the labels of the embedded data; the grades given."""
    truth, given = cooking_labels(), {}
    question = studio.next(judge)
    for _ in range(n):
        key = (question["query"], question["item"])
        given[key] = truth[key]
        question = studio.grade(judge, question, truth[key])["next"]["question"]
    return given
