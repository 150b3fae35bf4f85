"""What README and docs show is what happens: every ``$ juryrank …`` in them is run, in order, on the demo data."""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)|src=\"([^\":]+)\"")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
DRAWN = {f"catalogue/{name}.md" for name in ("methods", "metrics", "api")}  # by docs/catalogues.py, in the site


def commands(page: Path) -> Iterator[tuple[str, str]]:
    """Every command of a page, with the output that is shown below it."""
    for block in BLOCK.findall(page.read_text()):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            if command.startswith("juryrank "):
                yield command, output


@pytest.mark.parametrize("page", [p for p in PAGES if any(commands(p))], ids=lambda page: page.name)
def test_every_command_shown_gives_the_output_shown(page: Path, tmp_path: Path) -> None:
    (tmp_path / "src" / "juryrank").mkdir(parents=True)
    (tmp_path / "src" / "juryrank" / "demo").symlink_to(ROOT / "src" / "juryrank" / "demo")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    check = doctest.OutputChecker().check_output
    for command, shown in commands(page):
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, f"$ {command}\n{done.stderr}"
        printed = done.stdout + done.stderr
        same = check(shown, printed, doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        assert same or not shown, f"$ {command}\nshown:\n{shown}\nprinted:\n{printed}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_inside_the_project_leads_somewhere(page: Path) -> None:
    targets = [a or b for a, b in LINK.findall(page.read_text())]
    assert [t for t in targets if t not in DRAWN and not (page.parent / t).exists()] == []
