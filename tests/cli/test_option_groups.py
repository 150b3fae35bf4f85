"""Options that are declared once and used by several commands."""

from dataclasses import dataclass
from typing import Annotated

import typer
from typer.testing import CliRunner

from juryrank.cli.option_groups import expand_groups


@dataclass(frozen=True)
class Colours:
    ink: Annotated[str, typer.Option("--ink", help="Colour of the text.")] = "black"
    paper: Annotated[str, typer.Option("--paper")] = "white"


def test_the_fields_of_a_group_are_options_and_arrive_as_one_value() -> None:
    calls: list[tuple[str, Colours, int]] = []

    def run(name: Annotated[str, typer.Argument()], *, colours: Colours, size: int = 3) -> None:
        """Draw."""
        calls.append((name, colours, size))

    app = typer.Typer()
    app.command()(expand_groups(run))
    assert CliRunner().invoke(app, ["a", "--ink", "blue"]).exit_code == 0
    assert calls == [("a", Colours("blue", "white"), 3)]
    shown = CliRunner().invoke(app, ["--help"]).output
    assert "Draw." in shown
    assert "Colour of the text." in shown
    assert "colours" not in shown
