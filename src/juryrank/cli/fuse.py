"""``juryrank fuse``: fuse several runs into one."""

from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import completion, options
from juryrank.cli.rank import RankOptions, rank
from juryrank.cli.reading import ReadOptions


def run(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN", callback=options.stdin_once, help="TREC runs or tables, one per expert; or folders."
        ),
    ],
    method: Annotated[
        str | None,
        typer.Option(
            "--method", help="A name from `juryrank methods`; default: rrf.", autocompletion=completion.methods
        ),
    ] = None,
    *,
    ranking: RankOptions,
    parameters: options.ParameterOptions,
    reading: ReadOptions,
) -> None:
    """Fuse runs into one; without -o the fused run goes to stdout."""
    rank(runs, "rrf" if method is None and ranking.model is None else method, ranking, parameters, reading)
