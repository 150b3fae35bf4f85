"""A comparison under way: methods one after the other, and what is known so far."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Fold
from juryrank.errors import DataError, DataWarning, JuryrankError
from juryrank.evaluation.baseline_differences import differences_to_baseline
from juryrank.evaluation.comparison import Comparison
from juryrank.evaluation.evaluate import mean_over_queries, values_of, warn_of_undefined
from juryrank.evaluation.folds import labelled_text
from juryrank.evaluation.time_budget import estimate
from juryrank.methods import Aggregator
from juryrank.metrics import Metric, Truth

Progress = Callable[[Sequence[Any]], Iterable[Any]]
Report = Callable[[str], None]


class Experiment:
    """Runs methods on the same queries; a method that fails is skipped, and ``result`` can be asked for at any time."""

    def __init__(
        self,
        chosen: Mapping[str, Aggregator],
        data: Dataset,
        splits: Sequence[Fold],
        metrics: tuple[Metric, ...],
        *,
        baseline: str,
        convention: str,
        seed: int,
        left_out: Mapping[str, str],
    ) -> None:
        self.chosen, self.splits, self.metrics = chosen, splits, metrics
        self.baseline, self.convention, self.seed, self.left_out = baseline, convention, seed, left_out
        self.learned = [_take(data, fold.train) for fold in splits] or [data]
        self.chosen_on = [_take(data, fold.valid) if fold.valid else None for fold in splits] or [None]
        self.tested = [_take(data, fold.test) for fold in splits] or [data]
        self.truths = [Truth(part) for part in self.tested]
        self.queries = tuple(query for truth in self.truths for query in truth.queries)
        if not self.queries:
            raise DataError(f"a comparison needs queries with labels, and {labelled_text(0, data)}")
        self.tested = [_named(part, truth.queries) for part, truth in zip(self.tested, self.truths, strict=True)]
        self.estimates = {label: estimate(m, data, splits) for label, m in chosen.items()}
        self.values: dict[str, list[NDArray[np.float64]]] = {label: [] for label in chosen}
        self.seconds = dict.fromkeys(chosen, (0.0, 0.0))
        self.failed: dict[str, Exception] = {}

    def run(self, progress: Progress | None = None, report: Report | None = None) -> None:
        """All methods, the baseline first, then by their estimates; ``report`` gets the label of each that finished."""
        waiting = {label: float("inf") if e is None else e for label, e in self.estimates.items()}
        order = sorted(self.chosen, key=lambda label: (label != self.baseline, waiting[label]))
        work = [(label, part) for label in order for part in range(len(self.tested))]
        for label, part in progress(work) if progress else work:
            if label in self.failed:
                continue
            try:
                consensus = self._predict(label, part)
            except Exception as error:  # whatever it is: the other methods are worth having
                self.failed[label] = error
                warnings.warn(f"{label} is skipped: {_reason(error)}", DataWarning, stacklevel=3)
                continue
            values = values_of(consensus, self.truths[part], self.metrics, self.convention, label)
            self.values[label].append(np.array(values))
            if report is not None and self._is_finished(label):
                report(label)

    def _predict(self, label: str, part: int) -> Any:
        """Fit a fresh copy of a method, predict one part, keep the times."""
        given = self.chosen[label]
        model = type(given)(**given.params())
        start = time.perf_counter()
        model.fit(self.learned[part], valid=self.chosen_on[part])
        fitted = time.perf_counter()
        consensus = model.predict(self.tested[part])
        fit, predict = self.seconds[label]
        self.seconds[label] = (fit + fitted - start, predict + time.perf_counter() - fitted)
        return consensus

    def _is_finished(self, label: str) -> bool:
        return len(self.values[label]) == len(self.tested)

    def finished(self) -> list[str]:
        """The methods that have been tested on all parts, as they were given."""
        return [label for label in self.chosen if self._is_finished(label)]

    def skipped(self) -> dict[str, str]:
        """Why a method is not among those that finished."""
        slow = {name: f"beyond the budget: it takes {takes}" for name, takes in self.left_out.items()}
        failed = {label: _reason(error) for label, error in self.failed.items()}
        waiting = [label for label in self.chosen if not self._is_finished(label) and label not in failed]
        return {**slow, **failed, **dict.fromkeys(waiting, "interrupted before it was finished")}

    def means(self, label: str) -> NDArray[np.float64]:
        """Means of a finished method over the queries of a fold, then over folds, [n_metrics]."""
        by_fold = np.array([mean_over_queries(part) for part in self.values[label]])
        return mean_over_queries(by_fold.T)

    def result(self) -> Comparison:
        """The comparison of the methods that finished."""
        done = self.finished()
        if not done:
            raise self._nothing()
        base = self.baseline
        if base not in done:
            base = "rrf" if "rrf" in done else done[0]
            text = f"the baseline {self.baseline} is not among the results; differences are to {base}"
            warnings.warn(text, DataWarning, stacklevel=3)
        values = np.array([np.concatenate(self.values[label], axis=1) for label in done])
        means = np.array([self.means(label) for label in done])
        warn_of_undefined(self.metrics, values)
        return Comparison(
            queries=self.queries,
            names=tuple(done),
            metrics=self.metrics,
            values=values,
            means=means,
            versus=differences_to_baseline(done, [str(m) for m in self.metrics], values, means, base, self.seed),
            baseline=base,
            methods={label: {"name": self.chosen[label].name, "params": self.chosen[label].params()} for label in done},
            seconds={label: self.seconds[label] for label in done},
            skipped=self.skipped(),
            folds=tuple(fold.name for fold in self.splits),
            convention=self.convention,
            seed=self.seed,
        )

    def _nothing(self) -> Exception:
        """What to raise where no method finished: the one error, or all of them."""
        if len(self.failed) == 1:
            return next(iter(self.failed.values()))
        shown = [f"{label}: {_reason(error)}" for label, error in self.failed.items()]
        more = f"; and {len(shown) - 3} more" if len(shown) > 3 else ""
        return DataError(f"none of {len(self.chosen)} methods could be compared; {'; '.join(shown[:3])}{more}")


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, JuryrankError) else f"{type(error).__name__}: {error}"


def _named(data: Dataset, queries: tuple[str, ...]) -> Dataset:
    """The part of the data that the truth speaks of; a query scores the same without the others."""
    if len(queries) == len(data):
        return data
    wanted = set(queries)
    return _take(data, [q for q, name in enumerate(data.queries) if name in wanted])


def _take(data: Dataset, queries: Sequence[int]) -> Dataset:
    return data.take(np.array(queries, np.int64))
