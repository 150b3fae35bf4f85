"""``juryrank reproduce``: the experiments of five papers, published and measured numbers side by side."""

import os
from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import options
from juryrank.cli.terminal import bars, note


def run(
    papers: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAPER", help="Papers or experiments, cikm2013 say; by default all."),
    ] = None,
    data: Annotated[Path, typer.Option("--data", help="The folder with MQ2008-agg, OHSUMED and others.")] = Path("."),
    quick: Annotated[bool, typer.Option("--quick", help="One seed, fewer passes and draws: minutes.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder of the report, and of what is finished.")] = Path(
        "reproduced"
    ),
    names: Annotated[bool, typer.Option("--list", help="Only name the experiments.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Reproduce the papers behind the methods; what is finished is not run again."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads wait for each other on matrices as small as ours
    import studies.papers as reproduce
    from studies.papers.report import write

    wanted = reproduce.chosen(papers or [], reproduce.EXPERIMENTS)
    if names:
        for experiment in wanted:
            print(f"{experiment.name}\t{experiment.title}\tneeds {', '.join(experiment.needs) or 'nothing'}")
        return
    context = reproduce.Context(data, out, quick=quick)
    with bars(quiet=quiet):
        outcomes = reproduce.run(wanted, context, lambda line: note(line, quiet=quiet))
    written = write(outcomes, context)
    missed = sum(not claim.holds for o in outcomes if o.findings for claim in o.findings.targets)
    done = sum(o.findings is not None for o in outcomes)
    note(f"{written[-1]}: {done} of {len(outcomes)} experiments, {missed} targets not met", quiet=quiet)
    if any(o.failed for o in outcomes):
        raise typer.Exit(1)
