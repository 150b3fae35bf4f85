"""Results of ``evaluate``, ``compare`` and ``leaderboard``: shown in the terminal, or written in a chosen format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import completion, options
from juryrank.cli.terminal import note, print_report, write_stdout

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


@dataclass(frozen=True)
class ReportOptions:
    """Where a report goes, and in which format."""

    form: Form = None
    as_json: Json = False
    out: options.Output = None
    quiet: options.Quiet = False

    def check(self) -> None:
        """Fail before the work, not after it, if the report could not be written."""
        from juryrank.errors import UnknownNameError
        from juryrank.report import FORMATS

        if not self.as_json and self.form is not None and self.form not in FORMATS:
            raise UnknownNameError.of("format", self.form, FORMATS)
        if self.out is not None and self.form is None and not self.as_json:
            form_of(self.out)

    def deliver(self, report: Report) -> None:
        """Show the report, or write it to the output file."""
        deliver(report, self.form, as_json=self.as_json, out=self.out, quiet=self.quiet)


def deliver(report: Report, form: str | None, *, as_json: bool, out: Path | None, quiet: bool) -> None:
    """Show a report, or write it to ``out`` in the format of its extension."""
    if as_json:
        form = "json"
    if out is None:
        if form is None or form == "text":
            print_report(report)
        else:
            write_stdout(report.render(form))
        return
    from juryrank.io.files import save

    save(out, report.render(form or form_of(out)).encode())
    note(f"{out}: {report!r}", quiet=quiet)


def form_of(path: Path) -> str:
    """The format that the extension of a file name stands for."""
    if path.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(
            f"the extension of {path} is none of {', '.join(ENDINGS)}; use --format", param_hint="--out"
        )
    return ENDINGS[path.suffix.lower()]


def check_pictures(paths: Iterable[Path | None]) -> None:
    """Fail before the work if a picture could not be drawn to one of the paths."""
    from juryrank.report.figure import check_picture

    for path in paths:
        if path is not None:
            check_picture(path)
