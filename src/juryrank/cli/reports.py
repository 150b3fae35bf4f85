"""Results of ``evaluate`` and ``compare``: drawn on the screen, or as text in the format that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import completion
from juryrank.cli.terminal import console, note, put

if TYPE_CHECKING:
    from juryrank.report import Report

Form = Annotated[
    str | None,
    typer.Option("--format", help="text, markdown, latex, csv, json or html.", autocompletion=completion.forms),
]
Json = Annotated[bool, typer.Option("--json", help="The same as --format json.")]

ENDINGS = {
    ".csv": "csv", ".htm": "html", ".html": "html", ".json": "json", ".md": "markdown", ".tex": "latex", ".txt": "text",
}  # fmt: skip


def deliver(report: Report, form: str | None, *, as_json: bool, out: Path | None, quiet: bool) -> None:
    """Show a report, or write it to ``out`` in the format of its ending."""
    if as_json:
        form = "json"
    if out is None:
        if form is None or form == "text":
            console().print(report, crop=False)
        else:
            put(report.render(form))
        return
    from juryrank.io.files import save

    save(out, report.render(form or form_of(out)).encode())
    note(f"{out}: {report!r}", quiet=quiet)


def form_of(path: Path) -> str:
    """The format that the ending of a file name means."""
    if path.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(
            f"the ending of {path} is none of {', '.join(ENDINGS)}; say --format", param_hint="--out"
        )
    return ENDINGS[path.suffix.lower()]
