"""Imports point down: from a higher level to a lower one, never up, never sideways and never in a circle."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

import juryrank

PACKAGE = Path(juryrank.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"

# From the bottom up; parts on one line do not import each other. First the library, then tasks, then faces.
LIBRARY = [
    ["errors", "progress"],
    ["params", "retries", "polars", "report", "kernels"],
    ["data"],
    ["annotators", "metrics"],
    ["io"],
    ["scan", "learning"],
    ["methods"],
    ["models", "evaluation", "_public"],
]
TASKS = [f"tasks.{path.name}" for path in sorted((PACKAGE / "tasks").iterdir()) if (path / "__init__.py").exists()]
FACES = [["integrations", "server", "client"], ["studio"], ["cli"]]
LEVELS = [*LIBRARY, TASKS, *FACES]
LEVEL = {part: number for number, parts in enumerate(LEVELS) for part in parts}
MOST_LINES = 350  # of a file
SURFACE = {"polars", "_public"}  # what juryrank/__init__.py imports; all else comes from the table when it is used
KNOWN_FACES = {("studio", "server"), ("cli", "server"), ("cli", "studio")}  # else no face knows another


def imports(tree: ast.AST, module: tuple[str, ...], is_package: bool) -> Iterator[tuple[int, str]]:
    """Line and dotted target of every import of ours, wherever it stands; ``module`` is the path below the package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = ("juryrank", *module)[: len(module) + 1 - node.level + is_package] if node.level else ()
            base = [*above, *(node.module or "").split(".")] if node.module else list(above)
            targets = [".".join([*base, alias.name]) for alias in node.names]
        else:
            continue
        for target in targets:
            if target.split(".")[0] == "juryrank" and target != "juryrank.__version__":  # a constant for everyone
                yield node.lineno, target


def files_with_imports(package: Path) -> Iterator[tuple[Path, tuple[str, ...], list[tuple[int, str]]]]:
    """Every file below the package, its module path and its imports."""
    for file in sorted(package.rglob("*.py")):
        path = file.relative_to(package)
        is_package = path.name == "__init__.py"
        module = path.parent.parts if is_package else path.with_suffix("").parts
        yield path, module, list(imports(ast.parse(file.read_text()), module, is_package))


def part_of(target: str) -> str:
    """The part that a target belongs to; nothing for the package itself, that is for a public name."""
    _, *rest = target.split(".")
    if rest[:1] == ["tasks"]:
        return ".".join(rest[:2])
    return rest[0] if rest and (rest[0] in LEVEL or len(rest) > 1) else ""


def may_import(own: str, part: str) -> bool:
    """Whether the code of one part may import another."""
    if own == "":
        return part in SURFACE
    if part == own:
        return True
    if not part or LEVEL[part] >= LEVEL[own]:
        return False
    return not {own, part} <= set(chain.from_iterable(FACES)) or (own, part) in KNOWN_FACES


def violations(package: Path) -> list[str]:
    """Every import that does not point down, as ``file:line: a may not import b``."""
    found = []
    for path, module, targets in files_with_imports(package):
        own = "cli" if module == ("__main__",) else ".".join(module[: 2 if module[:1] == ("tasks",) else 1])
        if own == "tasks":
            continue
        if own and own not in LEVEL:
            found.append(f"{path}:1: {own} has no level; give it one in tests/test_layers.py")
            continue
        for line, target in targets:
            part = part_of(target)
            if part and part not in LEVEL:
                found.append(f"{path}:{line}: {own} may not import {part}, which has no level")
            elif not may_import(own, part):
                found.append(f"{path}:{line}: {own or 'juryrank'} may not import {part or 'juryrank'}")
    return found


def module_graph(package: Path) -> dict[str, set[str]]:
    """Every module with the modules that it imports, at the top, in functions and for type checkers.

    An import also runs the packages around its target; those around the module itself are running already.
    """
    found = list(files_with_imports(package))
    modules = {".".join(("juryrank", *module)) for _, module, _ in found}

    def modules_of(own: str, target: str) -> set[str]:
        while target not in modules:
            target = target.rpartition(".")[0]
        return {target} | packages_around(target) - packages_around(own)

    return {
        own: set().union(*(modules_of(own, target) for _, target in targets)) - {own}
        for own, targets in ((".".join(("juryrank", *module)), targets) for _, module, targets in found)
    }


def packages_around(module: str) -> set[str]:
    """The packages that a module is in."""
    package = module.rpartition(".")[0]
    return {package, *packages_around(package)} if package else set()


def cycle_in(graph: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, if there are any."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_imports_point_down() -> None:
    assert violations(PACKAGE) == []


def private_imports(package: Path) -> list[str]:
    """Every import of a module or name with an underscore that is not of the same folder, above and below it, too."""
    found = []
    for path, module, targets in files_with_imports(package):
        folder = module if path.name == "__init__.py" else module[:-1]
        for line, target in targets:
            _, *rest = target.split(".")
            private = next((n for n, name in enumerate(rest) if name.startswith("_") and name != "_public"), None)
            if private is not None and home_of(package, rest[:private]) != folder:
                found.append(f"{path}:{line}: {target}")
    return found


def home_of(package: Path, owner: list[str]) -> tuple[str, ...]:
    """The folder of what a package or a module has."""
    return tuple(owner if package.joinpath(*owner).is_dir() else owner[:-1])


def test_what_starts_with_an_underscore_is_imported_only_inside_its_folder() -> None:
    assert private_imports(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("io/b.py", "from juryrank.data._a import x"),
        ("io/b.py", "from juryrank.data import _a"),
        ("io/b.py", "from juryrank.data.a import _x"),
        ("b.py", "from juryrank.data._a import x"),
        ("b.py", "from juryrank.data.a import _x"),
        ("data/deep/b.py", "def f():\n    from juryrank.data._a import x"),
        ("io/b.py", "from juryrank.io.deep._a import x"),
    ],
)
def test_an_import_of_something_private_of_another_folder_is_found(tmp_path: Path, file: str, text: str) -> None:
    files = {"data/_a.py": "", "data/a.py": "", "io/deep/_a.py": "", file: text}
    found = private_imports(planted(tmp_path, files))
    assert [line.partition(":")[0] for line in found] == [file]


@pytest.mark.parametrize("text", ["from juryrank.data._a import x", "from . import _a", "from .a import _x"])
def test_an_import_of_something_private_of_the_same_folder_is_fine(tmp_path: Path, text: str) -> None:
    assert private_imports(planted(tmp_path, {"data/_a.py": "", "data/a.py": "", "data/b.py": text})) == []


def test_no_modules_import_each_other() -> None:
    assert cycle_in(module_graph(PACKAGE)) == []


def test_no_file_has_too_many_lines() -> None:
    files = {str(file.relative_to(PACKAGE)): file.read_text().count("\n") for file in PACKAGE.rglob("*.py")}
    assert [f"{name}: {lines}" for name, lines in files.items() if lines > MOST_LINES] == []


def test_every_level_is_a_part_that_exists() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert {part.partition(".")[0] for part in LEVEL} == there - {"__init__", "__main__"}


def test_contributing_shows_the_tree_of_the_code() -> None:
    tree = CONTRIBUTING.read_text().partition("src/juryrank/\n")[2].partition("studies/")[0]
    rows = re.findall(r"^  ((?:[\w/]+(?:/|\.py) )+) *(\d+)  ", tree, flags=re.MULTILINE)
    shown = [
        (part.rstrip("/").removesuffix(".py").replace("/", "."), int(n)) for parts, n in rows for part in parts.split()
    ]
    assert sorted(shown) == sorted(LEVEL.items())


def test_a_module_and_a_package_whose_start_imports_it_are_found(tmp_path: Path) -> None:
    files = {
        "__init__.py": "",
        "data/__init__.py": "",
        "data/a.py": "def f():\n    from juryrank.io.b import x",
        "io/__init__.py": "from juryrank.data.a import f",
        "io/b.py": "",
    }
    assert set(cycle_in(module_graph(planted(tmp_path, files)))) == {"juryrank.data.a", "juryrank.io"}


def planted(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("kernels/a.py", "from juryrank.methods import RRF", "kernels/a.py:1: kernels may not import methods"),
        ("kernels/a.py", "import juryrank.data.build", "kernels/a.py:1: kernels may not import data"),
        ("kernels/a.py", "from ..data import Rankings", "kernels/a.py:1: kernels may not import data"),
        ("kernels/a.py", "from .. import data", "kernels/a.py:1: kernels may not import data"),
        ("kernels/__init__.py", "from ..data import Rankings", "kernels/__init__.py:1: kernels may not import data"),
        ("data/a.py", "from juryrank import methods", "data/a.py:1: data may not import methods"),
        ("metrics/a.py", "from juryrank import read", "metrics/a.py:1: metrics may not import juryrank"),
        ("cli/a.py", "import juryrank", "cli/a.py:1: cli may not import juryrank"),
        ("cli/a.py", "from juryrank import read", "cli/a.py:1: cli may not import juryrank"),
        ("metrics/a.py", "def f():\n    import juryrank.io", "metrics/a.py:2: metrics may not import io"),
        ("data/a.py", "if TYPE_CHECKING:\n    from juryrank.cli import main", "data/a.py:2: data may not import cli"),
        ("errors.py", "from juryrank.params import param", "errors.py:1: errors may not import params"),
        ("__init__.py", "from juryrank.methods import METHODS", "__init__.py:1: juryrank may not import methods"),
        (
            "methods/a.py",
            "from juryrank.extra import x",
            "methods/a.py:1: methods may not import extra, which has no level",
        ),
        (
            "methods/a.py",
            "from juryrank.tasks.fuse import fuse",
            "methods/a.py:1: methods may not import tasks.fuse",
        ),
        (
            "tasks/fuse/a.py",
            "from juryrank.tasks import explain",
            "tasks/fuse/a.py:1: tasks.fuse may not import tasks.explain",
        ),
        ("tasks/fuse/a.py", "from juryrank.cli import main", "tasks/fuse/a.py:1: tasks.fuse may not import cli"),
        ("client.py", "from juryrank.server import run", "client.py:1: client may not import server"),
        ("studio/a.py", "from juryrank.client import Client", "studio/a.py:1: studio may not import client"),
        ("server/a.py", "import juryrank.studio.run", "server/a.py:1: server may not import studio"),
        ("cli/a.py", "from juryrank.integrations import spark", "cli/a.py:1: cli may not import integrations"),
        ("tasks/more/a.py", "", "tasks/more/a.py:1: tasks.more has no level; give it one in tests/test_layers.py"),
        ("extra.py", "", "extra.py:1: extra has no level; give it one in tests/test_layers.py"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, file: str, text: str, complaint: str) -> None:
    assert violations(planted(tmp_path, {file: text})) == [complaint]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (
            "methods/rrf.py",
            "from juryrank.methods.base import Aggregator\nfrom . import positional\nfrom .base import x",
        ),
        ("methods/rrf.py", "from juryrank.kernels import ragged\nimport numpy"),
        ("errors.py", "from juryrank import __version__"),
        ("__init__.py", "from juryrank._public import MODULES"),
        ("__main__.py", "from juryrank.cli import main"),
        ("tasks/fuse/a.py", "from juryrank.tasks.fuse.b import x\nfrom juryrank.models import load"),
        ("studio/a.py", "from juryrank.server import logs"),
        (
            "cli/a.py",
            "from juryrank.server import run\nfrom juryrank.studio.run import Address",
        ),
    ],
)
def test_an_import_that_points_down_is_fine(tmp_path: Path, file: str, text: str) -> None:
    assert violations(planted(tmp_path, {file: text})) == []


@pytest.mark.parametrize(
    "back",
    [
        "from juryrank.data.b import x",
        "def f():\n    from .b import x",
        "if TYPE_CHECKING:\n    import juryrank.data.b",
    ],
)
def test_two_modules_that_import_each_other_are_found(tmp_path: Path, back: str) -> None:
    files = {"__init__.py": "", "data/__init__.py": "", "data/a.py": back, "data/b.py": "from juryrank.data import a"}
    assert set(cycle_in(module_graph(planted(tmp_path, files)))) == {"juryrank.data.a", "juryrank.data.b"}
    assert cycle_in(module_graph(planted(tmp_path, {"data/a.py": "from juryrank.data import a"}))) == []
