"""``python -m studies load``: latencies and memory of the service under load."""

from __future__ import annotations

from typing import Annotated

import typer

from juryrank.errors import DataError
from studies.commands.bench import Format, Json
from studies.commands.study import Out, deliver
from studies.console import Quiet, temporary_folder


def run(
    seconds: Annotated[float, typer.Option(min=3.0, max=7200.0, help="How long all phases take together.")] = 600.0,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer requests.")] = 1,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of the service; 0 is any free port.")] = 0,
    out: Out = None,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Put the service under 20, 50 and 80 % of its capacity; exit code 1 if there are errors, or memory grows."""
    from studies import load

    with temporary_folder() as folder:
        report = deliver(
            lambda: load.measure(folder, seconds=seconds, workers=workers, port=port, quiet=quiet),
            out, "json" if as_json else form, quiet=quiet,
        )  # fmt: skip
    if report.faults:
        raise DataError("; ".join(report.faults))
