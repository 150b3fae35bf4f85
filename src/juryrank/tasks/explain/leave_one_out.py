"""Leave one expert out: how the metrics change without each expert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.evaluation.folds import splits_of
from juryrank.methods import Aggregator
from juryrank.metrics import Truth, parse_metric
from juryrank.progress import track
from juryrank.tasks.explain.contributions import drop_expert

FOLDS = 5


@dataclass(frozen=True)
class LeaveOneOut:
    """Means of the metrics with all experts; for each expert left out, means, changes and their standard errors."""

    metrics: tuple[str, ...]
    refitted: bool
    whole: tuple[float, ...]
    left_out: dict[str, tuple[tuple[float, float, float], ...]]  # by expert, one triple per metric

    @property
    def dispensable(self) -> list[str]:
        """Experts whose removal does not lower the first metric, the most dispensable first."""
        change = {name: rows[0][1] for name, rows in self.left_out.items()}
        return sorted((name for name in change if change[name] >= 0), key=lambda name: -change[name])


def leave_one_out(model: Aggregator, data: Dataset, metrics: Sequence[str], *, refit: bool = False) -> LeaveOneOut:
    """Evaluate the metrics without each expert in turn.

    The fitted model predicts again without the expert's lists. With ``refit`` the method is fitted again without them
    and evaluated on held-out queries (the folds of the data, or five folds).
    """
    if not data.has_truth:
        raise DataError("leaving experts out needs labels, and the data has none; give labels=")
    values = _evaluate_refits if refit else _evaluate_model
    whole = values(model, data, metrics)
    left_out = {}
    for k in track(np.unique(data.rankings.list_expert).tolist(), "leaving experts out"):
        change = values(model, drop_expert(data, k), metrics) - whole
        left_out[data.experts[k]] = tuple(map(_summary, whole, change))
    return LeaveOneOut(tuple(metrics), refit, tuple(float(np.nanmean(v)) for v in whole), left_out)


def _evaluate_model(model: Aggregator, data: Dataset, metrics: Sequence[str]) -> Floats:
    """[n_metrics, n_queries]."""
    judged = Truth(data).judge(model.predict(data))
    return np.array([parse_metric(metric).per_query(judged) for metric in metrics])


def _evaluate_refits(model: Aggregator, data: Dataset, metrics: Sequence[str]) -> Floats:
    parts = []
    for fold in splits_of(None if data.folds else FOLDS, data, seed=0):
        train, valid, test = (
            replace(data, folds=()).take(np.array(part, np.int64)) if part else None
            for part in (fold.train, fold.valid, fold.test)
        )
        assert train is not None
        assert test is not None
        fresh = type(model)(**model.params()).fit(train, valid=valid)
        parts.append(_evaluate_model(fresh, test, metrics))
    return np.concatenate(parts, axis=1)


def _summary(whole: Floats, change: Floats) -> tuple[float, float, float]:
    known = change[~np.isnan(change)]
    error = float(known.std(ddof=1) / np.sqrt(len(known))) if len(known) > 1 else np.nan
    return float(np.nanmean(whole + change)), float(known.mean()), error
