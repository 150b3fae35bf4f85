"""``juryrank leaderboard``: rank items by comparisons, with confidence intervals and judge reliability."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options
from juryrank.cli.reading import ReadOptions, use_tags
from juryrank.cli.reports import ReportOptions, check_pictures
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.data import Dataset


@dataclass(frozen=True)
class BoardOptions:
    """How scores and intervals are computed."""

    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Number of bootstrap resamples.")] = 1000
    interval: Annotated[
        str, typer.Option("--interval", help="bootstrap, sandwich, fisher (single comparisons only) or none.")
    ] = "bootstrap"
    by: Annotated[str, typer.Option("--by", help="Resampling unit: list, expert or query.")] = "list"
    level: Annotated[float, typer.Option("--level", help="Confidence level of the intervals.")] = 0.95
    elo: Annotated[bool, typer.Option("--elo", help="Elo points (400 for odds of 10 to 1), not log odds.")] = False
    seed: Annotated[int, typer.Option("--seed", help="Random seed of the resampling.")] = 0


def run(
    battles: Annotated[
        list[Path],
        typer.Argument(
            metavar="BATTLES",
            callback=options.stdin_once,
            help="Comparisons (left, right and winner; or winner and loser), rankings or ratings.",
        ),
    ],
    method: options.Method = "bradley-terry",
    *,
    board: BoardOptions,
    no_judges: Annotated[bool, typer.Option("--no-judges", help="Do not estimate the reliability of experts.")] = False,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", callback=options.a_file, help="Draw the intervals to this file (png, svg, pdf)."),
    ] = None,
    heatmap: Annotated[
        Path | None, typer.Option("--heatmap", callback=options.a_file, help="Draw the win probabilities to this file.")
    ] = None,
    report: ReportOptions,
    parameters: options.ParameterOptions,
    reading: ReadOptions,
    strict: options.Strict = False,
) -> None:
    """Rank items by all comparisons of a dataset, over all its queries, with confidence intervals."""
    from juryrank.tasks.leaderboard import leaderboard

    pictures = {"plot": plot, "plot_wins": heatmap}
    check_pictures(pictures.values())
    chosen = parameters.method(method)
    data = reading.read(battles, strict=strict)
    use_tags(chosen, data)
    with bars(quiet=report.quiet):
        found = leaderboard(data, chosen, judges=not no_judges, **vars(board))
    _tell_files_as_experts(battles, data, quiet=report.quiet)
    report.deliver(found)
    for draw, path in pictures.items():
        if path is not None:
            getattr(found, draw)(path)
            note(f"{path}: drawn", quiet=report.quiet)


def _tell_files_as_experts(sources: list[Path], data: Dataset, *, quiet: bool) -> None:
    """Say that each of several files with scores is an expert, where it may be meant to be an item."""
    from juryrank.io.folders import files_in

    r = data.rankings
    n_files = sum(len(files_in(path)) if path.is_dir() else 1 for path in sources)
    if n_files > 1 and len(r.experts) == n_files and r.entry_score is not None:
        note(
            f"{n_files} files are {n_files} experts, who rank {len(r.items)} items; if each file is an item instead, "
            "such as a model with its scores, join them to one table with the columns item (the model), expert (the "
            "task) and score",
            quiet=quiet,
        )
