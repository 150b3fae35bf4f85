"""``juryrank bench``: our times beside those of other libraries."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import options, reports
from juryrank.cli.terminal import note


def run(
    only: Annotated[str | None, typer.Option("--only", metavar="TASK,…", help="These tasks only.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A folder for speed.md, speed.json and pictures.")
    ] = None,
    slow: Annotated[bool, typer.Option("--slow", help="Let slow peers finish, too: minutes more.")] = False,
    form: reports.Form = None,
    as_json: reports.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Time juryrank beside other libraries, in one run and one table; a library that is not installed is skipped."""
    with tempfile.TemporaryDirectory() as folder:
        # First calls compile, as they do for a new user: neither we nor ranx find what an earlier run left.
        os.environ["XDG_CACHE_HOME"] = os.environ["NUMBA_CACHE_DIR"] = f"{folder}/cache"
        import studies.speed as bench

        report = bench.run(bench.TASKS if only is None else options.names(only), Path(folder), slow=slow)
    reports.deliver(report, form, as_json=as_json, out=None, quiet=quiet)
    if out is not None:
        note(f"{', '.join(map(str, bench.write(report, out)))}: written", quiet=quiet)
