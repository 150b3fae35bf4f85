"""Commands that are imported when they are called, and what they do not load."""

import inspect
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import juryrank
from cli.conftest import Run
from juryrank.cli.commands import SUMMARIES, load_command
from juryrank.cli.quick_values import QuickCommand, quick_value

PACKAGE = Path(juryrank.__file__).parent
FOLDER = PACKAGE / "cli"
COMMAND = """
import sys
from juryrank import cli
sys.argv = ["juryrank", *sys.argv[1:]]
try:
    cli.main()
except SystemExit as end:
    assert not end.code, end.code
print(*sys.modules, file=sys.stderr)
"""


def loaded_by(*args: object) -> set[str]:
    """The modules that a command loads, in a process of its own; its output goes to a pipe."""
    environment = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "TTY_COMPATIBLE")}
    command = [sys.executable, "-c", COMMAND, *map(str, args)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("args", "unneeded"),
    [
        ("--version", {"numpy", "polars", "pydantic", "rich"}),
        ("--help", {"juryrank.cli.fuse", "juryrank.cli.election", "numpy", "polars", "pydantic"}),
        ("fuse --help", {"juryrank.cli.election", "numpy", "polars", "pydantic"}),
        ("methods rrf", {"polars", "pydantic", "scipy.special"}),
        (f"leaderboard {PACKAGE}/demo/battles.csv", {"pydantic", "rich.console", "scipy.special", "scipy.stats"}),
        (f"rank {PACKAGE}/demo/cooking.csv --method borda --top 3", {"pydantic", "rich", "scipy.special"}),
    ],
)
def test_a_command_does_not_load_what_it_does_not_need(args: str, unneeded: set[str]) -> None:
    assert not unneeded & loaded_by(*args.split())


def test_small_trec_runs_are_fused_without_polars(runs: list[Path], tmp_path: Path) -> None:
    assert not {"polars", "pydantic", "rich", "scipy"} & loaded_by("fuse", *runs, "-o", tmp_path / "fused.run")
    assert (tmp_path / "fused.run").read_text().startswith("1 Q0 b 1 ")


def test_an_evaluation_loads_neither_rich_nor_the_statistics_of_scipy(runs: list[Path], qrels: Path) -> None:
    unneeded = {"pydantic", "rich.console", "scipy.special", "scipy.stats"}
    assert not unneeded & loaded_by("evaluate", *runs, "--labels", qrels)


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_list_of_commands_shows_the_first_paragraph_of_the_help_of_each(name: str) -> None:
    module = import_module(f"juryrank.cli.{name}")
    assert SUMMARIES[name] == (inspect.getdoc(module.run) or "").split("\n\n")[0]
    assert load_command(name).name == name


def test_every_module_with_a_command_is_in_the_list(run: Run) -> None:
    modules = {path.stem for path in FOLDER.glob("*.py") if "\ndef run(" in path.read_text()}
    assert modules == set(SUMMARIES)
    shown = run("--help").out
    assert all(f"│ {name} " in shown for name in SUMMARIES)


Words = Annotated[list[str] | None, typer.Option("--word")]
Count = Annotated[int | None, typer.Option("--count", min=1)]
Place = Annotated[Path | None, typer.Option("--place")]
Rate = Annotated[float, typer.Option("--rate")]
Files = Annotated[list[Path], typer.Argument()]


@pytest.mark.parametrize(
    "args",
    [["a"], ["a", "b", "--word", "x", "--word", ""], ["a", "--count", "12"], ["a", "--count", "0"], ["a", "--flag"],
     ["a", "--count", "1.0"], ["a", "--count", "+3"], ["a", "--count", "١"], ["a", "--count", "9" * 30], [], [""],
     ["a", "--place", "."], ["a", "--place", "\u00e9t\u00e9"], ["a", "--rate", "2"], ["a", "--rate", "x"], ["--", "-"]],
)  # fmt: skip
def test_values_are_converted_as_typer_converts_them(args: list[str]) -> None:
    def outcome(cls: Any) -> Any:
        got: list[Any] = []

        def run(
            files: Files, word: Words = None, count: Count = None, place: Place = None, rate: Rate = 0.5,
            flag: bool = False,
        ) -> None:  # fmt: skip
            got.append([files, word, count, place, rate, flag])

        app = typer.Typer()
        app.command(cls=cls)(run)
        result = CliRunner().invoke(app, args)
        return result.exit_code, result.output, got, [[type(value) for value in values] for values in got]

    assert outcome(QuickCommand) == outcome(None)


def test_a_path_that_cannot_be_read_is_left_to_typer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)
    unclear = quick_value(str(tmp_path), Place)
    assert not isinstance(unclear, Path)
    assert quick_value(str(tmp_path / "new"), Place) == tmp_path / "new"
