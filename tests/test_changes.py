"""Notes of changes: the changelog can be made from them."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_changelog_folds_in_every_note() -> None:
    pytest.importorskip("towncrier", reason="it makes the changelog")
    done = subprocess.run(
        [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "next"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    notes = [path for path in (ROOT / "changes").glob("*.md") if path.name != "README.md"]
    assert [path.name for path in notes if " ".join(path.read_text().split()) not in told] == []
