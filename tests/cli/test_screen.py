"""Warnings as lines, bars only on terminals."""

import sys
import warnings

import pytest

from juryrank.cli import screen
from juryrank.errors import DataWarning
from juryrank.progress import track


def test_other_warnings_are_shown_as_ever(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    others = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        monkeypatch.setattr(warnings, "showwarning", lambda *args: others.append(str(args[0])))
        screen.show_warnings_as_lines()
        warnings.warn("3 entries dropped", DataWarning, stacklevel=1)
        warnings.warn("something else", RuntimeWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: 3 entries dropped\n"
    assert others == ["something else"]


@pytest.mark.parametrize(
    ("terminal", "quiet", "bar"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_a_bar_moves_only_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], terminal: bool, quiet: bool, bar: bool
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    with screen.bars(quiet=quiet) as show:
        assert list(show(["a", "b"], "comparing")) == ["a", "b"]
        assert list(track([1, 2], "fitting")) == [1, 2]
    shown = capsys.readouterr().err
    assert ("comparing" in shown, "fitting" in shown) == (bar, bar)
