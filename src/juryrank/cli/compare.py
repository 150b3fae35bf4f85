"""``juryrank compare``: methods side by side on one data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juryrank.cli import completion, interrupts, options, reports
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.data import Dataset, Fold
    from juryrank.evaluation.compare import Comparison
    from juryrank.evaluation.experiment import Experiment


ALL = "all"  # methods, whatever they cost
BUDGET = 30.0  # seconds


def run(
    data: options.Sources,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods",
            metavar="NAME,…",
            help="Methods, with parameters after a colon (rrf:k=10,borda); repeatable. "
            "Default: those that need no labels and fit the budget; all: whatever they cost.",
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
    budget: Annotated[
        float | None,
        typer.Option("--budget", metavar="SECONDS", help="Without --methods: about how long it may take. Default: 30."),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", callback=options.a_file, help="Draw the differences here (png, svg, pdf)."),
    ] = None,
    form: reports.Form = None,
    as_json: reports.Json = False,
    out: options.Output = None,
    source_format: options.Format = None,
    columns: options.Columns = None,
    values: options.Values = None,
    quiet: options.Quiet = False,
) -> None:
    """Compare methods: means, differences to a baseline, tests of significance.

    Methods that fail on this data are skipped by name. Ctrl-C shows the methods that are finished.
    """
    from juryrank.evaluation.compare import prepare

    check_outputs(plot, out, "json" if as_json else form)
    names = named_methods(methods, budget)
    given = options.read_data(
        data,
        labels=labels,
        label_columns=label_columns,
        features=features,
        source_format=source_format,
        columns=columns,
        values=values,
    )
    trial = prepare(
        names,
        given,
        metric or list(options.DEFAULT_METRICS),
        folds=None if folds is None else chosen_folds(folds, given),
        baseline=baseline,
        convention=convention,
        seed=seed,
        budget=None if names else BUDGET if budget is None else budget,
    )
    announce(trial, quiet=quiet)

    def deliver() -> None:
        if (found := result_so_far(trial, quiet=quiet)) is not None:
            reports.deliver(found, form, as_json=as_json, out=out, quiet=quiet)
            if plot is not None:
                found.plot(plot)

    with interrupts.delivered(deliver), bars(quiet=quiet) as show:
        trial.run(lambda work: show(work, "comparing"), lambda label: note(result_line(trial, label), quiet=quiet))


def check_outputs(plot: Path | None, out: Path | None, form: str | None) -> None:
    """Refuse what cannot be written before the work, not after it."""
    from juryrank.errors import UnknownNameError
    from juryrank.figures import check_picture
    from juryrank.report import FORMATS

    if form is not None and form not in FORMATS:
        raise UnknownNameError.of("format", form, FORMATS)
    if out is not None and form is None:
        reports.form_of(out)
    if plot is not None:
        check_picture(plot)


def named_methods(texts: list[str] | None, budget: float | None) -> list[str] | None:
    """The methods that ``--methods`` names, or None for those that the budget allows."""
    from juryrank.evaluation.method_specs import split_methods
    from juryrank.methods import consensus_methods

    if texts is None:
        return None
    if budget is not None:
        raise typer.BadParameter("methods that are named take part whatever they cost", param_hint="--budget")
    named = [name for text in texts for name in split_methods(text)]
    every = consensus_methods() if ALL in named else []
    return [*every, *(name for name in named if name != ALL and name not in every)]


def announce(trial: Experiment, *, quiet: bool) -> None:
    """What is going to be compared, how long that takes, and what is left out."""
    from juryrank.evaluation.time_budget import total

    count = f"{len(trial.chosen)} method{'s' if len(trial.chosen) > 1 else ''} on {len(trial.queries)} queries"
    note(f"comparing {count}, {total(trial.estimates)}: {', '.join(trial.chosen)}", quiet=quiet)
    if trial.left_out:
        told = ", ".join(f"{name} ({takes})" for name, takes in trial.left_out.items())
        more = "--methods names them or takes all, --budget SECONDS allows more"
        note(f"left out for their time: {told}; {more}", quiet=quiet)


def result_so_far(trial: Experiment, *, quiet: bool) -> Comparison | None:
    """The comparison of the methods that are finished, where there are any."""
    finished = len(trial.finished())
    if not finished and not trial.failed:
        return None
    if finished + len(trial.failed) < len(trial.chosen):
        note(f"interrupted: {finished} of {len(trial.chosen)} methods are finished", quiet=quiet)
    return trial.result()


def result_line(trial: Experiment, label: str) -> str:
    """One finished method: its means, and the seconds it took."""
    from juryrank.report import number

    width = max(map(len, trial.chosen))
    percent = trial.convention == "letor"
    means = [f"{m} {number(v, percent)}" for m, v in zip(trial.metrics, trial.means(label).tolist(), strict=True)]
    return "  ".join([label.ljust(width), *means, f"{sum(trial.seconds[label]):.2f} s"])


def chosen_folds(text: str, data: Dataset) -> int | tuple[Fold, ...]:
    """A number of folds, or the folds of a folder found among the queries of the data by name."""
    if text.isdigit():
        return int(text)
    from juryrank.data import Fold
    from juryrank.errors import DataError
    from juryrank.io import read

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
