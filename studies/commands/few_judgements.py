"""``python -m studies few-judgements``: which metric orders systems best when few items are judged."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from juryrank.errors import DataWarning
from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.commands.present import present_sets
from studies.console import Quiet
from studies.files import write_file
from studies.tables import print_report


def run(
    sets: Annotated[str | None, typer.Option("--sets", metavar="NAME,…", help="Datasets; by default all.")] = None,
    data: Annotated[
        Path, typer.Option("--data", show_default="../shared/data", help="The folder that contains the datasets.")
    ] = SHARED_DATA,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A JSON file for all results.")] = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare orders of systems by few judgements with their order by all, for several metrics."""
    from studies import few_judgements

    present = present_sets(sets, few_judgements.SETS, data, quiet=quiet)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        report = few_judgements.measure_all(present, data)
    print_report(report, "json" if as_json else form)
    if out is not None:
        write_file(out, report.render("json"))
