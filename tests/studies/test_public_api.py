"""Studies use the public API of juryrank alone."""

import ast
import re
from pathlib import Path

import pytest

import juryrank
import studies

TOP = Path(studies.__file__).parent
FILES = sorted(TOP.rglob("*.py"))
PUBLIC_MODULES = {"juryrank", "juryrank.errors"}
IN_TEXT = re.compile(r"(?:from|import)\s+(juryrank(?:\.\w+)*)")  # code for other processes is text


def imports(tree: ast.Module) -> set[str]:
    """The modules of juryrank that a file imports, also inside functions and in text that is run as code."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found |= set(IN_TEXT.findall(node.value))
    return {name for name in found if name.partition(".")[0] == "juryrank"}


def used_names(tree: ast.Module) -> set[str]:
    """The names that a file takes from ``juryrank``, by ``jr.name`` or by import."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in ("jr", "juryrank"):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and node.module == "juryrank":
            found |= {name.name for name in node.names}
    return found


def private_attributes(tree: ast.Module) -> set[str]:
    """Attributes with an underscore that a file reads of anything but ``self``."""
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.startswith("__")
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "os"))
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TOP)))
def test_a_study_uses_public_names_only(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    assert imports(tree) <= PUBLIC_MODULES
    assert used_names(tree) <= {*juryrank.__all__, "__version__", "__file__"}
    assert private_attributes(tree) == set()


def test_the_package_knows_nothing_of_the_studies() -> None:
    for file in Path(juryrank.__file__).parent.rglob("*.py"):
        names = {name for node in ast.walk(ast.parse(file.read_bytes())) for name in imported(node)}
        assert not any(name.partition(".")[0] == "studies" for name in names), file


def test_the_wheel_has_the_package_and_no_studies() -> None:
    build = (TOP.parent / "meson.build").read_text(encoding="utf-8")
    assert re.findall(r"install_subdir\('([^']*)'", build) == ["src/juryrank", "src/haystack_integrations"]
    parts = {path.name for path in Path(juryrank.__file__).parent.iterdir()}
    assert parts.isdisjoint({"bench", "datasets", "papers", "reproduce", "speed", "studies"})


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []
