"""``juryrank evaluate``: evaluate runs against labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import options
from juryrank.cli.reading import LabelledReadOptions, read_labels
from juryrank.cli.reports import ReportOptions
from juryrank.cli.terminal import bars, note
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
    memory: options.Memory = None,
    report: ReportOptions,
) -> None:
    """Evaluate each expert against labels (those of --labels, or those in the data)."""
    from juryrank.metrics.truth import check_unjudged

    check_unjudged(unjudged)
    if per_query and baseline is not None:
        raise typer.BadParameter("--baseline compares means; it cannot be used with --per-query")
    how: dict[str, Any] = {
        "convention": convention, "unjudged": unjudged, "judged_share": judged_share, "baseline": baseline,
    }  # fmt: skip
    metrics = metric or list(options.DEFAULT_METRICS)
    if memory is not None:
        found = _evaluate_by_query(runs, metrics, memory, how, reading, quiet=report.quiet)
    else:
        found = _evaluate(runs, metrics, how, reading, quiet=report.quiet)
    report.deliver(PerQuery(found) if per_query else found)


def _evaluate(
    runs: list[Path], metrics: list[str], how: dict[str, Any], reading: LabelledReadOptions, *, quiet: bool
) -> Evaluation:
    from juryrank.evaluation.evaluate import evaluate

    if reading.labels is None:
        data = reading.read(runs)
    else:
        labels = read_labels(reading.labels, reading.label_columns)
        data = reading.read(runs, labels=labels, label_columns=None)
        _note_absent(len(set(labels.queries).difference(data.queries)), len(labels), quiet=quiet)
    return evaluate(data, data, metrics, **how)


def _evaluate_by_query(
    runs: list[Path], metrics: list[str], memory: str, how: dict[str, Any], reading: LabelledReadOptions, *, quiet: bool
) -> Evaluation:
    from juryrank.evaluation.evaluate import as_metrics
    from juryrank.tasks.files.evaluate_files import evaluate_labelled, open_for_evaluation

    with bars(quiet=quiet):
        files = open_for_evaluation(runs, **reading.by_query(runs, memory))
        if files.labels is not None:
            _note_absent(files.n_unused_labels, len(files.labels.queries), quiet=quiet)
        return evaluate_labelled(files, as_metrics(metrics), **how)


def _note_absent(absent: int, of: int, *, quiet: bool) -> None:
    if absent:
        note(f"{absent} of {of} queries with labels are in no run; left out", quiet=quiet)


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
