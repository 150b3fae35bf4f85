"""``juryrank methods``: the catalogue as text."""

import pytest

from cli.conftest import Run
from juryrank.cli.methods import default_text
from juryrank.methods import METHODS
from juryrank.params import parameters


def test_methods_lists_the_whole_catalogue(run: Run) -> None:
    shown = run("methods")
    assert shown.code == 0
    assert [line.split()[0] for line in shown.out.splitlines()[1:]] == list(METHODS)


@pytest.mark.parametrize("name", METHODS)
def test_methods_explains_every_parameter_of_a_method(run: Run, name: str) -> None:
    shown = run("methods", name)
    assert shown.code == 0
    assert (METHODS[name].__doc__ or "").partition("\n")[0] in shown.out
    for f in parameters(METHODS[name]):
        assert f.name in shown.out
    assert ":math:" not in shown.out


def test_what_an_extra_is_called_is_not_taken_for_markup(run: Run) -> None:
    assert "juryrank[sdp]" in "".join(run("methods", "supervised-mc2").out.split())


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_names_and_defaults_are_not_broken_at_any_width(run: Run, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = run("methods").out.splitlines()
    assert [line.split()[0] for line in lines[1:] if not line.startswith(" ")] == list(METHODS)
    assert max(map(len, lines)) <= width
    shown = run("methods", "theta-mpm").out.splitlines()
    for f in parameters(METHODS["theta-mpm"]):
        assert any(line.startswith(f"  {f.name} = {default_text(f)}") for line in shown)
