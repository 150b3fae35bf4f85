"""``juryrank explain``: explain a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options, reports
from juryrank.cli.reading import LabelledReadOptions, OptionalData
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.tasks.explain import Explanation

PICTURES = ("png", "svg")


def run(
    model: options.Model,
    query: Annotated[
        str | None, typer.Option("--query", help="Show the contribution of each expert to the items of this query.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of items shown for --query.")] = 20,
    refit: Annotated[
        bool,
        typer.Option("--refit", help="For leave-one-out, refit without each expert and evaluate on held-out queries."),
    ] = False,
    metric: options.Metrics = None,
    form: Annotated[
        str | None, typer.Option("--format", help="text, markdown, latex, csv, json, html, png or svg.")
    ] = None,
    out: options.Output = None,
    *,
    data: OptionalData,
    reading: LabelledReadOptions,
    quiet: options.Quiet = False,
) -> None:
    """Explain a model: expert weights; with DATA also leave-one-out, agreement of experts, and one query."""
    from juryrank.models import load
    from juryrank.tasks.explain import explain

    if query is not None and not data.sources:
        raise typer.BadParameter("--query requires DATA: juryrank explain MODEL DATA…")
    fitted = load(model)
    given = reading.read_optional(data.sources)
    with bars(quiet=quiet):
        metrics = metric or list(options.DEFAULT_METRICS)
        found = explain(fitted, given, query, metrics=metrics, refit=refit, top=top)
    if form is None and out is not None and out.suffix[1:].lower() in PICTURES:
        form = out.suffix[1:].lower()
    if form in PICTURES:
        write_picture(found, form, out, quiet=quiet)
    else:
        reports.deliver(found, form, as_json=False, out=out, quiet=quiet)


def write_picture(found: Explanation, form: str, out: Path | None, *, quiet: bool) -> None:
    """Write the explanation as a picture."""
    from juryrank.io.files import save

    if out is None:
        raise typer.BadParameter(f"--format {form} requires -o FILE")
    save(out, found.picture(form))
    note(f"{out}: {found!r}", quiet=quiet)
