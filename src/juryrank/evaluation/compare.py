"""``compare``: methods on one dataset, with means, differences to a baseline and significance tests."""

from __future__ import annotations

from collections.abc import Sequence

from juryrank.data import Dataset, Fold, as_dataset
from juryrank.errors import warn_about_data
from juryrank.evaluation.baseline_differences import BaselineDifference
from juryrank.evaluation.comparison import Comparison
from juryrank.evaluation.evaluate import as_metrics
from juryrank.evaluation.experiment import Experiment, Progress
from juryrank.evaluation.folds import splits_of
from juryrank.evaluation.method_specs import Methods
from juryrank.evaluation.selection import select_methods
from juryrank.metrics import Metric

__all__ = ["BaselineDifference", "Comparison", "compare"]


def compare(
    methods: Methods | None,
    data: Dataset,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    folds: int | Sequence[Fold] | None = None,
    baseline: str | None = None,
    experts: bool = False,
    convention: str = "trec",
    unjudged: str = "irrelevant",
    judged_share: bool = True,
    seed: int = 0,
    budget: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Fit and evaluate methods on the same queries.

    ``methods`` are names, names with parameters (``"rrf:k=10"``) or methods, in a list or by label. ``None`` means all
    methods that need no labels; with a ``budget`` of seconds, those estimated to fit into it, the fastest first.

    ``folds`` is a number of folds (drawn at random by query: one for testing, the next for validation, the others for
    training) or a list of Fold; by default the folds of the data. Without folds, methods that need no labels rank all
    queries at once. Means are over the queries of a fold, then over folds; tests use the queries of all folds
    together. ``progress`` is wrapped around the work, like ``rich.progress.track``. Times include loading kernels on
    their first use.

    The baseline is ``rrf`` if it takes part, else the first method. It may also be an expert alone, ``"expert:bm25"``,
    or with folds ``"best-expert"``: in each fold the expert with the highest mean of the first metric on the training
    queries. ``experts`` adds all of these as rows. An expert has the value 0 in queries that it does not rank.

    With folds and a method that learns from labels, ``Comparison.verdict`` says whether to use it.

    ``unjudged`` and ``judged_share`` mean the same as in ``evaluate``: ``"ignore"`` removes unjudged items before the
    metrics are computed, and Judged@k is shown beside metrics with a cutoff k.

    A method that fails on this data is skipped with a DataWarning; ``Comparison.skipped`` gives the reason. If no
    method is left, the error is raised.
    """
    wanted, data = as_metrics(metrics), as_dataset(data)
    splits = splits_of(folds, data, seed)
    selection = select_methods(methods, data, splits, baseline=baseline, budget=budget)
    experiment = Experiment(
        selection,
        data,
        splits,
        wanted,
        convention=convention,
        seed=seed,
        experts=experts,
        unjudged=unjudged,
        judged_share=judged_share,
    )
    if selection.left_out:
        slow = ", ".join(f"{name} ({takes})" for name, takes in selection.left_out.items())
        warn_about_data(f"left out, beyond the budget of {budget:g} s: {slow}")
    experiment.run(progress)
    return experiment.result()
