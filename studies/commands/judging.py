"""``python -m studies judging``: how good a ranking is after 10 to 1,000 judgements, by plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.commands.study import Data, Out, Sets, deliver
from studies.console import Quiet
from studies.files import write_file


def run(
    sets: Sets = None,
    draws: Annotated[int, typer.Option("--draws", min=2, help="Random splits of the queries.")] = 10,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE.svg", help="Draw quality against judgements.")
    ] = None,
    data: Data = SHARED_DATA,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure quality on held-out queries after 10 to 1,000 judgements, for the judging plan and simple plans."""
    from studies import judging, pictures

    present = present_sets(sets, judging.SETS, data, quiet=quiet)
    report = deliver(
        lambda: judging.measure_all(present, data, draws=draws), out, "json" if as_json else form, quiet=quiet
    )
    if picture is not None:
        write_file(picture, pictures.draw(report.figure(), "svg"))
