"""``juryrank compare``: methods side by side on one data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import completion, options, results
from juryrank.cli.screen import bars

if TYPE_CHECKING:
    from juryrank.data import Dataset, Fold


def run(
    data: options.Sources,
    methods: Annotated[
        str | None,
        typer.Option(
            "--methods",
            metavar="NAME,…",
            help="Default: every method that needs no labels.",
            autocompletion=completion.several_methods,
        ),
    ] = None,
    labels: options.Labels = None,
    label_columns: options.LabelColumns = None,
    features: options.Features = None,
    folds: Annotated[
        str | None,
        typer.Option(
            "--folds", metavar="N|DIR", help="N parts, or a folder Fold1 … FoldN; default: those of the data."
        ),
    ] = None,
    metric: options.Metrics = None,
    baseline: Annotated[str | None, typer.Option("--baseline", help="Differences are to this method.")] = None,
    convention: options.Convention = "trec",
    seed: Annotated[int, typer.Option("--seed", help="Of the folds and of the randomisation test.")] = 0,
    form: results.Form = None,
    as_json: results.Json = False,
    out: options.Output = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare methods: means, differences to a baseline, tests of significance."""
    from juryrank.compare import compare

    given = options.read_data(
        data,
        labels=labels,
        label_columns=label_columns,
        features=features,
        source_format=source_format,
        columns=columns,
        values=values,
    )
    with bars(quiet=quiet) as show:
        found = compare(
            options.names(methods) if methods else consensus_methods(),
            given,
            metric or list(options.DEFAULT_METRICS),
            folds=None if folds is None else chosen_folds(folds, given),
            baseline=baseline,
            convention=convention,
            seed=seed,
            progress=lambda work: show(work, "comparing"),
        )
    results.deliver(found, form, as_json=as_json, out=out, quiet=quiet)


def consensus_methods() -> list[str]:
    """Every method that needs nothing but lists."""
    from juryrank import methods

    return methods.consensus_methods()


def chosen_folds(text: str, data: Dataset) -> int | tuple[Fold, ...]:
    """A number of folds, or the folds of a folder found among the queries of the data by name."""
    if text.isdigit():
        return int(text)
    from juryrank.data import Fold
    from juryrank.errors import DataError
    from juryrank.readers import read

    other = read(Path(text))
    if not other.folds:
        raise DataError(f"{text}: no folds; expected folders Fold1, Fold2, … with train.txt, vali.txt and test.txt")
    place = {query: q for q, query in enumerate(data.queries)}
    where = [place.get(query) for query in other.queries]

    def found(positions: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(q for p in positions if (q := where[p]) is not None)

    if not any(q is not None for q in where):
        example = f"{other.queries[0]!r} there, {data.queries[0]!r} here"
        raise DataError(f"{text}: none of its {len(where)} queries is in the data; names are like {example}")
    return tuple(Fold(f.name, found(f.train), found(f.valid), found(f.test)) for f in other.folds)
