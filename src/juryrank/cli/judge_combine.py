"""``juryrank judge --combine``: labels from the grades of several judges, and how reliable each of them is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from juryrank.cli.own_tables import demand_own_table
from juryrank.cli.terminal import note, print_report

ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson")
LABEL_COLUMNS = ("query", "item", "label", "label_weight", "expected")


@dataclass(frozen=True)
class CombineOptions:
    """The grades of several judges, as labels."""

    combine: Annotated[
        Path | None,
        typer.Option(
            "--combine", metavar="FILE", help="Show how reliable the judges in FILE are, and write labels to --out."
        ),
    ] = None
    trusted: Annotated[
        list[str] | None, typer.Option("--trusted", help="A judge whose grades are true, with --combine; repeatable.")
    ] = None

    def run(self, gold: Path | None, out: Path | None, *, quiet: bool) -> None:
        """Show the judges, and write the labels; ``gold`` has labels that are true."""
        from juryrank.io.files import deliver
        from juryrank.io.tables.frames import frame_lines
        from juryrank.tasks.judge.reliability import combine_judgements

        if out is not None and out.suffix.lower() not in ENDINGS:
            raise typer.BadParameter(f"labels are written as {', '.join(ENDINGS)}, got {out}", param_hint="--out")
        if out is not None:
            demand_own_table(out, LABEL_COLUMNS)
        found = combine_judgements(self.combine, gold, trusted=self.trusted or ())
        print_report(found)
        if out is not None:
            deliver(frame_lines(found.to_frame(), out.name, for_people=True), out)
            note(f"{out}: {len(found.labels.label_value)} labels with weights, for --labels", quiet=quiet)
