"""Methods side by side on one data set: means, differences to a baseline, tests of significance."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from juryrank.data import Dataset, Fold
from juryrank.errors import DataError, DataWarning, ParameterError, UnknownNameError
from juryrank.evaluation.baseline_differences import BaselineDifference
from juryrank.evaluation.comparison import Comparison
from juryrank.evaluation.evaluate import as_metrics
from juryrank.evaluation.experiment import Experiment, Progress
from juryrank.evaluation.folds import splits_of
from juryrank.evaluation.method_specs import Methods, by_label
from juryrank.evaluation.time_budget import affordable
from juryrank.metrics import Metric

__all__ = ["BaselineDifference", "Comparison", "compare"]


def compare(
    methods: Methods | None,
    data: Dataset,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    folds: int | Sequence[Fold] | None = None,
    baseline: str | None = None,
    convention: str = "trec",
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Fit and test methods on the same queries.

    ``methods`` are names, names with parameters (``"rrf:k=10"``) or methods, in a list or by label. ``None`` is every
    method that needs no labels; with a ``budget`` of seconds, as many as are estimated to fit, quick ones first.

    ``folds`` is a number of parts (seeded, by query: one to test, the next to choose on, the others to learn from) or
    a list of Fold; by default the folds of the data. Without any, methods that need no labels rank all queries at
    once. Means are over the queries of a fold, then over folds; tests take the queries of all folds together. The
    baseline is ``rrf`` where it takes part, else the first method. ``progress`` is wrapped around the work, as
    ``rich.progress.track`` is. The first use of a kernel loads it, which counts in the seconds.

    A method that fails on this data is skipped with a DataWarning, and ``Comparison.skipped`` says why; an error is
    raised where no method is left.
    """
    trial = prepare(
        methods, data, metrics, folds=folds, baseline=baseline, convention=convention, seed=seed, budget=budget
    )
    if trial.left_out:
        told = ", ".join(f"{name} ({takes})" for name, takes in trial.left_out.items())
        warnings.warn(f"left out, beyond the budget of {budget:g} s: {told}", DataWarning, stacklevel=2)
    trial.run(progress)
    return trial.result()


def prepare(
    methods: Methods | None,
    data: Dataset,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    folds: int | Sequence[Fold] | None = None,
    baseline: str | None = None,
    convention: str = "trec",
    seed: int = 0,
    budget: float | None = None,
) -> Experiment:
    """The same, checked and ready to run: who takes part, and how long that takes by estimate."""
    wanted = as_metrics(metrics)
    left_out: dict[str, str] = {}
    splits = splits_of(folds, data, seed)
    if methods is None:
        methods, left_out = affordable(data, splits, budget, baseline or "rrf")
    elif budget is not None:
        raise ParameterError("a budget chooses among all methods; methods that are named take part whatever they cost")
    chosen = by_label(methods)
    if baseline is not None and baseline not in chosen:
        raise UnknownNameError.of("method in this comparison", baseline, chosen)
    base = baseline or ("rrf" if "rrf" in chosen else next(iter(chosen)))
    learner = next((label for label, m in chosen.items() if m.supervised), None)
    if learner is not None and not splits:
        raise DataError(
            f"{learner} learns from labels, and must be tested on other queries: give folds "
            "(folds=5 in Python, --folds 5 on the command line)"
        )
    return Experiment(chosen, data, splits, wanted, baseline=base, convention=convention, seed=seed, left_out=left_out)
