"""Every page of docs/integrations in a fresh virtual environment with what the page says to install (``make extras``).

The wheel of this tree is built once and installed once: each environment starts as a copy of one with the package
alone, and pip adds what the page names. The examples of a page run by doctest in an empty folder, with an empty home
and without a network: they need no clone, no downloads and no other extra. Pages or extras may be named: ``python
tests/extras.py langchain qdrant``; ``juryrank`` is the package alone, with the first examples of the README and of
docs/fuse.md.
"""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "integrations"
BARE, BARE_PAGES = "juryrank", (ROOT / "README.md", ROOT / "docs" / "fuse.md")
PIP = [sys.executable, "-m", "pip"]
LIMIT = 900  # seconds for the examples of one page
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
OURS = re.compile(r"juryrank(?:\[([\w,-]+)\])?")
RUN = """
import doctest, sys
failed, tried = 0, 0
for page in sys.argv[2:]:
    done = doctest.testfile(page, module_relative=False, optionflags=int(sys.argv[1]), encoding="utf-8")
    failed, tried = failed + done.failed, tried + done.attempted
print("EXAMPLES", tried)
sys.exit(failed > 0 or tried == 0)
"""
NOWHERE = "http://127.0.0.1:9"  # nothing listens there: a request fails at once


class Outcome(NamedTuple):
    """How the examples of a page ended, and what they said."""

    passed: bool
    examples: int
    said: str


def requirements(page: str) -> list[str]:
    """What the text of a page says to install.

    >>> requirements("```sh\\npip install 'juryrank[postgres]' pgserver\\n```")
    ['juryrank[postgres]', 'pgserver']
    """
    lines = [line for kind, block in BLOCK.findall(page) if kind in ("sh", "console") for line in block.splitlines()]
    commands = [shlex.split(line.removeprefix("$ "), comments=True) for line in lines if "pip install" in line]
    return [word for words in commands for word in words[2:] if not word.startswith("-")]


def extras_of(page: Path) -> list[str]:
    """The extras of juryrank that a page says to install."""
    found = [OURS.fullmatch(each) for each in requirements(page.read_text(encoding="utf-8"))]
    return [extra for match in found if match and match[1] for extra in match[1].split(",")]


def pages() -> dict[str, Path]:
    """The pages of frameworks and engines, by name."""
    return {path.stem: path for path in sorted(PAGES.glob("*.md")) if path.stem != "index"}


def option_flags() -> int:
    """The options for doctest in pyproject.toml."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    return sum(doctest.OPTIONFLAGS_BY_NAME[name] for name in settings["doctest_optionflags"])


def build_wheel(folder: Path) -> Path:
    """The wheel of this tree."""
    subprocess.run([*PIP, "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)], check=True)
    (wheel,) = folder.glob("juryrank-*.whl")
    return wheel


def make_environment(folder: Path, needed: list[str], wheel: Path, base: Path | None = None) -> Path:
    """The Python of a new virtual environment with these requirements; our own is the wheel.

    The packages of ``base``, another environment, are there from the start, as links: to install them again takes
    most of the time.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    if base is not None:
        shutil.copytree(packages_of(base), packages_of(folder), copy_function=os.link, dirs_exist_ok=True)
    named = [f"{each} @ {wheel.as_uri()}" if OURS.fullmatch(each) else each for each in needed]
    subprocess.run([*PIP, "--python", str(python), "install", "-q", *named], check=True, capture_output=True, text=True)
    return python


def packages_of(environment: Path) -> Path:
    """The folder of the packages of a virtual environment."""
    root = {"base": str(environment), "platbase": str(environment)}
    return Path(sysconfig.get_path("purelib", "venv", vars=root))


def run_examples(python: Path, examples: list[Path], folder: Path) -> Outcome:
    """Run the examples in an empty folder."""
    home, work = folder / "home", folder / "work"
    for new in (home, work):
        new.mkdir()
    environment = {
        "PATH": f"{python.parent}:{os.defpath}", "LANG": "C.UTF-8", "HOME": str(home), "TMPDIR": str(home),
        "http_proxy": NOWHERE, "https_proxy": NOWHERE, "no_proxy": "127.0.0.1,localhost",
    }  # fmt: skip
    command = [str(python), "-I", "-c", RUN, str(option_flags()), *map(str, examples)]
    try:
        done = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return Outcome(False, 0, f"no end within {LIMIT} seconds")
    counted = re.search(r"^EXAMPLES (\d+)$", done.stdout, re.MULTILINE)
    return Outcome(done.returncode == 0, int(counted[1]) if counted else 0, done.stdout + done.stderr)


def first_blocks(folder: Path) -> list[Path]:
    """The first examples of the pages for the package alone, as pages of their own."""
    made = []
    for page in BARE_PAGES:
        block = next(block for kind, block in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == "pycon")
        made.append(folder / page.name)
        made[-1].write_text(block, encoding="utf-8")
    return made


def try_page(name: str, wheel: Path, base: Path) -> bool:
    """Install and run one page, print a line about it, and remove everything."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="jr-", ignore_cleanup_errors=True) as made:
        folder = Path(made)
        examples = first_blocks(folder) if name == BARE else [pages()[name]]
        needed = [BARE] if name == BARE else requirements(examples[0].read_text(encoding="utf-8"))
        try:
            python = make_environment(folder / "venv", needed, wheel, base)
            installed = time.monotonic() - start
            size = sum(file.lstat().st_size for file in (folder / "venv").rglob("*") if file.is_file()) / 1e6
            outcome = run_examples(python, examples, folder)
        except subprocess.CalledProcessError as error:
            installed, size, outcome = time.monotonic() - start, 0.0, Outcome(False, 0, error.stderr or str(error))
    word, ran = "runs" if outcome.passed else "FAILS", time.monotonic() - start - installed
    examples_text = f"{outcome.examples:3} examples in {ran:4.0f} s"
    size_text = f"{size:5.0f} MB installed in {installed:4.0f} s"
    print(f"{word:5} {name:14} {examples_text}; {size_text}: pip install {' '.join(needed)}", flush=True)
    if not outcome.passed:
        print(outcome.said[-4000:], flush=True)
    return outcome.passed


def main(names: list[str]) -> bool:
    """Try these pages, or all; whether all examples run."""
    known = {name: name for name in (BARE, *pages())}
    by_extra = {extra: name for name, page in pages().items() for extra in extras_of(page)}
    if unknown := set(names) - known.keys() - by_extra.keys():
        sys.exit(f"no page or extra {', '.join(sorted(unknown))}; known: {', '.join(known)}")
    with tempfile.TemporaryDirectory(prefix="jr-") as folder:
        wheel, base = build_wheel(Path(folder)), Path(folder) / "base"
        make_environment(base, [BARE], wheel)
        passed = [try_page((known | by_extra)[name], wheel, base) for name in names or known]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return all(passed)


if __name__ == "__main__":
    sys.exit(not main(sys.argv[1:]))
