"""``python -m studies curves``: how many labelled queries a learned method needs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from juryrank.errors import DataError, DataWarning, UnknownNameError
from studies import SHARED_DATA
from studies.commands.bench import Format, Json
from studies.console import Quiet, note, progress_bars, split_names
from studies.files import write_file
from studies.tables import print_report


def run(
    methods: Annotated[str, typer.Option("--methods", metavar="METHOD,…", help="Learned methods.")] = "jury",
    sets: Annotated[str | None, typer.Option("--sets", metavar="NAME,…", help="Datasets; by default all.")] = None,
    data: Annotated[
        Path, typer.Option("--data", show_default="../shared/data", help="The folder that contains the datasets.")
    ] = SHARED_DATA,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A JSON file for all results.")] = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure the gain over RRF after learning from 1, 2, 5, 10 and 20 labelled queries."""
    from studies import learning_curves

    wanted = list(learning_curves.SETS) if sets is None else split_names(sets)
    for name in wanted:
        if name not in learning_curves.SETS:
            raise UnknownNameError.of("dataset", name, learning_curves.SETS)
    present = [name for name in wanted if (data / name).is_dir()]
    if not present:
        raise DataError(f"{data}: contains none of {', '.join(wanted)}; --data names the folder of the datasets")
    for name in sorted(set(wanted) - set(present)):
        note(f"{name}: skipped, not in {data}", quiet=quiet)
    with warnings.catch_warnings(), progress_bars(quiet=quiet):
        warnings.simplefilter("ignore", DataWarning)
        report = learning_curves.measure_all(split_names(methods), present, data)
    print_report(report, "json" if as_json else form)
    if out is not None:
        write_file(out, report.render("json"))
