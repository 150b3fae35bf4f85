"""``juryrank clicks``: labels with weights from a click log."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options
from juryrank.cli.own_tables import demand_own_table
from juryrank.cli.reading import column_names, or_stdin
from juryrank.cli.reports import Form, Json, check_pictures, deliver
from juryrank.cli.terminal import note

if TYPE_CHECKING:
    from juryrank.tasks.clicks.log import ClickLog

LABEL_COLUMNS = ("query", "item", "label", "weight")


@dataclass(frozen=True)
class LogOptions:
    """How the log is read."""

    log_format: Annotated[
        str | None, typer.Option("--from", help="Format of the log: table or ubi, if it is not recognised.")
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns", metavar="NAME=HEADER,…", help="Headers of query, item, position, clicked, session, …"
        ),
    ] = None
    actions: Annotated[
        str, typer.Option("--actions", metavar="NAME,…", help="Actions of UBI events that count as clicks.")
    ] = "click"
    first_position: Annotated[
        int, typer.Option("--first-position", min=0, max=1, help="Number of the first position in the log, 0 or 1.")
    ] = 1
    shown: Annotated[
        int | None,
        typer.Option("--shown", metavar="N", min=1, help="Hits on a page, for UBI without impressions."),
    ] = None
    normalise_queries: Annotated[
        bool, typer.Option("--normalise-queries", help="Queries that differ only by case or blanks are one.")
    ] = False

    def read(self, logs: list[Path]) -> ClickLog:
        """The log in the files."""
        from juryrank.tasks.clicks.reading import read_clicks

        return read_clicks(
            list(map(or_stdin, logs)),
            columns=column_names(self.columns),
            format=self.log_format,
            actions=options.names(self.actions),
            first_position=self.first_position,
            shown=self.shown,
            normalise_queries=self.normalise_queries,
        )


def run(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG",
            callback=options.stdin_once,
            help="Files or folders of a click log, - for stdin: a table, or UBI documents; several are read as one.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", callback=options.a_file, help="The labels: .csv, .tsv, .ndjson or .parquet.")
    ],
    *,
    reading: LogOptions,
    examination: Annotated[
        str | None,
        typer.Option(
            "--examination", metavar="P1,P2,…", help="Known examination of positions 1, 2, …; else estimated."
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", callback=options.a_file, help="A picture of the position bias (png, svg or pdf)."),
    ] = None,
    form: Form = None,
    as_json: Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Turn a click log into labels with weights, corrected for position bias.

    The labels are for --labels of fit and compare. Prints what was used of the log, the bias, and how sure labels are.
    """
    from juryrank.io.files import save
    from juryrank.io.tables import frames
    from juryrank.tasks.clicks.labels import click_labels

    if out.suffix.lower() not in frames.ENDINGS:
        raise typer.BadParameter(
            f"labels with weights are a table: {out} must end in {', '.join(frames.ENDINGS)}", param_hint="--out"
        )
    demand_own_table(out, LABEL_COLUMNS)
    check_pictures([plot])
    known = None if examination is None else [_probability(text) for text in options.names(examination)]
    log = reading.read(logs)
    labels = click_labels(log, examination=known)
    frame = labels.to_frame().select(LABEL_COLUMNS)
    save(out, b"".join(frames.frame_lines(frame, out.name, for_people=True)))
    report = labels.report()
    deliver(report, form, as_json=as_json, out=None, quiet=quiet)
    if plot is not None:
        report.plot(plot)
    note(f"{out}: {frame.height} labels of {len(labels.queries)} queries, from {log!r}", quiet=quiet)


def _probability(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"expected numbers, got {text!r}", param_hint="--examination") from None
