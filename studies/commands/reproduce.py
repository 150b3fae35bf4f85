"""``python -m studies reproduce``: the experiments of five papers, published and measured numbers side by side."""

import os
from pathlib import Path
from typing import Annotated

import typer

from studies.console import Quiet, note, progress_bars, show


def run(
    papers: Annotated[
        list[str] | None,
        typer.Argument(metavar="PAPER", help="Papers or experiments, for example cikm2013; by default all."),
    ] = None,
    data: Annotated[Path, typer.Option("--data", help="The folder with MQ2008-agg, OHSUMED and others.")] = Path("."),
    quick: Annotated[bool, typer.Option("--quick", help="One seed, fewer passes and draws; takes minutes.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder for the report and finished results.")] = Path(
        "reproduced"
    ),
    docs: Annotated[
        Path | None,
        typer.Option("--docs", help="Also store the results of all experiments here, and write them into the pages."),
    ] = None,
    names: Annotated[bool, typer.Option("--list", help="Only list the experiments.")] = False,
    quiet: Quiet = False,
) -> None:
    """Reproduce the papers behind the methods; finished experiments are not run again."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads wait for each other on matrices as small as ours
    from studies import papers as reproduction
    from studies.papers.report import write

    if docs is not None and (papers or quick):
        raise typer.BadParameter("--docs stores all results of one run: leave out PAPER and --quick")
    if docs is not None and not (docs / "reproduce.md").is_file():
        raise typer.BadParameter(f"--docs must be the folder of the documentation; {docs} has no reproduce.md")
    wanted = reproduction.select(papers or [], reproduction.EXPERIMENTS)
    if names:
        for experiment in wanted:
            show(f"{experiment.name}\t{experiment.title}\tneeds {', '.join(experiment.needs) or 'nothing'}")
        return
    context = reproduction.Context(data, out, quick=quick)
    with progress_bars(quiet=quiet):
        outcomes = reproduction.run(wanted, context, lambda line: note(line, quiet=quiet))
    written = write(outcomes, context)
    if docs is not None:
        from studies.papers.page import write_docs

        for path in write_docs(outcomes, context, docs):
            note(f"{path}: written", quiet=quiet)
    missed = sum(not claim.holds for o in outcomes if o.findings for claim in o.findings.targets)
    done = sum(o.findings is not None for o in outcomes)
    note(f"{written[-1]}: {done} of {len(outcomes)} experiments, {missed} targets not met", quiet=quiet)
    if any(o.failed for o in outcomes):
        raise typer.Exit(1)
