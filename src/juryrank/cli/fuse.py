"""``juryrank fuse``: several runs in, one run out."""

from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import completion, options, rank


def run(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN", callback=options.stdin_once, help="TREC runs or tables, one per expert; or folders."
        ),
    ],
    out: options.Output = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method", help="A name from `juryrank methods`; default: rrf.", autocompletion=completion.methods
        ),
    ] = None,
    model: options.Fitted = None,
    param: options.Params = None,
    weights: options.Weights = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    memory: options.Memory = None,
    top: options.Top = None,
    tag: options.Tag = None,
    quiet: options.Quiet = False,
) -> None:
    """Fuse runs into one; without -o the fused run goes to stdout."""
    rank.run(
        runs,
        "rrf" if method is None and model is None else method,
        model,
        out=out,
        param=param,
        weights=weights,
        source_format=source_format,
        columns=columns,
        values=values,
        memory=memory,
        top=top,
        tag=tag,
        quiet=quiet,
    )
