"""``juryrank convert``: convert data from one format to another."""

from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import options
from juryrank.cli.reading import LabelledReadOptions
from juryrank.cli.terminal import bars, note


def run(
    source: Annotated[
        Path, typer.Argument(metavar="IN", callback=options.stdin_once, help="A file or folder, - for stdin.")
    ],
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="OUT", callback=options.a_file_or_stdout, help="Output; its extension sets the format; - is stdout."
        ),
    ],
    target_format: Annotated[
        str | None, typer.Option("--to", help="Format of OUT, if its extension does not name one.")
    ] = None,
    *,
    reading: LabelledReadOptions,
    memory: options.Memory = None,
    quiet: options.Quiet = False,
) -> None:
    """Convert a dataset from one format to another."""
    from juryrank.io import write
    from juryrank.io.files import stdout

    if memory is not None:
        from juryrank.tasks.files.convert_files import convert_files

        out = stdout() if target is None else target
        with bars(quiet=quiet):
            queries, entries = convert_files([source], out, to=target_format, **reading.by_query([source], memory))
        if target is not None:
            note(f"{target}: {queries} queries, {entries} entries", quiet=quiet)
        return
    data = reading.read([source], lists=False)
    write(data, stdout() if target is None else target, target_format)
    if target is not None:
        note(f"{target}: {data!r}", quiet=quiet)
