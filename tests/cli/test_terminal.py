"""Warnings as lines, bars only on terminals."""

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Run
from juryrank import io as readers
from juryrank.cli import terminal
from juryrank.errors import DataWarning
from juryrank.progress import remark, track


def test_other_warnings_are_shown_as_ever(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    others = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lambda *args: others.append(str(args[0])))
        terminal.show_warnings_as_lines()
        warnings.warn("3 entries dropped", DataWarning, stacklevel=1)
        warnings.warn("something else", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: 3 entries dropped\n"
    assert others == ["something else"]


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "bar"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_bar_moves_only_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_terminal: bool, quiet: bool, bar: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    with terminal.bars(quiet=quiet) as show:
        assert list(show(["a", "b"], "comparing")) == ["a", "b"]
        assert list(track([1, 2], "fitting")) == [1, 2]
    shown = capsys.readouterr().err
    assert ("comparing" in shown, "fitting" in shown) == (bar, bar)


@pytest.mark.parametrize(("args", "heard"), [([], True), (["--quiet"], False)])
def test_remarks_of_the_library_are_lines_on_stderr_unless_quiet(
    run: Run, runs: list[Path], monkeypatch: pytest.MonkeyPatch, args: list[str], heard: bool
) -> None:
    def read_with_a_remark(*given: Any, **options: Any) -> Any:
        remark("long work ahead")
        return readers.read_table(*given, **options)

    monkeypatch.setattr(readers, "read_table", readers.read, raising=False)
    monkeypatch.setattr(readers, "read", read_with_a_remark)
    done = run("rank", *runs, "--method", "rrf", *args)
    assert done.code == 0
    assert done.err == ("long work ahead\n" if heard else "")


@pytest.mark.parametrize(("columns", "width"), [("60", 60), ("0", 200), ("wide", 200), ("", 200), (None, 200)])
def test_the_width_is_that_of_columns_where_it_says_one(
    monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int
) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    assert terminal.console().width == width


def test_a_report_in_a_pipe_is_the_text_that_rich_writes_without_colours(
    run: Run, runs: list[Path], qrels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns in ("", "30"):
        monkeypatch.setenv("COLUMNS", columns)
        plain = run("evaluate", *runs, "--labels", qrels)
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", "dumb")  # so rich has no colours
        assert run("evaluate", *runs, "--labels", qrels) == plain
        monkeypatch.delenv("FORCE_COLOR")
        assert "nDCG" in plain.out
