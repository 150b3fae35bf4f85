"""``python -m studies verdict``: whether the verdict of a learned model is right."""

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
    method: Annotated[str, typer.Option("--method", help="The learned method.")] = "jury",
    sets: Annotated[str | None, typer.Option("--sets", metavar="NAME,…", help="Datasets; by default all.")] = None,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Random subsets of each dataset.")] = 50,
    data: Annotated[
        Path, typer.Option("--data", show_default="../shared/data", help="The folder that contains the datasets.")
    ] = SHARED_DATA,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A JSON file for all results.")] = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Follow the verdict on random subsets of experts and labelled queries, and test its intervals."""
    from studies import verdict

    present = present_sets(sets, verdict.SETS, data, quiet=quiet)
    with warnings.catch_warnings(), progress_bars(quiet=quiet):
        warnings.simplefilter("ignore", DataWarning)
        report = verdict.measure_all(present, data, draws, method)
    print_report(report, "json" if as_json else form)
    if out is not None:
        write_file(out, report.render("json"))
