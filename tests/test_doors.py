"""Public import paths, names, commands, options and routes are those of ``public_doors.txt``."""

import ast
import importlib
from importlib.util import find_spec

import pytest

from doors import DOORS, doors, public_in, routes_in
from sessions import COMMANDS

HELP = "if that is meant: python tests/same.py --record, and a fragment in changes/"


def recorded() -> list[str]:
    return DOORS.read_text(encoding="utf-8").splitlines()


def differing(before: list[str], now: list[str]) -> list[str]:
    """One line for each door that is not there any more, or is not in the list."""
    removed = [f"removed: {door}; {HELP}" for door in before if door not in now]
    return removed + [f"new: {door}; {HELP}" for door in now if door not in before]


def test_no_door_is_removed_or_new_without_being_listed():
    assert differing(recorded(), doors()) == []


def test_a_removed_and_a_new_door_are_named_with_what_to_do():
    found = differing(["command juryrank fuse", "route GET /"], ["route GET /", "option juryrank fuse --x"])
    assert found == [f"removed: command juryrank fuse; {HELP}", f"new: option juryrank fuse --x; {HELP}"]


def test_every_listed_name_can_be_imported():
    doors = [line.split(" ", 1)[1] for line in recorded() if line.startswith("name juryrank.")]
    for path, _, name in (door.rpartition(".") for door in doors):
        if not path.startswith("juryrank.integrations"):  # whose frameworks may be missing
            assert hasattr(importlib.import_module(path), name), f"{path}.{name}"


def test_every_listed_module_is_there():
    modules = [line.removeprefix("module ") for line in recorded() if line.startswith("module ")]
    assert modules
    assert [name for name in modules if find_spec(name) is None] == []


def test_make_same_asks_for_the_help_of_every_command():
    assert {f"command juryrank {name}" for name in COMMANDS} | {"command juryrank"} == {
        line for line in recorded() if line.startswith("command ")
    }


def test_every_command_has_its_options_in_the_list():
    listed = {name: set() for name in COMMANDS}
    for words in (line.split() for line in recorded()):
        if words[0] == "option" and len(words) == 4:
            listed[words[2]].add(words[3])
    assert [name for name, options in listed.items() if not options] == []
    assert {"-o", "--out", "--method", "--plugin", "--quiet"} <= listed["fuse"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('@routes.get("/a")\ndef f(): ...', ["route GET /a"]),
        ('API = "/api"\n\ndef g(routes):\n    @routes.post(f"{API}/b")\n    def f(): ...', ["route POST /api/b"]),
        ('routes.mount("/files", x)', ["route MOUNT /files"]),
        ('other.get("/c")', []),
    ],
)
def test_routes_are_read_from_decorators(text, expected):
    assert list(routes_in(ast.parse(text))) == expected


def test_public_names_are_those_of_all_or_without_an_underscore():
    assert public_in(ast.parse('__all__ = ["a"]\ndef b(): ...')) == ["a"]
    assert public_in(ast.parse("class A: ...\ndef _b(): ...\nX = 1")) == ["A"]
    assert public_in(ast.parse("X: int = 1\n_y = 2"), constants=True) == ["X"]
