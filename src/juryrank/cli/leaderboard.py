"""``juryrank leaderboard``: who is best, how sure that is, and how reliable the judges are."""

from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli import options, reports
from juryrank.cli.terminal import note


def run(
    battles: Annotated[
        list[Path],
        typer.Argument(
            metavar="BATTLES…",
            callback=options.stdin_once,
            help="Comparisons (left, right and winner; or winner and loser), rankings or ratings.",
        ),
    ],
    method: options.Method = "bradley-terry",
    bootstrap: Annotated[int, typer.Option("--bootstrap", help="Resamples behind the intervals.")] = 1000,
    interval: Annotated[
        str, typer.Option("--interval", help="bootstrap, sandwich, fisher (single comparisons only) or none.")
    ] = "bootstrap",
    by: Annotated[str, typer.Option("--by", help="Resampling unit: list, expert or query.")] = "list",
    level: Annotated[float, typer.Option("--level", help="Confidence level of the intervals.")] = 0.95,
    elo: Annotated[bool, typer.Option("--elo", help="Points, 400 for odds of 10, instead of log odds.")] = False,
    no_judges: Annotated[bool, typer.Option("--no-judges", help="Without the reliability of experts.")] = False,
    seed: Annotated[int, typer.Option("--seed", help="Random seed of the resamples.")] = 0,
    plot: Annotated[
        Path | None, typer.Option("--plot", callback=options.a_file, help="Draw the intervals here (png, svg, pdf).")
    ] = None,
    heatmap: Annotated[
        Path | None, typer.Option("--heatmap", callback=options.a_file, help="Draw the chances to win here.")
    ] = None,
    form: reports.Form = None,
    as_json: reports.Json = False,
    out: options.Output = None,
    param: options.Params = None,
    weights: options.Weights = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    strict: options.Strict = False,
    quiet: options.Quiet = False,
) -> None:
    """Rank items by all comparisons of a data set, over all its queries, with intervals."""
    from juryrank._leaderboard import leaderboard
    from juryrank.figures import check_picture

    for picture in (plot, heatmap):
        if picture is not None:
            check_picture(picture)
    chosen = options.chosen_method(method, param, weights)
    given = options.read_data(battles, source_format=source_format, columns=columns, values=values, strict=strict)
    options.use_tags(chosen, given)
    board = leaderboard(
        given, chosen, bootstrap=bootstrap, interval=interval, by=by, level=level, seed=seed, elo=elo,
        judges=not no_judges,
    )  # fmt: skip
    reports.deliver(board, form, as_json=as_json, out=out, quiet=quiet)
    for path, draw in ((plot, board.plot), (heatmap, board.plot_wins)):
        if path is not None:
            draw(path)
            note(f"{path}: drawn", quiet=quiet)
