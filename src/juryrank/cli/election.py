"""``juryrank election``: the winners of an election by several rules."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import completion, options
from juryrank.cli.reading import ReadOptions
from juryrank.cli.reports import ReportOptions, check_pictures
from juryrank.cli.terminal import note

if TYPE_CHECKING:
    from juryrank.data import Dataset

SHOWN = 5  # names of elections in a message


@dataclass(frozen=True)
class CountOptions:
    """How the ballots are counted."""

    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rules",
            metavar="NAME,…",
            help="Rules, with parameters after a colon (irv,stv:decimals=5); repeatable. Default: the usual ones.",
            autocompletion=completion.several_methods,
        ),
    ] = None
    seats: Annotated[
        int | None,
        typer.Option(
            "--seats", min=1, help="How many candidates are elected, by stv. Default: as a BLT file says, or 1."
        ),
    ] = None
    tie_break: options.TieBreakRule = "none"
    seed: Annotated[int, typer.Option("--seed", help="Random seed of --tie-break random.")] = 0
    query: Annotated[
        str | None,
        typer.Option("--query", help="Which election to count, if the ballots are of several. Default: all."),
    ] = None


def run(
    ballots: Annotated[
        list[Path],
        typer.Argument(
            metavar="BALLOTS",
            callback=options.stdin_once,
            help="PrefLib; BLT; columns first, second, …; strings A>B=C; a column per candidate; or any other lists.",
        ),
    ],
    *,
    count: CountOptions,
    matrix: Annotated[
        Path | None,
        typer.Option("--matrix", callback=options.a_file, help="Write pairwise counts and margins to this CSV file."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", callback=options.a_file, help="Draw pairwise counts to this file (png, svg, pdf)."),
    ] = None,
    report: ReportOptions,
    reading: ReadOptions,
    strict: options.Strict = False,
) -> None:
    """Count ballots by several rules: winners and ties, rounds, pairwise majorities, where rules disagree."""
    from juryrank.evaluation.method_specs import methods_by_label, split_methods
    from juryrank.io.files import save
    from juryrank.tasks.election import election, elections

    report.check()
    check_pictures([picture])
    rules = [rule for text in count.rules or () for rule in split_methods(text)] or None
    if rules:
        methods_by_label(rules)  # before any data is read
    data = _chosen(reading.read(ballots, strict=strict), count.query)
    how = options.tie_break(count.tie_break)
    if len(data.queries) > 1:
        _demand_no_pairs(data, matrix, picture)
        report.deliver(elections(data, rules, seats=count.seats, tie_break=how, seed=count.seed))
        return
    found = election(data, rules, seats=count.seats, tie_break=how, seed=count.seed)
    report.deliver(found)
    if matrix is not None:
        save(matrix, found.matrix_csv().encode())
        note(f"{matrix}: {len(found.candidates)} candidates in pairs", quiet=report.quiet)
    if picture is not None:
        found.plot(picture)
        note(f"{picture}: drawn", quiet=report.quiet)


def _chosen(data: Dataset, query: str | None) -> Dataset:
    """The election of this name, or all."""
    from juryrank.errors import UnknownNameError

    if query is None:
        return data
    if query not in data.queries:
        raise UnknownNameError.of("election", query, data.queries)
    chosen: Dataset = data[query]
    return chosen


def _demand_no_pairs(data: Dataset, matrix: Path | None, picture: Path | None) -> None:
    """Pairs are those of one election."""
    from juryrank.errors import DataError

    if name := "--matrix" if matrix else "--picture" if picture else "":
        known = f"{', '.join(data.queries[:SHOWN])}{' …' if len(data.queries) > SHOWN else ''}"
        raise DataError(f"{name}: the ballots are of {len(data.queries)} elections; choose one with --query: {known}")
