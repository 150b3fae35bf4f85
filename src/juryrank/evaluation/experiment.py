"""A comparison while it runs: one method after the other, and the results so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Fold
from juryrank.errors import DataError, JuryrankError, warn_about_data
from juryrank.evaluation.baseline_differences import differences_to_baseline
from juryrank.evaluation.comparison import Comparison
from juryrank.evaluation.evaluate import mean_over_queries, values_of, warn_of_undefined
from juryrank.evaluation.folds import labelled_text
from juryrank.evaluation.selection import Selection, default_baseline
from juryrank.evaluation.time_budget import estimate
from juryrank.metrics import Metric, Truth
from juryrank.progress import track

Progress = Callable[[Sequence[Any]], Iterable[Any]]


class Experiment:
    """Runs methods on the same queries; a method that fails is skipped, and ``result`` is available at any time."""

    def __init__(
        self,
        selection: Selection,
        data: Dataset,
        folds: Sequence[Fold],
        metrics: tuple[Metric, ...],
        *,
        convention: str,
        seed: int,
    ) -> None:
        self.methods, self.baseline, self.left_out = selection.methods, selection.baseline, selection.left_out
        self.folds, self.metrics, self.convention, self.seed = folds, metrics, convention, seed
        self.train = [_take(data, fold.train) for fold in folds] or [data]
        self.valid = [_take(data, fold.valid) if fold.valid else None for fold in folds] or [None]
        test = [_take(data, fold.test) for fold in folds] or [data]
        self.truths = [Truth(part) for part in test]
        self.queries = tuple(query for truth in self.truths for query in truth.queries)
        if not self.queries:
            raise DataError(f"a comparison needs queries with labels, and {labelled_text(0, data)}")
        self.test = [_select_queries(part, truth.queries) for part, truth in zip(test, self.truths, strict=True)]
        self.estimates = {label: estimate(m, data, folds) for label, m in self.methods.items()}
        self.values: dict[str, list[NDArray[np.float64]]] = {label: [] for label in self.methods}
        self.seconds = dict.fromkeys(self.methods, (0.0, 0.0))
        self.failed: dict[str, Exception] = {}

    def run(self, progress: Progress | None = None, on_finished: Callable[[str], None] | None = None) -> None:
        """Run all methods, the baseline first, then by estimated time; ``on_finished`` gets the label of each."""
        seconds = {label: float("inf") if e is None else e for label, e in self.estimates.items()}
        order = sorted(self.methods, key=lambda label: (label != self.baseline, seconds[label]))
        work = [(label, part) for label in order for part in range(len(self.test))]
        for label, part in progress(work) if progress is not None else track(work, "comparing"):
            if label in self.failed:
                continue
            try:
                consensus = self._predict(label, part)
            except Exception as error:  # of any kind: the results of the other methods are still useful
                self.failed[label] = error
                warn_about_data(f"{label} is skipped: {_reason(error)}")
                continue
            values = values_of(consensus, self.truths[part], self.metrics, self.convention, label)
            self.values[label].append(np.array(values))
            if on_finished is not None and self._is_finished(label):
                on_finished(label)

    def _predict(self, label: str, part: int) -> Any:
        """Fit a fresh copy of a method, predict one part and record the times."""
        method = self.methods[label]
        model = type(method)(**method.params())
        start = time.perf_counter()
        model.fit(self.train[part], valid=self.valid[part])
        fitted = time.perf_counter()
        consensus = model.predict(self.test[part])
        fit, predict = self.seconds[label]
        self.seconds[label] = (fit + fitted - start, predict + time.perf_counter() - fitted)
        return consensus

    def _is_finished(self, label: str) -> bool:
        return len(self.values[label]) == len(self.test)

    def finished_methods(self) -> list[str]:
        """The methods that have been evaluated on all parts, in the order in which they were given."""
        return [label for label in self.methods if self._is_finished(label)]

    def skip_reasons(self) -> dict[str, str]:
        """For each method without a result, the reason."""
        slow = {name: f"beyond the budget: it takes {takes}" for name, takes in self.left_out.items()}
        failed = {label: _reason(error) for label, error in self.failed.items()}
        waiting = [label for label in self.methods if not self._is_finished(label) and label not in failed]
        return {**slow, **failed, **dict.fromkeys(waiting, "interrupted before it was finished")}

    def means(self, label: str) -> NDArray[np.float64]:
        """Means of a finished method over the queries of a fold, then over folds, [n_metrics]."""
        by_fold = np.array([mean_over_queries(part) for part in self.values[label]])
        return mean_over_queries(by_fold.T)

    def result(self) -> Comparison:
        """The comparison of the methods that have finished."""
        labels = self.finished_methods()
        if not labels:
            raise self._no_result()
        baseline = self.baseline
        if baseline not in labels:
            baseline = default_baseline(labels)
            text = f"the baseline {self.baseline} is not among the results; differences are to {baseline}"
            warn_about_data(text)
        values = np.array([np.concatenate(self.values[label], axis=1) for label in labels])
        means = np.array([self.means(label) for label in labels])
        warn_of_undefined(self.metrics, values)
        metrics = [str(metric) for metric in self.metrics]
        return Comparison(
            queries=self.queries,
            names=tuple(labels),
            metrics=self.metrics,
            values=values,
            means=means,
            versus=differences_to_baseline(labels, metrics, values, means, baseline, self.seed),
            baseline=baseline,
            methods={label: {"name": m.name, "params": m.params()} for label in labels for m in [self.methods[label]]},
            seconds={label: self.seconds[label] for label in labels},
            skipped=self.skip_reasons(),
            folds=tuple(fold.name for fold in self.folds),
            convention=self.convention,
            seed=self.seed,
        )

    def _no_result(self) -> Exception:
        """The error to raise if no method has finished: the only one, or a summary of several."""
        if len(self.failed) == 1:
            return next(iter(self.failed.values()))
        reasons = [f"{label}: {_reason(error)}" for label, error in self.failed.items()]
        more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        return DataError(f"none of {len(self.methods)} methods could be compared; {'; '.join(reasons[:3])}{more}")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, JuryrankError) else f"{type(error).__name__}: {error}"


def _select_queries(data: Dataset, queries: tuple[str, ...]) -> Dataset:
    """The part of the data with these queries; the score of a query does not depend on the others."""
    if len(queries) == len(data):
        return data
    wanted = set(queries)
    return _take(data, [q for q, name in enumerate(data.queries) if name in wanted])


def _take(data: Dataset, queries: Sequence[int]) -> Dataset:
    return data.take(np.array(queries, np.int64))
