"""The studio as a real process, and a real Chromium that looks at it; what goes wrong in the page is recorded."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from studio.studios import DEMO, TOKEN, RunningStudio, running_studio

pytest.importorskip("playwright", reason="playwright drives the browser")

from playwright.sync_api import Browser, ConsoleMessage, Page, Request, expect, sync_playwright

PATIENCE = 20_000  # milliseconds, on a machine that is busy with other tests
expect.set_options(timeout=PATIENCE)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
# As root there is no sandbox; the others keep Chromium from calling its makers.
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
WIDE, NARROW = (1280, 900), (390, 844)

COOKING = DEMO / "cooking.csv"
COOKING_TEXTS = ("--texts", DEMO / "corpus.csv", "--query-texts", DEMO / "queries.json")


def studio(*args: object, folder: Path, port: int = 0) -> AbstractContextManager[RunningStudio]:
    """``juryrank studio`` with these arguments in a folder; ann is its judge."""
    return running_studio(folder, *args, "--judge", "ann", "--port", port, token=TOKEN)


def rows_in(folder: Path) -> list[dict[str, str]]:
    """The rows of the file of judgements."""
    path = folder / "judgements.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


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
        if said.type in ("error", "warning") and not (self.is_server_away and "net::ERR_" in said.text):
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
def opened(
    browser: Browser, where: RunningStudio, size: Sequence[int] = WIDE, **options: Any
) -> Iterator[tuple[Page, Watch]]:
    """The page in a browser profile of its own, checked for errors at the end."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    context.set_default_timeout(PATIENCE)
    watch = Watch(where.url)
    context.on("console", watch.hear)
    context.on("request", watch.see)
    context.on("weberror", lambda error: watch.errors.append(str(error.error)))
    try:
        page = context.new_page()
        page.goto(f"{where.url}/?token={TOKEN}")
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
