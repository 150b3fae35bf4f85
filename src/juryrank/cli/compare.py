"""``juryrank compare``: compare methods on one dataset."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juryrank.cli import interrupts, options
from juryrank.cli.reading import FullReadOptions
from juryrank.cli.reports import ReportOptions, check_pictures
from juryrank.cli.terminal import bars, note

if TYPE_CHECKING:
    from juryrank.data import Dataset, Fold
    from juryrank.evaluation.compare import Comparison
    from juryrank.evaluation.experiment import Experiment


ALL = "all"  # of --methods: all methods that need no labels
BUDGET = 30.0  # seconds


@dataclass(frozen=True)
class ExperimentOptions:
    """Which methods are compared, and how."""

    methods: Annotated[
        list[str] | None,
        options.several_methods(
            "Methods, with parameters after a colon (rrf:k=10,borda); repeatable. Default: the methods that need no "
            "labels and fit into the time budget; all: the same without a budget."
        ),
    ] = None
    folds: Annotated[
        str | None,
        typer.Option(
            "--folds",
            metavar="N|DIR",
            help="Number of folds, or a folder with Fold1 … FoldN; default: the folds of the data.",
        ),
    ] = None
    metric: options.Metrics = None
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            help="Method that the others are compared with, expert:NAME or best-expert; default: rrf.",
        ),
    ] = None
    experts: Annotated[
        bool,
        typer.Option(
            "--experts",
            help="Also compare each expert alone (expert:NAME), and with folds the expert that is best on the training "
            "queries (best-expert).",
        ),
    ] = False
    convention: options.Convention = "trec"
    unjudged: options.Unjudged = "irrelevant"
    judged_share: options.JudgedShare = True
    seed: Annotated[int, typer.Option("--seed", help="Random seed of the folds and of the randomisation test.")] = 0
    budget: Annotated[
        float | None,
        typer.Option("--budget", metavar="SECONDS", help="Time budget if --methods is not given; default: 30."),
    ] = None


def run(
    data: options.Sources,
    *,
    experiment: ExperimentOptions,
    reading: FullReadOptions,
    memory: options.Memory = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", callback=options.a_file, help="Draw the differences to this file (png, svg, pdf)."),
    ] = None,
    report: ReportOptions,
) -> None:
    """Compare methods: means, differences to a baseline, significance tests.

    Methods that fail on the data are skipped with a warning. Ctrl-C shows the methods that have finished.
    """
    report.check()
    check_pictures([plot])
    names = named_methods(experiment.methods, experiment.budget)
    if memory is None:
        prepared = prepare(names, reading.read(data), experiment)
    else:
        prepared = prepare_by_query(names, data, experiment, reading.by_query(data, memory), quiet=report.quiet)
    announce(prepared, quiet=report.quiet)

    def deliver() -> None:
        if (found := result_so_far(prepared, quiet=report.quiet)) is not None:
            report.deliver(found)
            if plot is not None:
                found.plot(plot)

    with interrupts.deliver_once(deliver), bars(quiet=report.quiet):
        prepared.run(on_finished=lambda label: note(result_line(prepared, label), quiet=report.quiet))


def prepare(names: list[str] | None, data: Dataset, chosen: ExperimentOptions) -> Experiment:
    """The comparison that the options ask for, ready to run."""
    from juryrank.evaluation.evaluate import as_metrics
    from juryrank.evaluation.experiment import Experiment
    from juryrank.evaluation.folds import splits_of
    from juryrank.evaluation.selection import select_methods

    folds = splits_of(None if chosen.folds is None else chosen_folds(chosen.folds, data), data, chosen.seed)
    budget = None if names else BUDGET if chosen.budget is None else chosen.budget
    selection = select_methods(names, data, folds, baseline=chosen.baseline, budget=budget)
    metrics = as_metrics(chosen.metric or options.DEFAULT_METRICS)
    return Experiment(
        selection,
        data,
        folds,
        metrics,
        convention=chosen.convention,
        seed=chosen.seed,
        experts=chosen.experts,
        unjudged=chosen.unjudged,
        judged_share=chosen.judged_share,
    )


def prepare_by_query(
    names: list[str] | None, data: list[Path], chosen: ExperimentOptions, reading: dict[str, Any], *, quiet: bool
) -> Experiment:
    """The comparison that the options ask for, of files that are read query by query."""
    from juryrank.evaluation.evaluate import as_metrics
    from juryrank.tasks.files.compare_files import BatchedExperiment, open_for_comparison

    if names is None:
        raise typer.BadParameter("--memory requires --methods: times cannot be estimated before the data is read")
    if chosen.folds is not None and not chosen.folds.isdigit():
        raise typer.BadParameter("--folds is a number with --memory, not a folder", param_hint="--folds")
    with bars(quiet=quiet):
        return BatchedExperiment(
            names,
            open_for_comparison(data, **reading),
            as_metrics(chosen.metric or options.DEFAULT_METRICS),
            folds=None if chosen.folds is None else int(chosen.folds),
            baseline=chosen.baseline,
            experts=chosen.experts,
            convention=chosen.convention,
            unjudged=chosen.unjudged,
            judged_share=chosen.judged_share,
            seed=chosen.seed,
        )


def named_methods(texts: list[str] | None, budget: float | None) -> list[str] | None:
    """The methods that ``--methods`` names, or None for those that fit into the budget."""
    from juryrank.evaluation.method_specs import split_methods
    from juryrank.methods import consensus_methods

    if texts is None:
        return None
    if budget is not None:
        raise typer.BadParameter("--budget cannot be used with --methods")
    named = [name for text in texts for name in split_methods(text)]
    every = consensus_methods() if ALL in named else []
    return [*every, *(name for name in named if name != ALL and name not in every)]


def announce(prepared: Experiment, *, quiet: bool) -> None:
    """What will be compared, how long it will take, and which methods are left out."""
    from juryrank.evaluation.time_budget import total

    count = len(prepared.methods)
    what = f"{count} method{'s' if count > 1 else ''} on {len(prepared.queries)} queries"
    note(f"comparing {what}, {total(prepared.estimates)}: {', '.join(prepared.methods)}", quiet=quiet)
    if prepared.left_out:
        slow = ", ".join(f"{name} ({takes})" for name, takes in prepared.left_out.items())
        advice = "select them with --methods (or --methods all), or raise --budget SECONDS"
        note(f"left out, too slow for the budget: {slow}; {advice}", quiet=quiet)


def result_so_far(experiment: Experiment, *, quiet: bool) -> Comparison | None:
    """The comparison of the methods that have finished, if there are any."""
    finished = len(experiment.finished_methods())
    if not finished and not experiment.failed:
        return None
    if finished + len(experiment.failed) < len(experiment.methods):
        note(f"interrupted: {finished} of {len(experiment.methods)} methods have finished", quiet=quiet)
    return experiment.result()


def result_line(experiment: Experiment, label: str) -> str:
    """One finished method: its means and its time."""
    from juryrank.report import number

    width = max(map(len, experiment.methods))
    percent = experiment.convention == "letor"
    means = zip(experiment.metrics, experiment.means(label).tolist(), strict=True)
    shown = [f"{metric} {number(mean, percent)}" for metric, mean in means]
    return "  ".join([label.ljust(width), *shown, f"{sum(experiment.seconds[label]):.2f} s"])


def chosen_folds(text: str, data: Dataset) -> int | tuple[Fold, ...]:
    """A number of folds, or the folds of a folder, matched to the queries of the data by name."""
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
