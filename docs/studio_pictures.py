"""Takes docs/studio-*.png, the pictures of the studio, from the embedded data. Run by ``make pictures``.

The studio runs as it does for everybody, without DATA. Its judgements are the labels of the embedded data, given
through the API as two judges would; then each view is opened in Chromium.
"""

import csv
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
DEMO = ROOT / "src" / "juryrank" / "demo"
JUDGED = {"ann": 110, "ben": 20}  # grades of each judge
WIDE, NARROW = (1280, 860), (390, 844)
COLOURS = 256  # of a picture; a page has few
# As root there is no sandbox; the others keep Chromium from calling its makers.
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")


@contextmanager
def studio(folder: str) -> Iterator[str]:
    """The studio on the embedded data; gives its address."""
    command = [sys.executable, "-m", "juryrank", "studio", "--no-browser", "--port", "0", "--judge", "ann"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def call(url: str, path: str, body: Any = None) -> Any:
    """One call of the API."""
    origin, _, token = url.partition("/?token=")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    content = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{origin}/studio/api{path}", content, headers)) as answer:
        return json.load(answer)


def judge(url: str) -> None:
    """Give the grades of the embedded data."""
    with (DEMO / "cooking.csv").open(newline="") as lines:
        truth = {(row["query"], row["item"]): int(row["label"] or 0) for row in csv.DictReader(lines)}
    for name, n in JUDGED.items():
        question = call(url, f"/judge/next?judge={quote(name)}")["question"]
        for _ in range(n):
            key = question["query"], question["item"]
            body = {"judge": name, "query": key[0], "item": key[1], "grade": truth.get(key, 0)}
            question = call(url, "/judge", body)["next"]["question"]


def show(page: Page, view: str) -> None:
    """Open a view, and wait until everything it shows is computed."""
    page.evaluate("hash => { location.hash = hash }", f"#/{view}")
    page.wait_for_load_state("networkidle")
    page.wait_for_function("() => !document.querySelector('.waiting')", timeout=120_000)
    page.wait_for_timeout(700)  # animations


def act(page: Page, view: str) -> None:
    """What somebody would do in this view."""
    if view == "query/q06":
        page.get_by_text("jury", exact=True).click()
        page.wait_for_timeout(900)
        page.locator(".cell.consensus").nth(2).hover()
    if view == "compare":
        page.locator(".comparison tr", has_text=re.compile("^jury")).get_by_role("button").click()
        page.wait_for_load_state("networkidle")
    if view == "judge":
        page.keyboard.press("0")
        page.wait_for_timeout(4500)  # until the message is gone
        page.wait_for_load_state("networkidle")


def take(page: Page, name: str, *, whole: bool = True) -> None:
    """One picture, with few colours, so that it is small."""
    from PIL import Image

    path = ROOT / "docs" / f"studio-{name}.png"
    page.screenshot(path=path, full_page=whole)
    whole_colours = Image.open(path).convert("RGB")
    few_colours = whole_colours.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    few_colours.save(path, optimize=True)
    print(path.relative_to(ROOT), f"{path.stat().st_size // 1024} KB")


def main() -> None:
    """All pictures."""
    views = {"overview": "overview", "query/q06": "query", "judge": "judge", "compare": "compare", "deploy": "deploy"}
    with tempfile.TemporaryDirectory() as folder, studio(folder) as url, sync_playwright() as driver:
        judge(url)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for (width, height), scheme, shown, suffix in (
            (WIDE, "light", views, ""),
            (WIDE, "dark", {"query/q06": "query"}, "-dark"),
            (NARROW, "light", {"judge": "judge"}, "-narrow"),
        ):
            size = {"width": width, "height": height}
            page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
            page.goto(url)
            for view, name in shown.items():
                show(page, view)
                act(page, view)
                take(page, name + suffix, whole=not suffix)
        browser.close()


if __name__ == "__main__":
    main()
