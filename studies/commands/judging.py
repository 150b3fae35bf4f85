"""``python -m studies judging``: how good a ranking is after 10 to 1,000 judgements, by plan."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from juryrank.errors import DataWarning
from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.console import Quiet, progress_bars
from studies.files import write_file
from studies.tables import print_report


def run(
    sets: Annotated[str | None, typer.Option("--sets", metavar="NAME,…", help="Datasets; by default all.")] = None,
    draws: Annotated[int, typer.Option("--draws", min=2, help="Random splits of the queries.")] = 10,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE.svg", help="Draw quality against judgements.")
    ] = None,
    data: Annotated[
        Path, typer.Option("--data", show_default="../shared/data", help="The folder that contains the datasets.")
    ] = SHARED_DATA,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A JSON file for all results.")] = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure quality on held-out queries after 10 to 1,000 judgements, for the judging plan and simple plans."""
    from studies import judging, pictures

    present = present_sets(sets, judging.SETS, data, quiet=quiet)
    with warnings.catch_warnings(), progress_bars(quiet=quiet):
        warnings.simplefilter("ignore", DataWarning)
        report = judging.measure_all(present, data, draws=draws)
    print_report(report, "json" if as_json else form)
    if out is not None:
        write_file(out, report.render("json"))
    if picture is not None:
        write_file(picture, pictures.draw(report.figure(), "svg"))
