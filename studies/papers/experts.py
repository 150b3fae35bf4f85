"""What single experts are worth: figure 3 of CIKM 2012 and table 3 of CIKM 2013."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.rankings import Floats
from juryrank.evaluation.evaluate import mean_over_queries
from juryrank.evaluation.folds import splits_of
from juryrank.kernels.ragged import parents
from juryrank.methods import Aggregator, method
from juryrank.methods.learned.crf import CRF
from juryrank.metrics import Truth, parse_metric
from juryrank.progress import track
from juryrank.training.panel import Panel
from juryrank.training.rows import Rows
from juryrank.training.wins import win_values

METRICS = (*(f"nDCG@{k}" for k in range(1, 6)), "AP")
TESTED = ("nDCG@5", "AP")
UNUSED = ("13", "20", "24", "25")  # experts of MQ2008-agg that the paper's field does not use

Part = tuple[Dataset, Dataset | None, Dataset]  # to learn from, to choose on, to test on
Made = Callable[[Part], tuple[Aggregator, Part]]


def combined_or_individual(
    data: Dataset, seeds: Sequence[int] = (0,), metrics: Sequence[str] = METRICS, form: str = "log-rank"
) -> list[dict[str, Any]]:
    """Singular vectors of the sum of all experts' matrices, those of each expert, and reciprocal rank fusion.

    A row has means over the queries of a fold, then over folds (and seeds), × 100, and the change from the combined
    features with its standard error over queries.
    """

    def learner(experts: str, seed: int) -> Made:
        return lambda part: _fitted(method("svd-lambdarank", experts=experts, form=form, seed=seed), part)

    ways: dict[str, Sequence[Made]] = {
        "combined": [learner("shared", seed) for seed in seeds],
        "individual": [learner("individual", seed) for seed in seeds],
        "rrf": [lambda part: _fitted(method("rrf"), part)],
    }
    values = {label: [_values(data, made, metrics, label) for made in each] for label, each in ways.items()}
    return [{"features": label, **_means(values[label], values["combined"], metrics)} for label in ways]


def without_unused(
    data: Dataset,
    seeds: Sequence[int] = (0,),
    metrics: Sequence[str] = METRICS,
    named: Sequence[str] = UNUSED,
    **params: Any,
) -> list[dict[str, Any]]:
    """The field with all experts, and trained again without some: those named, and as many that it uses least.

    Which ones it uses least is found on the queries to learn from, fold by fold. Rows are as in the other study;
    ``without`` names the experts, and those of each fold apart.
    """
    named = [name for name in named if name in data.experts]
    whole: dict[tuple[int, tuple[str, ...]], Aggregator] = {}
    left: dict[str, list[str]] = {"crf": [""], "crf*, named": [" ".join(named)], "crf*, least used": []}

    def all_experts(seed: int) -> Made:
        def fit(part: Part) -> tuple[Aggregator, Part]:
            model, part = _fitted(method("crf", seed=seed, **params), part)
            whole[seed, part[2].queries] = model
            return model, part

        return fit

    def without_named(seed: int) -> Made:
        return lambda part: _fitted(method("crf", seed=seed, **params), _without(part, named))

    def without_least(seed: int) -> Made:
        def fit(part: Part) -> tuple[Aggregator, Part]:
            model = whole[seed, part[2].queries]
            assert isinstance(model, CRF)
            names = least_used(model, part[0], len(named))
            left["crf*, least used"].append(" ".join(names))
            return _fitted(method("crf", seed=seed, **params), _without(part, names))

        return fit

    ways = {"crf": all_experts, "crf*, named": without_named, "crf*, least used": without_least}
    values = {label: [_values(data, made(seed), metrics, label) for seed in seeds] for label, made in ways.items()}
    return [
        {"model": label, "without": " | ".join(left[label]), **_means(values[label], values["crf"], metrics)}
        for label in ways
    ]


def least_used(model: CRF, data: Dataset, n: int) -> list[str]:
    """The ``n`` experts whose lists move scores least: by the variance inside queries of what they add to an item."""
    r, panel = data.rankings, Panel(tuple(model.experts_))
    rows = Rows.of_entries(r, panel, win_values(r, model.form, mean=model.potentials == "mean")).dense()[:, :-1]
    added: Floats = np.einsum("skf,kf->sk", rows, model.weights_.reshape(-1, 3)[:-1])
    query, sums = parents(r.slot_ptr), np.zeros((len(r), len(model.experts_)))
    np.add.at(sums, query, added)
    spread = ((added - sums[query] / r.query_size[query, None]) ** 2).sum(axis=0)
    chosen = np.argsort(spread, kind="stable")[:n]
    return [model.experts_[k] for k in sorted(chosen)]


def without(data: Dataset, experts: Sequence[str]) -> Dataset:
    """The same queries and items without the lists of some experts."""
    r = data.rankings
    kept = r.places_in(experts)[r.list_expert] < 0
    return replace(data, rankings=r.keep_lists(kept))


def _without(part: Part, experts: Sequence[str]) -> Part:
    train, valid, test = part
    return without(train, experts), None if valid is None else without(valid, experts), without(test, experts)


def _fitted(model: Aggregator, part: Part) -> tuple[Aggregator, Part]:
    return model.fit(part[0], valid=part[1]), part


def _values(data: Dataset, made: Made, metrics: Sequence[str], label: str) -> list[Floats]:
    """[n_metrics, n_queries] of each fold, by a model that has not seen its test queries."""
    found = []
    for fold in track(splits_of(None if data.folds else 5, data, seed=0), label):
        train, valid, test = (
            replace(data, folds=()).take(np.array(part, np.int64)) for part in (fold.train, fold.valid, fold.test)
        )
        model, (_, _, asked) = made((train, valid if fold.valid else None, test))
        judged = Truth(asked).judge(model.predict(asked), convention="letor")
        found.append(np.array([parse_metric(metric).per_query(judged) for metric in metrics]))
    return found


def _means(values: Sequence[list[Floats]], base: Sequence[list[Floats]], metrics: Sequence[str]) -> dict[str, float]:
    """By metric the mean, × 100; by tested metric the change from the base, and its standard error over queries."""
    means = 100 * np.mean([[mean_over_queries(fold) for fold in seed] for seed in values], axis=(0, 1))
    row = dict(zip(metrics, means.tolist(), strict=True))
    if values is base:
        return row
    gain = 100 * (_of_queries(values) - _of_queries(base))
    for metric in (metric for metric in TESTED if metric in metrics):
        change = gain[list(metrics).index(metric)]
        row[f"{metric} change"] = float(change.mean())
        row[f"{metric} error"] = float(change.std(ddof=1) / np.sqrt(len(change)))
    return row


def _of_queries(values: Sequence[list[Floats]]) -> Floats:
    found: Floats = np.mean([np.concatenate(seed, axis=1) for seed in values], axis=0)
    return found
