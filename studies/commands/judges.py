"""``python -m studies judges``: labels from the grades of several judges, against the truth."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from juryrank.errors import DataWarning
from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.files import write_file
from studies.tables import print_report


def run(
    data: Annotated[
        Path, typer.Option("--data", show_default="../shared/data", help="The folder that contains the datasets.")
    ] = SHARED_DATA,
    draws: Annotated[int, typer.Option("--draws", min=1, help="Repetitions of what is random.")] = 10,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A JSON file for all results.")] = None,
    form: Format = None,
    as_json: Json = False,
) -> None:
    """Compare labels from the grades of several judges with gold labels, and models learned from them."""
    from studies import judges

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        report = judges.measure(data, draws)
    print_report(report, "json" if as_json else form)
    if out is not None:
        write_file(out, report.render("json"))
