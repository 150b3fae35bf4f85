"""Tests change no constant and nothing private of the package: where a test needs a small limit, it is a parameter."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PRIVATE = re.compile(r"[A-Z][A-Z0-9_]+|_(?!_)\w+")  # a constant, or a name that begins with one underscore


def patched_names(tree: ast.AST) -> Iterator[str]:
    """The private names that a test module sets on something else; "?" where the name is computed."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node.func) in ("setattr", "setitem", "object", "patch") and node.args:
            texts = [arg for arg in node.args[:2] if isinstance(arg, ast.Constant | ast.JoinedStr)]
            for text in texts[:1]:
                name = str(text.value).rpartition(".")[2] if isinstance(text, ast.Constant) else "?"
                if name == "?" or PRIVATE.fullmatch(name):
                    yield name
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                own = isinstance(target, ast.Attribute) and _called(target.value) in ("self", "cls")
                if isinstance(target, ast.Attribute) and not own and PRIVATE.fullmatch(target.attr):
                    yield target.attr


def _called(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_no_test_patches_a_constant_or_a_private_name() -> None:
    found = {
        f"{file.relative_to(TESTS).as_posix()}: {name}"
        for file in TESTS.rglob("*.py")
        for name in patched_names(ast.parse(file.read_text(encoding="utf-8")))
    }
    assert sorted(found) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('monkeypatch.setattr(threads, "THREADED_FROM", 0)', "THREADED_FROM"),
        ('monkeypatch.setattr("juryrank.kernels.threads.THREADED_FROM", 0)', "THREADED_FROM"),
        ('monkeypatch.setattr(Jury, "_scores", f)', "_scores"),
        ('setattr(threads, f"{name}", 0)', "?"),
        ('mock.patch.object(threads, "_cache", {})', "_cache"),
        ('mock.patch("juryrank.kernels.threads.LIMIT", 1)', "LIMIT"),
        ("threads.LIMIT = 3", "LIMIT"),
    ],
)
def test_a_planted_patch_is_found(text: str, name: str) -> None:
    assert list(patched_names(ast.parse(text))) == [name]


@pytest.mark.parametrize(
    "text",
    [
        'monkeypatch.setattr(builtins, "__import__", f)',
        'monkeypatch.setattr(juryrank, "read", f)',
        'monkeypatch.setattr(sys, "argv", [])',
        "self._count = 1",
        "LIMIT = 3",
    ],
)
def test_what_is_not_private_may_be_patched(text: str) -> None:
    assert list(patched_names(ast.parse(text))) == []
