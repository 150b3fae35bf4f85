"""The studio as a real process, and a real Chromium that looks at it; what goes wrong in the page is recorded."""

from __future__ import annotations

import csv
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("playwright", reason="playwright drives the browser")

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# As root there is no sandbox; the others keep Chromium from calling its makers.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
TOKEN = "a-token-for-tests-only"
START_SECONDS = 120.0  # on a machine that is busy with other tests
WIDE, NARROW = (1280, 900), (390, 844)

DEMO = Path(__file__).parents[3] / "src" / "juryrank" / "demo"
COOKING = DEMO / "cooking.csv"
COOKING_TEXTS = ("--texts", DEMO / "corpus.csv", "--query-texts", DEMO / "queries.json")


@dataclass
class Studio:
    """A studio that is running."""

    url: str  # with the token
    process: subprocess.Popen[bytes]
    folder: Path  # where it runs

    @property
    def origin(self) -> str:
        return self.url.partition("/?")[0]

    @property
    def judgements(self) -> list[dict[str, str]]:
        """The rows of the file of judgements."""
        path = self.folder / "judgements.csv"
        if not path.exists():
            return []
        with path.open(newline="", encoding="utf-8") as lines:
            return list(csv.DictReader(lines))

    def kill(self) -> None:
        """End it without a warning, as a crash would."""
        self.process.kill()
        self.process.wait()


@contextmanager
def studio(*args: object, folder: Path, port: int = 0) -> Iterator[Studio]:
    """``juryrank studio`` with these arguments in a folder, on a free port unless one is given."""
    command = [sys.executable, "-m", "juryrank", "studio", *map(str, args), "--no-browser", "--port", str(port)]
    log_path = folder / f"log-{time.monotonic_ns()}"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [*command, "--token", TOKEN, "--judge", "ann"],
            cwd=folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=dict(os.environ),
        )  # fmt: skip
    try:
        yield Studio(_find_url(log_path, process), process, folder)
    finally:
        process.kill()
        process.wait()


def _find_url(log_path: Path, process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        text = log_path.read_text(errors="replace")
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=\S+", text):
            with socket.create_connection(("127.0.0.1", int(found[1])), timeout=START_SECONDS):
                return found[0]
        assert process.poll() is None, f"the studio ended: {text}"
        time.sleep(0.05)
    raise AssertionError(f"the studio does not start: {log_path.read_text(errors='replace')}")


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless Chromium of the system."""
    if CHROMIUM is None:
        pytest.skip(
            "NO BROWSER: there is no chromium here; the page of the studio is NOT TESTED; make browser installs it"
        )
    with sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        try:
            yield found
        finally:
            found.close()


@dataclass
class Watch:
    """What a page said and asked for."""

    origin: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    is_server_away: bool = False  # then failed requests are no errors of the page

    def hear(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning") and not (self.is_server_away and "ERR_CONNECTION_REFUSED" in said.text):
            self.errors.append(f"{said.type}: {said.text}")

    def see(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.foreign.append(request.url)

    def check(self) -> None:
        """Neither an error nor a request to another host."""
        assert self.errors == []
        assert self.foreign == []


@contextmanager
def opened(browser: Browser, where: Studio, size: Sequence[int] = WIDE, **options: Any) -> Iterator[tuple[Page, Watch]]:
    """The page in a browser profile of its own, checked for errors at the end."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.set_default_timeout(20_000)
    watch = Watch(where.origin)
    context.on("console", watch.hear)
    context.on("request", watch.see)
    context.on("weberror", lambda error: watch.errors.append(str(error.error)))
    try:
        page = context.new_page()
        page.goto(where.url)
        page.locator("#judged").wait_for()
        yield page, watch
        watch.check()
    finally:
        context.close()


def show(page: Page, view: str) -> None:
    """Open a view, and wait until it has loaded what it shows."""
    page.evaluate("hash => { location.hash = hash }", f"#/{view}")
    page.wait_for_function("view => document.title.toLowerCase().startsWith(view)", arg=view.split("/")[0])
    page.wait_for_function("() => !document.querySelector('.waiting')")


def true_grades() -> dict[tuple[str, str], str]:
    """The labels of the cooking data; what has none is not relevant."""
    with COOKING.open(newline="") as lines:
        return {(row["query"], row["item"]): row["label"] or "0" for row in csv.DictReader(lines)}
