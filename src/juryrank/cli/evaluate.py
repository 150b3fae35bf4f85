"""``juryrank evaluate``: how good runs are, by labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import options, reports
from juryrank.cli.terminal import note
from juryrank.report import Report, Table, number

if TYPE_CHECKING:
    from juryrank.evaluation.evaluate import Evaluation


def run(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN", callback=options.stdin_once, help="TREC runs or tables; each expert is one row."),
    ],
    labels: options.Labels = None,
    label_columns: options.LabelColumns = None,
    metric: options.Metrics = None,
    convention: options.Convention = "trec",
    per_query: Annotated[bool, typer.Option("--per-query", help="One row per query instead of means.")] = False,
    form: reports.Form = None,
    as_json: reports.Json = False,
    out: options.Output = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Evaluate each expert alone against labels (those of --labels, or those in the data)."""
    from juryrank.evaluation.evaluate import evaluate

    judged = None if labels is None else options.read_labels(labels, label_columns)
    own = label_columns if judged is None else None
    data = options.read_data(
        runs, labels=judged, label_columns=own, source_format=source_format, columns=columns, values=values
    )
    if judged is not None and (absent := len(set(judged.queries).difference(data.queries))):
        note(f"{absent} of {len(judged)} queries with labels are in no run; they are left out", quiet=quiet)
    found = evaluate(data, data, metric or list(options.DEFAULT_METRICS), convention=convention)
    reports.deliver(PerQuery(found) if per_query else found, form, as_json=as_json, out=out, quiet=quiet)


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
