"""``juryrank rank``: the consensus of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import completion, options
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.methods import Aggregator


def run(
    data: options.Sources,
    method: Annotated[
        str | None, typer.Option("--method", help="A name from `juryrank methods`.", autocompletion=completion.methods)
    ] = None,
    model: options.Fitted = None,
    out: options.Output = None,
    param: options.Params = None,
    weights: options.Weights = None,
    labels: options.Labels = None,
    label_columns: options.LabelColumns = None,
    features: options.Features = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    memory: options.Memory = None,
    top: options.Top = None,
    tag: options.Tag = None,
    quiet: options.Quiet = False,
) -> None:
    """Rank the items of a data set by one method or model; without -o a TREC run goes to stdout."""
    if (method is None) == (model is None):
        raise typer.BadParameter("one of the two is needed, --method or --model")
    if model is not None and (param or weights):
        raise typer.BadParameter("a model has its parameters already", param_hint="--param / --weights")
    from juryrank.data.trec_lines import run_lines
    from juryrank.io import write
    from juryrank.io.files import stdout
    from juryrank.io.formats.trec_run import OUR_TAG, rows_of
    from juryrank.models import load

    chosen = options.chosen_method(method, param, weights) if method is not None else load(str(model))
    if memory is not None:
        if options.STDIN in data:
            raise typer.BadParameter("stdin cannot be read query by query; save it to a file", param_hint="--memory")
        if labels is not None or features is not None:
            raise typer.BadParameter("with a limit of memory only lists are read, no labels and no features")
        given_options = options.table_options(columns, values)
        _by_query(data, chosen, out, memory, source_format, given_options, top, tag, quiet)
        return
    given = options.read_data(
        data,
        labels=labels,
        label_columns=label_columns,
        features=features,
        source_format=source_format,
        columns=columns,
        values=values,
    )
    options.use_tags(chosen, given)
    with bars(quiet=quiet):
        consensus = (chosen if model is not None else chosen.fit(given)).predict(given)
    if out is None:
        stdout().write(run_lines(rows_of(consensus, top, tag or OUR_TAG)))
        return
    write(consensus, out, top=top, tag=tag)
    items = sum(min(int(size), top or size) for size in consensus.rankings.query_size)
    note(f"{out}: {len(consensus)} queries, {items} items ranked by {chosen.name}", quiet=quiet)


def _by_query(
    data: list[Path],
    chosen: Aggregator,
    out: Path | None,
    memory: str,
    source_format: str | None,
    given: dict[str, Any],
    top: int | None,
    tag: str | None,
    quiet: bool,
) -> None:
    from juryrank.io.files import stdout
    from juryrank.io.formats.trec_run import OUR_TAG
    from juryrank.streaming import rank_files

    with bars(quiet=quiet):
        queries, items = rank_files(
            data, chosen, stdout() if out is None else out, memory=options.size(memory), format=source_format,
            options=given, top=top, tag=tag or OUR_TAG,
        )  # fmt: skip
    if out is not None:
        note(f"{out}: {queries} queries, {items} items ranked by {chosen.name}", quiet=quiet)
