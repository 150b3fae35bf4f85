"""Imports point down: from a higher level to a lower one, never up and never sideways."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import juryrank

# From the bottom up; parts on one line do not know each other. "" is the package itself, with the public names.
LEVELS = [
    ["errors", "progress"],
    ["params", "report", "forks", "kernels"],
    ["data"],
    ["io", "metrics"],
    ["figures", "training"],
    ["methods"],
    ["models", "evaluation", "_public"],
    ["_explain", "_export", "_leaderboard", "serving", "streaming"],
    ["_fuse"],
    ["cli"],
    [""],
    ["__main__"],
]
LEVEL = {part: number for number, parts in enumerate(LEVELS) for part in parts}


def imported_parts(tree: ast.AST, module: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Line and part of every import of ours, wherever it stands; ``module`` is the path below the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ("juryrank", *module)[: len(module) + 1 - node.level] if node.level else ()
            base = [*above, *(node.module or "").split(".")] if node.module else list(above)
            targets = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for target in targets:
            package, *rest = target.split(".")
            if package == "juryrank" and rest != ["__version__"]:  # a constant, known to everyone
                yield node.lineno, rest[0] if rest and rest[0] in LEVEL else "" if len(rest) < 2 else rest[0]


def violations(package: Path) -> list[str]:
    """Every import that does not point down, as ``file:line: a may not import b``."""
    found = []
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package)
        own = "" if path == Path("__init__.py") else path.parts[0].removesuffix(".py")
        if own not in LEVEL:
            found.append(f"{path}:1: {own} has no level; give it one in tests/test_layers.py")
            continue
        module = path.with_suffix("").parts
        for line, part in imported_parts(ast.parse(file.read_text()), module):
            if part not in LEVEL:
                found.append(f"{path}:{line}: {own} may not import {part}, which has no level")
            elif part != own and LEVEL[part] >= LEVEL[own]:
                found.append(f"{path}:{line}: {own or 'juryrank'} may not import {part or 'juryrank'}")
    return found


def test_imports_point_down() -> None:
    assert violations(Path(juryrank.__file__).parent) == []


def test_every_level_is_a_part_that_exists() -> None:
    package = Path(juryrank.__file__).parent
    there = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert set(LEVEL) == {"" if part == "__init__" else part for part in there}


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("kernels/a.py", "from juryrank.methods import RRF", "kernels/a.py:1: kernels may not import methods"),
        ("kernels/a.py", "import juryrank.data.build", "kernels/a.py:1: kernels may not import data"),
        ("kernels/a.py", "from ..data import Rankings", "kernels/a.py:1: kernels may not import data"),
        ("kernels/a.py", "from .. import data", "kernels/a.py:1: kernels may not import data"),
        ("data/a.py", "from juryrank import methods", "data/a.py:1: data may not import methods"),
        ("metrics/a.py", "from juryrank import read", "metrics/a.py:1: metrics may not import juryrank"),
        ("metrics/a.py", "def f():\n    import juryrank.io", "metrics/a.py:2: metrics may not import io"),
        ("data/a.py", "if TYPE_CHECKING:\n    from juryrank.cli import main", "data/a.py:2: data may not import cli"),
        ("errors.py", "from juryrank.params import param", "errors.py:1: errors may not import params"),
        (
            "methods/a.py",
            "from juryrank.extra import x",
            "methods/a.py:1: methods may not import extra, which has no level",
        ),
        ("extra.py", "", "extra.py:1: extra has no level; give it one in tests/test_layers.py"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    assert violations(tmp_path) == [complaint]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "methods/rrf.py",
            "from juryrank.methods.base import Aggregator\nfrom . import positional\nfrom .base import x",
        ),
        ("methods/rrf.py", "from juryrank.kernels import ragged\nimport numpy"),
        ("errors.py", "from juryrank import __version__"),
        ("__init__.py", "from juryrank.methods import METHODS"),
    ],
)
def test_an_import_that_points_down_is_fine(tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text)
    assert violations(tmp_path) == []
