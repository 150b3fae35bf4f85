"""``verdict``: use a learned method, stay with RRF, or use the best expert alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from juryrank.data import Dataset, Fold
from juryrank.errors import ParameterError
from juryrank.evaluation.evaluate import as_metrics
from juryrank.evaluation.experiment import Experiment
from juryrank.evaluation.folds import splits_of
from juryrank.evaluation.method_specs import methods_by_label
from juryrank.evaluation.selection import Selection
from juryrank.learning.verdict import Difference, Verdict
from juryrank.methods import Aggregator

__all__ = ["Difference", "Verdict", "verdict"]

FOLDS = 5


def verdict(
    data: Dataset,
    method: str | Aggregator = "jury",
    metric: str = "nDCG@10",
    *,
    folds: int | Sequence[Fold] | None = None,
    convention: str = "trec",
    seed: int = 0,
) -> Verdict:
    """Whether to use a method that learns from labels, to stay with RRF, or to use the best expert alone.

    By default ``jury`` and ``ridge`` hold out each labelled query in turn. Other methods, another convention and given
    ``folds`` mean cross-validation, with 5 folds unless the data has its own; the best expert is then chosen on the
    training queries of each fold. A method without validation queries of its own also learns from the fold that
    ``compare`` would use for validation.
    """
    ((label, chosen),) = methods_by_label(method).items()
    if not chosen.supervised:
        raise ParameterError(f"a verdict is about a method that learns from labels, such as jury; {label} does not")
    (wanted,) = as_metrics(metric)
    if folds is None and convention == "trec" and str(wanted) == chosen.target:
        held_out = type(chosen)(**chosen.params())
        if type(held_out).verdict is not Aggregator.verdict and (found := held_out.fit(data).verdict()) is not None:
            return found
    given = FOLDS if folds is None and not data.folds else folds
    splits = splits_of(given, data, seed)
    if not chosen.validates:
        splits = tuple(replace(f, train=tuple(sorted((*f.train, *f.valid))), valid=()) for f in splits)
    experiment = Experiment(
        Selection({label: chosen}, label), data, splits, (wanted,), convention=convention, seed=seed
    )
    experiment.run()
    experiment.require_results()
    found = experiment.verdict()
    assert found is not None
    return found
