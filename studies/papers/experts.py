"""Which experts a learned method uses: shared or individual features, and fewer experts (CIKM 2012 and 2013)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import juryrank as jr
from studies.arrays import Floats, slot_query
from studies.console import track
from studies.learners import learner
from studies.papers.folds import Part, own_splits, part_of, rotation

METRICS = (*(f"nDCG@{k}" for k in range(1, 6)), "AP")
TESTED = ("nDCG@5", "AP")
UNUSED = ("13", "20", "24", "25")  # experts of MQ2008-agg that the paper's CRF does not use

Model = Any  # a fitted method of juryrank
Fit = Callable[[Part], tuple[Model, Part]]  # a model, and the data it is for


def combined_or_individual(
    data: jr.Dataset, seeds: Sequence[int] = (0,), metrics: Sequence[str] = METRICS, **params: Any
) -> list[dict[str, Any]]:
    """Singular vectors of the sum of all experts' matrices, those of each expert, and reciprocal rank fusion.

    A row has means over the queries of a fold, then over folds (and seeds), × 100, and the change from the combined
    features with its standard error over queries; ``params`` are those of the learner.
    """

    def variant(experts: str, seed: int) -> Fit:
        return lambda part: _fit(learner("svd-lambdarank", experts=experts, seed=seed, **params), part)

    variants: dict[str, Sequence[Fit]] = {
        "combined": [variant("shared", seed) for seed in seeds],
        "individual": [variant("individual", seed) for seed in seeds],
        "rrf": [lambda part: _fit(jr.method("rrf"), part)],
    }
    values = {label: [_values(data, fit, metrics, label) for fit in each] for label, each in variants.items()}
    return [{"features": label, **_means(values[label], values["combined"], metrics)} for label in variants]


def without_unused(
    data: jr.Dataset,
    seeds: Sequence[int] = (0,),
    metrics: Sequence[str] = METRICS,
    named: Sequence[str] = UNUSED,
    **params: Any,
) -> list[dict[str, Any]]:
    """The CRF with all experts, and trained again without some: the named ones, and as many that it uses least.

    Which experts it uses least is decided on the training queries of each fold. Rows are as in the other study;
    ``without`` names the experts, separately for each fold.
    """
    named = [name for name in named if name in data.experts]
    whole: dict[tuple[int, tuple[str, ...]], Model] = {}
    removed: dict[str, list[str]] = {"crf": [""], "crf*, named": [" ".join(named)], "crf*, least used": []}

    def all_experts(seed: int) -> Fit:
        def fit(part: Part) -> tuple[Model, Part]:
            model, part = _fit(learner("crf", seed=seed, **params), part)
            whole[seed, part.test.queries] = model
            return model, part

        return fit

    def without_named(seed: int) -> Fit:
        return lambda part: _fit(learner("crf", seed=seed, **params), _part_without(part, named))

    def without_least(seed: int) -> Fit:
        def fit(part: Part) -> tuple[Model, Part]:
            names = least_used(whole[seed, part.test.queries], part.train, len(named))
            removed["crf*, least used"].append(" ".join(names))
            return _fit(learner("crf", seed=seed, **params), _part_without(part, names))

        return fit

    variants = {"crf": all_experts, "crf*, named": without_named, "crf*, least used": without_least}
    values = {label: [_values(data, fit(seed), metrics, label) for seed in seeds] for label, fit in variants.items()}
    return [
        {"model": label, "without": " | ".join(removed[label]), **_means(values[label], values["crf"], metrics)}
        for label in variants
    ]


def least_used(model: Model, data: jr.Dataset, n: int) -> list[str]:
    """The ``n`` experts whose lists change scores least: by the variance of the change within queries."""
    query, size = slot_query(data.rankings), np.maximum(data.rankings.query_size, 1)
    scores = model.predict(data).scores
    spread = {}
    for name in model.experts_:
        change = scores - model.predict(without(data, [name])).scores
        change -= (np.bincount(query, change, len(data)) / size)[query]
        spread[name] = float(change @ change)
    chosen = sorted(spread, key=spread.__getitem__)[:n]
    return [name for name in model.experts_ if name in chosen]


def without(data: jr.Dataset, experts: Sequence[str]) -> jr.Dataset:
    """The same queries and items without the lists of some experts."""
    r = data.rankings
    kept = np.array([name not in experts for name in r.experts])[r.list_expert]
    return replace(data, rankings=r.keep_lists(kept))


def _part_without(part: Part, experts: Sequence[str]) -> Part:
    valid = None if part.valid is None else without(part.valid, experts)
    return Part(without(part.train, experts), valid, without(part.test, experts))


def _fit(model: Model, part: Part) -> tuple[Model, Part]:
    return model.fit(part.train, valid=part.valid), part


def _values(data: jr.Dataset, fit: Fit, metrics: Sequence[str], label: str) -> list[Floats]:
    """[n_metrics, n_queries] of the test queries of each fold."""
    values = []
    for split in track(own_splits(data) or rotation(data, 5), label):
        model, part = fit(part_of(data, split))
        values.append(jr.evaluate(model.predict(part.test), part.test, metrics, convention="letor").values[0])
    return values


def _means(values: Sequence[list[Floats]], base: Sequence[list[Floats]], metrics: Sequence[str]) -> dict[str, float]:
    """By metric the mean, × 100; by tested metric the change from the base, and its standard error over queries."""
    means = 100 * np.mean([[np.nanmean(fold, axis=1) for fold in seed] for seed in values], axis=(0, 1))
    row = dict(zip(metrics, means.tolist(), strict=True))
    if values is base:
        return row
    gain = 100 * (_by_query(values) - _by_query(base))
    for metric in (metric for metric in TESTED if metric in metrics):
        change = gain[list(metrics).index(metric)]
        row[f"{metric} change"] = float(change.mean())
        row[f"{metric} error"] = float(change.std(ddof=1) / np.sqrt(len(change)))
    return row


def _by_query(values: Sequence[list[Floats]]) -> Floats:
    mean: Floats = np.mean([np.concatenate(seed, axis=1) for seed in values], axis=0)
    return mean
