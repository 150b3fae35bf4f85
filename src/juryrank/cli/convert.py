"""``juryrank convert``: data from one format to another."""

from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import options
from juryrank.cli.terminal import note


def run(
    source: Annotated[
        Path, typer.Argument(metavar="IN", callback=options.stdin_once, help="A file or folder, - for stdin.")
    ],
    target: Annotated[
        Path, typer.Argument(metavar="OUT", callback=options.a_file, help="The ending names the format.")
    ],
    labels: options.Labels = None,
    label_columns: options.LabelColumns = None,
    source_format: options.Format = None,
    target_format: Annotated[
        str | None, typer.Option("--to", help="Format of OUT, when its ending does not say.")
    ] = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Convert a data set from one format to another."""
    from juryrank.io import write

    data = options.read_data(
        [source],
        labels=labels,
        label_columns=label_columns,
        source_format=source_format,
        columns=columns,
        values=values,
        lists=False,
    )
    write(data, target, target_format)
    note(f"{target}: {data!r}", quiet=quiet)
