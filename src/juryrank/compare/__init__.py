"""Methods side by side on one data set: means, differences to a baseline, tests of significance."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.compare.comparison import Comparison, Versus
from juryrank.compare.folds import splits_of
from juryrank.compare.significance import holm, randomisations, t_test, win_tie_loss
from juryrank.data import Dataset, Fold
from juryrank.errors import DataError, ParameterError, UnknownNameError
from juryrank.evaluate import as_metrics, mean_over_queries, values_of, warn_of_undefined
from juryrank.methods import Aggregator, method
from juryrank.metrics import Metric, Truth

__all__ = ["Comparison", "Versus", "compare"]

Methods = Sequence[str | Aggregator] | Mapping[str, str | Aggregator]
Progress = Callable[[Sequence[Any]], Iterable[Any]]


def compare(
    methods: Methods,
    data: Dataset,
    metrics: str | Metric | Sequence[str | Metric],
    *,
    folds: int | Sequence[Fold] | None = None,
    baseline: str | None = None,
    convention: str = "trec",
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Fit and test methods on the same queries.

    ``folds`` is a number of parts (seeded, by query: one to test, the next to choose on, the others to learn from) or
    a list of Fold; by default the folds of the data. Without any, methods that need no labels rank all queries at
    once. Means are over the queries of a fold, then over folds; tests take the queries of all folds together. The
    baseline is ``rrf`` where it takes part, else the first method. ``progress`` is wrapped around the work, as
    ``rich.progress.track`` is. The first use of a kernel loads it, which counts in the seconds.
    """
    chosen, wanted = by_label(methods), as_metrics(metrics)
    if baseline is not None and baseline not in chosen:
        raise UnknownNameError.of("method in this comparison", baseline, chosen)
    base = baseline or ("rrf" if "rrf" in chosen else next(iter(chosen)))
    splits = splits_of(folds, data, seed)
    learner = next((label for label, m in chosen.items() if m.supervised), None)
    if learner is not None and not splits:
        raise DataError(f"{learner} learns from labels, and must be tested on other queries: give folds=5, say")
    trial = _Trial(data, splits, wanted, convention)
    work = [(label, part) for part in range(len(trial.tested)) for label in chosen]
    for label, part in progress(work) if progress else work:
        trial.run(label, chosen[label], part)
    values, means = trial.pooled(chosen), trial.means(chosen)
    warn_of_undefined(wanted, values)
    return Comparison(
        queries=tuple(query for truth in trial.truths for query in truth.queries),
        names=tuple(chosen),
        metrics=wanted,
        values=values,
        means=means,
        versus=_versus(list(chosen), [str(m) for m in wanted], values, means, base, seed),
        baseline=base,
        methods={label: {"name": m.name, "params": m.params()} for label, m in chosen.items()},
        seconds={label: (spent[0], spent[1]) for label, spent in trial.seconds.items()},
        folds=tuple(fold.name for fold in splits),
        convention=convention,
        seed=seed,
    )


class _Trial:
    """The parts of the data to test on, and what each method scored there."""

    def __init__(self, data: Dataset, splits: Sequence[Fold], metrics: Sequence[Metric], convention: str) -> None:
        self.metrics, self.convention = metrics, convention
        self.learned = [_take(data, fold.train) for fold in splits] or [data]
        self.chosen_on = [_take(data, fold.valid) if fold.valid else None for fold in splits] or [None]
        self.tested = [_take(data, fold.test) for fold in splits] or [data]
        self.truths = [Truth(part) for part in self.tested]
        self.values: dict[str, list[NDArray[np.float64]]] = {}
        self.seconds: dict[str, list[float]] = {}

    def run(self, label: str, given: Aggregator, part: int) -> None:
        """Fit a fresh copy of a method, predict one part, keep values and times."""
        model = type(given)(**given.params())
        start = time.perf_counter()
        model.fit(self.learned[part], valid=self.chosen_on[part])
        fitted = time.perf_counter()
        consensus = model.predict(self.tested[part])
        spent = self.seconds.setdefault(label, [0.0, 0.0])
        spent[1] += time.perf_counter() - fitted
        spent[0] += fitted - start
        values = values_of(consensus, self.truths[part], self.metrics, self.convention, label)
        self.values.setdefault(label, []).append(np.array(values))

    def pooled(self, labels: Iterable[str]) -> NDArray[np.float64]:
        """The values of all folds together, [n_names, n_metrics, n_queries]."""
        return np.array([np.concatenate(self.values[label], axis=1) for label in labels])

    def means(self, labels: Iterable[str]) -> NDArray[np.float64]:
        """Means over the queries of a fold, then over folds, [n_names, n_metrics]."""
        by_fold = [[mean_over_queries(part) for part in self.values[label]] for label in labels]
        return mean_over_queries(np.array(by_fold).transpose(0, 2, 1))


def by_label(methods: Methods) -> dict[str, Aggregator]:
    """Methods by the label they have in the table; a list gives each its own name."""
    if isinstance(methods, str | Aggregator):
        methods = [methods]
    if isinstance(methods, Mapping):
        pairs = [(str(label), m) for label, m in methods.items()]
    else:
        pairs = [(m if isinstance(m, str) else m.name, m) for m in methods]
    if not pairs:
        raise ParameterError("at least one method is needed: rrf, say")
    labels = [label for label, _ in pairs]
    for label in labels:
        if labels.count(label) > 1:
            raise ParameterError(f"every method needs a label of its own, got {label!r} twice; give {{label: method}}")
    return {label: method(m) if isinstance(m, str) else m for label, m in pairs}


def _take(data: Dataset, queries: Sequence[int]) -> Dataset:
    return data.take(np.array(queries, np.int64))


def _versus(
    names: list[str],
    metrics: list[str],
    values: NDArray[np.float64],
    means: NDArray[np.float64],
    baseline: str,
    seed: int,
) -> dict[tuple[str, str], Versus]:
    """Every other method against the baseline by every metric, with Holm's correction over the methods of a column."""
    base = names.index(baseline)
    others = [n for n in range(len(names)) if n != base]
    if not others:
        return {}
    difference = values[others] - values[base]
    drawn = randomisations(difference.reshape(-1, difference.shape[-1]).T, seed=seed).reshape(difference.shape[:2])
    found = {}
    for k, metric in enumerate(metrics):
        p_t, p_random = np.array([t_test(d) for d in difference[:, k]]), drawn[:, k]
        p_t_holm, p_random_holm = holm(p_t), holm(p_random)
        for i, n in enumerate(others):
            found[names[n], metric] = Versus(
                float(means[n, k] - means[base, k]),
                float(p_t[i]),
                float(p_t_holm[i]),
                float(p_random[i]),
                float(p_random_holm[i]),
                *win_tie_loss(difference[i, k]),
            )
    return found
