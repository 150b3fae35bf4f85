"""``juryrank methods``: the catalogue as text."""

import pytest

from cli.conftest import Run
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
