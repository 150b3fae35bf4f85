"""A comparison while it runs: one method after the other, and the results so far."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Consensus, Dataset, Fold
from juryrank.data.arrays import Floats
from juryrank.errors import DataError, JuryrankError, warn_about_data
from juryrank.evaluation.baseline_differences import differences_to_baseline
from juryrank.evaluation.comparison import Comparison
from juryrank.evaluation.evaluate import mean_over_queries, warn_of_undefined
from juryrank.evaluation.expert_rows import BEST_EXPERT, ExpertRows, expert_label, is_expert_label
from juryrank.evaluation.folds import labelled_text
from juryrank.evaluation.judged_shares import JudgedShares, shares_beside
from juryrank.evaluation.selection import Selection, default_baseline
from juryrank.evaluation.time_budget import estimate
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.held_out import judged_share
from juryrank.learning.label_survey import LabelSurvey
from juryrank.learning.verdict import EXPERT, LEARNED, RRF, Verdict
from juryrank.learning.verdict_rule import decide, expectations_of
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
        experts: bool = False,
        unjudged: str = "irrelevant",
        judged_share: bool = True,
    ) -> None:
        self.methods, self.baseline, self.left_out = selection.methods, selection.baseline, selection.left_out
        self.folds, self.metrics, self.convention, self.seed = folds, metrics, convention, seed
        self.train = [_take(data, fold.train) for fold in folds] or [data]
        self.valid = [_take(data, fold.valid) if fold.valid else None for fold in folds] or [None]
        test = [_take(data, fold.test) for fold in folds] or [data]
        self.truths = [Truth(part, unjudged) for part in test]
        self.unjudged = unjudged
        self.shares = shares_beside(metrics) if judged_share and data.labels is not None else ()
        self.queries = tuple(query for truth in self.truths for query in truth.queries)
        if not self.queries:
            raise DataError(f"a comparison needs queries with labels, and {labelled_text(0, data.queries)}")
        self.test = [_select_queries(part, truth.queries) for part, truth in zip(test, self.truths, strict=True)]
        self.estimates = {label: estimate(m, data, folds) for label, m in self.methods.items()}
        # By method and fold, [n_metrics + n_shares, n_queries].
        self.values: dict[str, list[NDArray[np.float64]]] = {label: [] for label in self.methods}
        self.judged: dict[str, list[Floats]] = {label: [] for label in self.methods}  # Judged@10
        self._data = data
        self.expert_labels = self.experts.labels() if experts else []
        if is_expert_label(self.baseline) and self.baseline not in self.methods:
            self.expert_labels = list(dict.fromkeys([self.experts.require(self.baseline), *self.expert_labels]))
        self.seconds = dict.fromkeys(self.methods, (0.0, 0.0))
        self.failed: dict[str, Exception] = {}

    @property
    def n_parts(self) -> int:
        """The number of parts that are tested: one for each fold, or one."""
        return max(len(self.folds), 1)

    @cached_property
    def experts(self) -> ExpertRows:
        """Each expert alone."""
        return ExpertRows(self._data, self.folds, self.truths, (*self.metrics, *self.shares), self.convention)

    @cached_property
    def survey(self) -> LabelSurvey:
        """What labels there are."""
        return LabelSurvey.of(self._data)

    def run(self, progress: Progress | None = None, on_finished: Callable[[str], None] | None = None) -> None:
        """Run all methods, the baseline first, then by estimated time; ``on_finished`` gets the label of each."""
        seconds = {label: float("inf") if e is None else e for label, e in self.estimates.items()}
        order = sorted(self.methods, key=lambda label: (label != self.baseline, seconds[label]))
        work = [(label, part) for label in order for part in range(self.n_parts)]
        for label, part in progress(work) if progress is not None else track(work, "comparing"):
            if label in self.failed:
                continue
            try:
                consensus = self._predict(label, part)
            except Exception as error:  # of any kind: the results of the other methods are still useful
                self._skip(label, error)
                continue
            judged = self.truths[part].judge(consensus, convention=self.convention, name=label)
            self.values[label].append(np.array([metric.per_query(judged) for metric in (*self.metrics, *self.shares)]))
            self.judged[label].append(judged_share(judged))
            if on_finished is not None and self._is_finished(label):
                on_finished(label)

    def _skip(self, label: str, error: Exception) -> None:
        self.failed[label] = error
        warn_about_data(f"{label} is skipped: {_reason(error)}")

    def _predict(self, label: str, part: int) -> Any:
        """Fit a fresh copy of a method, predict one part and record the times."""
        method = self.methods[label]
        model = type(method)(**method.params())
        start = time.perf_counter()
        model.fit(self.train[part], valid=self.valid[part])
        fitted = time.perf_counter()
        consensus = model.predict(self.test[part], warn_unknown=not model.supervised)  # the folds are our choice
        fit, predict = self.seconds[label]
        self.seconds[label] = (fit + fitted - start, predict + time.perf_counter() - fitted)
        return consensus

    def _is_finished(self, label: str) -> bool:
        return len(self.values[label]) == self.n_parts

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
        return self._all_means(label)[: len(self.metrics)]

    def _all_means(self, label: str) -> NDArray[np.float64]:
        by_fold = np.array([mean_over_queries(part) for part in self._parts(label)])
        return mean_over_queries(by_fold.T)

    def _parts(self, label: str) -> list[NDArray[np.float64]]:
        return self.values[label] if label in self.methods else self.experts.parts(label)

    def require_results(self) -> list[str]:
        """The methods that have finished; an error if there are none."""
        finished = self.finished_methods()
        if not finished:
            raise self._no_result()
        return finished

    def result(self) -> Comparison:
        """The comparison of the methods that have finished."""
        finished = self.require_results()
        labels = [*finished, *self.expert_labels]
        baseline = self.baseline
        if baseline not in labels:
            baseline = default_baseline(finished)
            text = f"the baseline {self.baseline} is not among the results; differences are to {baseline}"
            warn_about_data(text)
        values = np.array([np.concatenate(self._parts(label), axis=1)[: len(self.metrics)] for label in labels])
        means, shares = np.split(np.array([self._all_means(label) for label in labels]), [len(self.metrics)], axis=1)
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
            methods={
                label: {"name": m.name, "params": m.params()} for label in finished for m in [self.methods[label]]
            },
            seconds={label: self.seconds.get(label, (0.0, 0.0)) for label in labels},
            skipped=self.skip_reasons(),
            folds=tuple(fold.name for fold in self.folds),
            convention=self.convention,
            seed=self.seed,
            verdict=self.verdict(),
            judged=JudgedShares(self.shares, shares),
            unjudged=self.unjudged,
        )

    def verdict(self) -> Verdict | None:
        """On the best of the learned methods by the first metric; None without folds or without a learned method."""
        candidates = [label for label in self.finished_methods() if self.methods[label].supervised]
        if not self.folds or not candidates:
            return None
        learned = max(candidates, key=lambda label: float(self.means(label)[0]))
        rrf, rrf_judged = self._rrf()
        values = {LEARNED: _first_metric(self.values[learned]), RRF: np.concatenate(rrf)}
        shares = {LEARNED: self.judged[learned], RRF: rrf_judged}
        best, alone = self.experts.best(), self.experts.first_metric()
        if best is not None:
            values[EXPERT] = _first_metric(self.experts.parts(BEST_EXPERT))
            shares[EXPERT] = self.experts.judged_parts(expert_label(self.experts.experts[best]))
        known = ~np.isnan(sum(values.values()))
        return decide(
            {name: v[known] for name, v in values.items()},
            np.ones(int(known.sum())),
            method=learned,
            metric=str(self.metrics[0]),
            judged={name: float(np.concatenate(part).mean()) for name, part in shares.items()},
            expert=None if best is None else self.experts.experts[best],
            best=best or 0,
            experts=None if best is None else alone[known],
            labels=self.survey.kind,
            expectations=expectations_of(self.methods[learned].name),
        )

    def _rrf(self) -> tuple[list[Floats], list[Floats]]:
        """The first metric and Judged@10 of RRF in the test queries of each fold."""
        rrf = [Consensus(part.rankings, rrf_scores(part.rankings)) for part in self.test]
        judged = [truth.judge(one, convention=self.convention) for truth, one in zip(self.truths, rrf, strict=True)]
        return [self.metrics[0].per_query(one) for one in judged], [judged_share(one) for one in judged]

    def _no_result(self) -> Exception:
        """The error to raise if no method has finished: the only one, or a summary of several."""
        if len(self.failed) == 1:
            return next(iter(self.failed.values()))
        reasons = [f"{label}: {_reason(error)}" for label, error in self.failed.items()]
        more = f"; and {len(reasons) - 3} more" if len(reasons) > 3 else ""
        return DataError(f"none of {len(self.methods)} methods could be compared; {'; '.join(reasons[:3])}{more}")


def _first_metric(parts: Sequence[NDArray[np.float64]]) -> Floats:
    """The values of the first metric in all folds."""
    return np.concatenate([part[0] for part in parts])


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
