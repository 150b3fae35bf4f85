"""``python -m studies bench``: running times of juryrank and of other libraries."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from studies.console import Quiet, note, split_names, temporary_folder
from studies.files import make_folder
from studies.tables import FORMATS, Report, print_report


def _known_format(form: str | None) -> str | None:
    if form is not None and form not in FORMATS:
        raise typer.BadParameter(f"{form!r} is not one of {', '.join(FORMATS)}")
    return form


Format = Annotated[
    str | None, typer.Option("--format", callback=_known_format, help="text, markdown, latex, csv, json or html.")
]
Json = Annotated[bool, typer.Option("--json", help="The same as --format json.")]


def run(
    only: Annotated[str | None, typer.Option("--only", metavar="TASK,…", help="Only these tasks.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A folder for speed.md, speed.json and pictures.")
    ] = None,
    docs: Annotated[
        Path | None, typer.Option(help="A folder of documentation whose benchmark pages get the results.")
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(help="Compare with the version of juryrank in this source tree: single-query, files, fusion."),
    ] = None,
    slow: Annotated[bool, typer.Option("--slow", help="Give slow libraries more time; takes minutes longer.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer repetitions and small sizes, to see that the tasks work.")
    ] = False,
    form: Format = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare the speed of juryrank and other libraries; libraries that are not installed are skipped."""
    if docs is not None and against is not None:
        raise typer.BadParameter("--docs takes the results of a benchmark, not of --against")
    if out is not None:
        make_folder(out)
    names = None if only is None else split_names(only)
    with temporary_folder() as folder:
        # First calls compile, as for a new user: neither juryrank nor ranx may find an earlier run's cache.
        os.environ["XDG_CACHE_HOME"] = os.environ["NUMBA_CACHE_DIR"] = f"{folder}/cache"
        from studies import speed
        from studies.speed import pages, versions
        from studies.speed.clock import Effort

        report: Report
        saved: list[Path] = []
        if against is not None:
            report = compared = versions.compare_versions(names or versions.TASKS, against, folder, quiet=quiet)
            saved += [] if out is None else versions.write(compared, out)
        else:
            effort = Effort.SLOW if slow else Effort.QUICK if quick else Effort.USUAL
            report = measured = speed.run(names or speed.TASKS, folder, effort=effort, quiet=quiet)
            saved += [] if out is None else speed.write(measured, out)
            saved += [] if docs is None else pages.write_docs(measured, docs, complete=only is None)
    print_report(report, "json" if as_json else form)
    if saved:
        note(f"{', '.join(map(str, saved))}: written", quiet=quiet)
