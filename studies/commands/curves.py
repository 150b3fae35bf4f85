"""``python -m studies curves``: how many labelled queries a learned method needs."""

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
    methods: Annotated[
        str, typer.Option("--methods", metavar="METHOD,…", help="Learned methods, also as jury:prior=equal.")
    ] = "jury",
    sets: Annotated[str | None, typer.Option("--sets", metavar="NAME,…", help="Datasets; by default all.")] = None,
    data: Annotated[
        Path, typer.Option("--data", show_default="../shared/data", help="The folder that contains the datasets.")
    ] = SHARED_DATA,
    draws: Annotated[int, typer.Option("--draws", min=2, help="Draws of training queries.")] = 10,
    judged: Annotated[
        int | None, typer.Option("--judged", min=1, help="Use the labels of the first items of RRF only.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A JSON file for all results.")] = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the gain over RRF after learning from 1, 2, 5, 10 and 20 labelled queries."""
    from studies import learning_curves

    present = present_sets(sets, learning_curves.SETS, data, quiet=quiet)
    with warnings.catch_warnings(), progress_bars(quiet=quiet):
        warnings.simplefilter("ignore", DataWarning)
        report = learning_curves.measure_all(methods, present, data, draws=draws, judged=judged)
    print_report(report, "json" if as_json else form)
    if out is not None:
        write_file(out, report.render("json"))
