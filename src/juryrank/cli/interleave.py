"""``juryrank interleave``: interleave runs, or analyse the clicks on interleaved pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import options
from juryrank.cli.own_tables import demand_own_table
from juryrank.cli.reading import ReadOptions, column_names, or_stdin
from juryrank.cli.reports import ReportOptions, check_pictures
from juryrank.cli.terminal import note

if TYPE_CHECKING:
    from juryrank.data import Dataset

TABLES = (".csv", ".tsv", ".ndjson", ".jsonl", ".parquet")
PAGE_COLUMNS = ("query", "session", "item", "position", "team")


@dataclass(frozen=True)
class LogOptions:
    """A log of clicks, and when it leads to a decision."""

    log: Annotated[
        list[Path] | None,
        typer.Option(
            "--log",
            callback=options.stdin_once,
            help="Analyse this table: session, item, team, clicked, user; repeatable, instead of RUN.",
        ),
    ] = None
    control: Annotated[
        str | None, typer.Option("--control", help="The team of the ranking in use, with which others are compared.")
    ] = None
    level: Annotated[float, typer.Option("--level", help="Probability of a wrong decision, at most.")] = 0.05
    minimum: Annotated[
        float, typer.Option("--minimum", help="Smallest preference that is worth a change, from 0 to 1.")
    ] = 0.05
    plot: Annotated[
        Path | None,
        typer.Option("--plot", callback=options.a_file, help="Draw the confidence sequence (png, svg, pdf)."),
    ] = None


def run(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN", callback=options.stdin_once, help="TREC runs or tables, one for each ranking; or folders."
        ),
    ] = None,
    *,
    top: Annotated[int, typer.Option("--top", min=1, help="Number of items of each page.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Random seed of the pages.")] = 0,
    clicks: LogOptions,
    report: ReportOptions,
    reading: ReadOptions,
) -> None:
    """Interleave runs, one page per query; with --log, find out from clicks which ranking people prefer.

    Pages are a table of query, item, position, session (here the query) and team. A page for each request is made in
    Python, by juryrank.interleave.
    """
    if bool(runs) == bool(clicks.log):
        raise typer.BadParameter("give either RUN …, to be interleaved, or --log, to be analysed")
    if clicks.log:
        _analyse(clicks.log, clicks, report, reading)
        return
    if clicks.plot or clicks.control or report.form or report.as_json:
        raise typer.BadParameter("--plot, --control, --format and --json are for the result of --log")
    if report.out is not None and report.out.suffix.lower() not in TABLES:
        raise typer.BadParameter(f"the extension of {report.out} is none of {', '.join(TABLES)}", param_hint="--out")
    if report.out is not None:
        demand_own_table(report.out, PAGE_COLUMNS)
    _write_pages(reading.read(runs or []), top, seed, report)


def _analyse(logs: list[Path], clicks: LogOptions, report: ReportOptions, reading: ReadOptions) -> None:
    from juryrank.tasks.clicks.interleaving_experiment import InterleavingTest

    report.check()
    check_pictures([clicks.plot])
    columns: Any = column_names(reading.columns)
    found = InterleavingTest.from_log(
        list(map(or_stdin, logs)), control=clicks.control, level=clicks.level, minimum=clicks.minimum, columns=columns
    ).result()
    report.deliver(found)
    if clicks.plot is not None:
        found.plot(clicks.plot)
        note(f"{clicks.plot}: drawn", quiet=report.quiet)


def _write_pages(data: Dataset, top: int, seed: int, report: ReportOptions) -> None:
    from juryrank.io.dataset_frames import entries_of
    from juryrank.io.files import deliver, stdout
    from juryrank.io.tables.frames import frame_lines
    from juryrank.polars import pl
    from juryrank.tasks.clicks.interleaving import interleave

    entries = entries_of(data.rankings).sort("list", "rank", maintain_order=True)
    rankings: dict[str, dict[str, list[str]]] = {q: {e: [] for e in data.experts} for q in data.queries}
    for query, expert, item in entries.select("query", "expert", "item").iter_rows():
        rankings[query][expert].append(item)
    pages = [interleave(lists, request=query, top=top, seed=seed) for query, lists in rankings.items()]
    rows = [row for query, page in zip(rankings, pages, strict=True) for row in page.log_rows(query)]
    names = dict.fromkeys(("query", "session", "item"), pl.String)
    frame = pl.DataFrame(rows, schema={**names, "position": pl.Int64, "team": pl.String})
    deliver(frame_lines(frame, "" if report.out is None else report.out.name, for_people=True), report.out or stdout())
    if report.out is not None:
        note(f"{report.out}: {len(pages)} pages of {len(data.experts)} rankings", quiet=report.quiet)
