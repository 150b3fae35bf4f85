"""The options that all studies have, and what they do with their report."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from juryrank.errors import DataWarning
from studies.console import progress_bars
from studies.files import write_file
from studies.tables import Report, print_report

Sets = Annotated[str | None, typer.Option("--sets", metavar="NAME,…", help="Datasets; by default all.")]
Data = Annotated[
    Path, typer.Option("--data", show_default="../shared/data", help="The folder that contains the datasets.")
]
AnyReport = TypeVar("AnyReport", bound=Report)
Out = Annotated[Path | None, typer.Option("--out", "-o", help="A JSON file for all results.")]


def deliver(measure: Callable[[], AnyReport], out: Path | None, form: str | None, *, quiet: bool) -> AnyReport:
    """Run a study with progress bars and without warnings about its data; print its report and write it to ``out``."""
    with warnings.catch_warnings(), progress_bars(quiet=quiet):
        warnings.simplefilter("ignore", DataWarning)
        report = measure()
    print_report(report, form)
    if out is not None:
        write_file(out, report.render("json"))
    return report
