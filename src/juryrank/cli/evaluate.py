"""``juryrank evaluate``: evaluate runs against labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import options
from juryrank.cli.reading import LabelledReadOptions, read_labels
from juryrank.cli.reports import ReportOptions
from juryrank.cli.terminal import note
from juryrank.report import Report, Table, number

if TYPE_CHECKING:
    from juryrank.evaluation.evaluate import Evaluation


def run(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", callback=options.stdin_once, help="TREC runs or tables; one result per expert."),
    ],
    metric: options.Metrics = None,
    convention: options.Convention = "trec",
    unjudged: options.Unjudged = "irrelevant",
    judged_share: options.JudgedShare = True,
    per_query: Annotated[bool, typer.Option("--per-query", help="One row per query instead of means.")] = False,
    baseline: Annotated[
        str | None,
        typer.Option("--baseline", help="Expert that the others are tested against; the name as in the results."),
    ] = None,
    *,
    reading: LabelledReadOptions,
    report: ReportOptions,
) -> None:
    """Evaluate each expert against labels (those of --labels, or those in the data)."""
    from juryrank.evaluation.evaluate import evaluate
    from juryrank.metrics.truth import check_unjudged

    check_unjudged(unjudged)
    if per_query and baseline is not None:
        raise typer.BadParameter("--baseline compares means; it cannot be used with --per-query")
    if reading.labels is None:
        data = reading.read(runs)
    else:
        labels = read_labels(reading.labels, reading.label_columns)
        data = reading.read(runs, labels=labels, label_columns=None)
        if absent := len(set(labels.queries).difference(data.queries)):
            note(f"{absent} of {len(labels)} queries with labels are in no run; left out", quiet=report.quiet)
    found = evaluate(
        data,
        data,
        metric or list(options.DEFAULT_METRICS),
        convention=convention,
        unjudged=unjudged,
        judged_share=judged_share,
        baseline=baseline,
    )
    report.deliver(PerQuery(found) if per_query else found)


@dataclass(frozen=True)
class PerQuery(Report):
    """An evaluation with one row per name and query."""

    evaluation: Evaluation

    def tables(self, percent: bool | None = None) -> list[Table]:
        whole = self.evaluation
        percent = whole.convention == "letor" if percent is None else percent
        rows = [
            [name, query, *(number(value, percent) for value in whole.values[n, :, q])]
            for n, name in enumerate(whole.names)
            for q, query in enumerate(whole.queries)
        ]
        return [Table("", ["name", "query", *map(str, whole.metrics)], rows, n_names=2)]

    def rows(self) -> list[dict[str, Any]]:
        return self.evaluation.to_frame().to_dicts()

    def to_dict(self) -> dict[str, Any]:
        return self.evaluation.to_dict()
