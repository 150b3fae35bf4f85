"""The site of the documentation: it builds, its links lead somewhere, and it loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from juryrank.methods import METHODS

ROOT = Path(__file__).parents[1]
LINK = re.compile(r'<(a|img|link|script)\b[^>]*?\b(?:href|src)="?([^">\s]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("material", reason="mkdocs-material builds the site")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_the_site_has_a_page_for_every_method(site: Path) -> None:
    assert [name for name in METHODS if not (site / "catalogue" / name / "index.html").exists()] == []


def test_every_link_of_the_site_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    broken, foreign, seen = [], [], 0
    for page in site.rglob("*.html"):
        for tag, target in LINK.findall(page.read_text()):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if tag != "a":
                    foreign.append((page.name, target))
                continue
            path = unquote(parts.path)
            where = site / path.lstrip("/") if path.startswith("/") else page.parent / path
            seen += 1
            if not where.exists():
                broken.append((str(page.relative_to(site)), target))
    assert broken == []
    assert foreign == []
    assert seen > 100
