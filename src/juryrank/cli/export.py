"""``juryrank export``: a saved model for another system."""

from typing import Annotated

import typer

from juryrank.cli import options
from juryrank.cli.terminal import note, put


def run(
    model: options.Model,
    to: Annotated[str, typer.Option("--to", help="json, csv, python, sql, elasticsearch, opensearch or qdrant.")],
    more: options.MoreData = None,
    data: options.Data = None,
    labels: options.Labels = None,
    label_columns: options.LabelColumns = None,
    depth: Annotated[
        int | None, typer.Option("--depth", help="Ranks of the table (1000), or the length of every list.")
    ] = None,
    items: Annotated[
        int | None, typer.Option("--items", help="Items of every query, for methods whose points depend on that.")
    ] = None,
    out: options.Output = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Export a model; search engines get weights that are fitted to DATA. Without -o the text goes to stdout."""
    from juryrank._export import export
    from juryrank.models import load

    sources = [*(data or []), *(more or [])]
    fitted = load(model)
    given = options.optional_data(
        sources, labels=labels, label_columns=label_columns, source_format=source_format, columns=columns, values=values
    )
    text = export(fitted, to, data=given, depth=depth, items=items)
    if out is None:
        put(text)
        return
    from juryrank.io.files import save

    save(out, text.encode())
    note(f"{out}: {fitted.name} for {to}", quiet=quiet)
