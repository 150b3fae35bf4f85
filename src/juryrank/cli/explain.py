"""``juryrank explain``: what a saved model holds of each expert, and what that does."""

from typing import Annotated

import typer

from juryrank.cli import options, reports
from juryrank.cli.terminal import bars, note

PICTURES = ("png", "svg")


def run(
    model: options.Model,
    more: options.MoreData = None,
    data: options.Data = None,
    labels: options.Labels = None,
    label_columns: options.LabelColumns = None,
    query: Annotated[
        str | None, typer.Option("--query", help="Show what each expert adds to the items of this query of DATA.")
    ] = None,
    top: Annotated[int, typer.Option("--top", min=1, help="Items of the query that are shown.")] = 20,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit anew without each expert and test on other queries, not ask again.")
    ] = False,
    metric: options.Metrics = None,
    form: Annotated[
        str | None, typer.Option("--format", help="text, markdown, latex, csv, json, html, png or svg.")
    ] = None,
    out: options.Output = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Explain a model: weights of experts; with DATA whom it could do without, who agrees with whom, one query."""
    from juryrank._explain import explain
    from juryrank.models import load

    sources = [*(data or []), *(more or [])]
    if query is not None and not sources:
        raise typer.BadParameter("a query needs the data it is in: juryrank explain MODEL DATA…", param_hint="--query")
    fitted = load(model)
    given = options.optional_data(
        sources, labels=labels, label_columns=label_columns, source_format=source_format, columns=columns, values=values
    )
    with bars(quiet=quiet):
        metrics = metric or list(options.DEFAULT_METRICS)
        found = explain(fitted, given, query, metrics=metrics, refit=refit, top=top)
    if form is None and out is not None and out.suffix[1:].lower() in PICTURES:
        form = out.suffix[1:].lower()
    if form in PICTURES:
        if out is None:
            raise typer.BadParameter("a picture goes to a file: give -o", param_hint="--format")
        from juryrank.io.files import save

        save(out, found.picture(form))
        note(f"{out}: {found!r}", quiet=quiet)
        return
    reports.deliver(found, form, as_json=False, out=out, quiet=quiet)
