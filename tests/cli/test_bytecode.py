"""``juryrank warm`` stores the bytecode of all that commands load, also where Python is set to store none."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import juryrank
from juryrank.cli.bytecode import Bytecode, bytecode_is_written, load
from juryrank.cli.warm import not_writable

PACKAGE = Path(juryrank.__file__).parent
WITHOUT_BYTECODE = """
import os, sys
from importlib.machinery import SourceFileLoader
from juryrank.cli import main
sys.argv = ["juryrank", *{args!r}]
try:
    main()
finally:
    specs = [getattr(module, "__spec__", None) for module in sys.modules.values()]
    specs = [spec for spec in specs if spec is not None and type(spec.loader) is SourceFileLoader]
    print("MODULES", len(specs), "WITHOUT", *[spec.name for spec in specs if not os.path.exists(spec.cached)])
"""


def python(folder: Path, *args: str) -> str:
    """What Python prints, with an empty folder for all bytecode, which it does not write itself."""
    paths = {"PYTHONPATH": str(PACKAGE.parent), "XDG_CACHE_HOME": str(folder / "cache")}
    unwritten = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    done = subprocess.run(
        [sys.executable, *args], env=os.environ | paths | unwritten, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def modules(folder: Path, *args: object) -> tuple[int, list[str]]:
    """How many modules a command loads, and which of them have no bytecode."""
    printed = python(folder, "-c", WITHOUT_BYTECODE.format(args=[str(arg) for arg in args]))
    count, names = printed.rpartition("MODULES")[2].split("WITHOUT")
    return int(count), names.split()


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A folder with the bytecode that ``warm`` has stored, and what it printed."""
    folder = tmp_path_factory.mktemp("warm")
    count, missing = modules(folder, "--help")
    assert len(missing) == count > 100
    return folder, python(folder, "-m", "juryrank", "warm", "--methods", "rrf")


@pytest.mark.slow
def test_after_warm_no_command_compiles_a_module_again(warm: tuple[Path, str], runs: list[Path]) -> None:
    folder, _ = warm
    for args in (
        ["--help"],
        ["fuse", "--help"],
        ["fuse", *runs],
        ["leaderboard", PACKAGE / "demo/battles.csv"],
        ["demo"],
    ):
        assert modules(folder, *args)[1] == [], args


@pytest.mark.slow
def test_the_modules_are_counted(warm: tuple[Path, str]) -> None:
    folder, printed = warm
    stored = len(list((folder / "bytecode").rglob("*.pyc")))
    assert f"; bytecode of {stored} modules, {stored} compiled now, in " in printed
    again = python(folder, "-m", "juryrank", "warm", "--methods", "rrf")
    assert re.search(rf"; bytecode of {stored} modules, 0 compiled now, in ", again)


def test_bytecode_is_stored_where_it_is_missing_or_stale(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    found = []
    with bytecode_is_written():
        for text in ("a = 1", "a = 1", "a = 12"):
            path.write_text(text)
            os.utime(path, ns=(0, 0))  # the length alone tells the last from the one before
            found.append(load(str(path)).stored)
    assert found == [True, False, True]


def test_a_folder_that_cannot_be_written_is_named_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("a = 1")
    (tmp_path / "__pycache__").write_text("a file, so no folder of this name can be made")
    with bytecode_is_written():
        loader = load(str(path))
    assert (loader.stored, loader.not_writable) == (False, str(tmp_path / "__pycache__"))
    text = not_writable(Bytecode(7, 0, ["/a", "/b", "/c"]))
    assert text.startswith("bytecode could not be stored in /a and 2 other folders: not writable; ")
