"""``juryrank export``: export a saved model to another system."""

from typing import Annotated

import typer

from juryrank.cli import options
from juryrank.cli.reading import LabelledReadOptions, OptionalData
from juryrank.cli.terminal import note, write_stdout


def run(
    model: options.Model,
    to: Annotated[
        str,
        typer.Option("--to", help="json, csv, python, sql, sqlite, elasticsearch, opensearch, qdrant, qdrant-formula."),
    ],
    depth: Annotated[
        int | None, typer.Option("--depth", help="Number of ranks in the table (1000), or the length of every list.")
    ] = None,
    items: Annotated[
        int | None,
        typer.Option("--items", help="Number of items of every query, for methods whose points depend on it."),
    ] = None,
    experts: Annotated[
        str | None,
        typer.Option("--experts", metavar="NAME,…", help="Experts that may have a weight, for search engines."),
    ] = None,
    out: options.Output = None,
    *,
    data: OptionalData,
    reading: LabelledReadOptions,
    quiet: options.Quiet = False,
) -> None:
    """Export a model; for search engines, weights are fitted to DATA. Without -o the text goes to stdout."""
    from juryrank.models import load
    from juryrank.tasks.export import export

    fitted = load(model)
    given = reading.read_optional(data.sources)
    chosen = None if experts is None else options.names(experts)
    text = export(fitted, to, data=given, depth=depth, items=items, experts=chosen)
    if out is None:
        write_stdout(text)
        return
    from juryrank.io.files import save

    save(out, text.encode())
    note(f"{out}: {fitted.name} for {to}", quiet=quiet)
