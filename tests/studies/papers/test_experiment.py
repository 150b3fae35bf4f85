"""Stored results are used again only while the code that decides them is the same."""

from pathlib import Path

import pytest

import juryrank
import studies
from studies.papers.experiment import SHOWING, SHOWING_STUDIES, code_digest, library_digest, studies_digest


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name in ("methods/learned/crf.py", "io/files.py", "fusing.py", "cli/fuse.py", "plots.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    return tmp_path


@pytest.mark.parametrize("name", ["methods/learned/crf.py", "io/files.py", "fusing.py", "new/part.py"])
def test_a_change_of_decisive_code_changes_the_digest(top, name):
    before = code_digest(top, SHOWING)
    (top / name).parent.mkdir(exist_ok=True)
    (top / name).write_text("x = 2\n")
    assert code_digest(top, SHOWING) != before


@pytest.mark.parametrize("name", ["cli/fuse.py", "plots.py"])
def test_a_change_of_what_shows_results_does_not(top, name):
    before = code_digest(top, SHOWING)
    (top / name).write_text("x = 2\n")
    assert code_digest(top, SHOWING) == before


@pytest.mark.parametrize(
    ("package", "names"), [(juryrank, SHOWING), (studies, SHOWING_STUDIES)], ids=["juryrank", "studies"]
)
def test_parts_that_show_results_exist(package, names):
    parts = {part for file in Path(package.__file__).parent.rglob("*.py") for part in file.with_suffix("").parts}
    assert names <= parts


def test_the_library_and_the_studies_have_their_own_digests():
    assert library_digest() != studies_digest()
