"""``juryrank fit``: learn whom to trust, and keep it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import options
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.data import Dataset


def run(
    data: options.Sources,
    out: Annotated[Path, typer.Option("--out", "-o", callback=options.a_file, help="The model goes here, as JSON.")],
    method: options.Method = "jury",
    labels: options.Labels = None,
    label_columns: options.LabelColumns = None,
    features: options.Features = None,
    valid: Annotated[
        list[Path] | None,
        typer.Option(
            "--valid",
            callback=options.stdin_once,
            help="Queries to choose on, for methods that do: files or folders; repeatable.",
        ),
    ] = None,
    param: options.Params = None,
    weights: options.Weights = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit a method to labelled data and save it; --labels also has the labels of --valid."""
    from juryrank.models import fit, save

    if out == Path("-"):
        raise typer.BadParameter("a model is saved to a file, not to stdout", param_hint="--out")
    chosen = options.chosen_method(method, param, weights)
    given, held = (
        options.read_data(
            paths,
            labels=labels,
            label_columns=label_columns,
            features=features,
            source_format=source_format,
            columns=columns,
            values=values,
        )
        if paths
        else None
        for paths in (data, valid)
    )
    assert given is not None
    with bars(quiet=quiet):
        model = fit(given, chosen, valid=held)
    save(model, out)
    if report := getattr(model, "report", None):
        print(report())
    note(f"{out}: {model.name}, {taught_by(given) if model.supervised else f'fitted to {given!r}'}", quiet=quiet)


def taught_by(data: Dataset) -> str:
    """How many queries and labels a method learned from."""
    import numpy as np

    from juryrank.kernels.ragged import parents

    if data.labels is None:
        return f"learned from {data!r}"
    r, judged = data.rankings, ~np.isnan(data.slot_labels)
    queries = len(np.unique(parents(r.slot_ptr)[judged]))
    return f"learned from {queries} of {len(data)} queries with {int(judged.sum())} labels of {r.n_slots} items"
