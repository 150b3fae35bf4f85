"""Learned methods: inference per query with more experts and items, and training on one fold."""

from __future__ import annotations

from functools import partial

import numpy as np

import juryrank as jr
from studies.arrays import ranks_by_expert
from studies.papers.runtime import DENSE, MODELS, Scale, runtime
from studies.speed.clock import Effort, Timing, time_call, time_once
from studies.speed.inputs import Inputs
from studies.speed.peers import load, silent
from studies.speed.table import Results, Row, skipped_row

TRAINED = ("ridge", "lambdarank", "crf")
TREES = 100


def measure(inputs: Inputs, effort: Effort) -> Results:
    """The smallest and largest size of the runtime study, then training."""
    return [*_inference(inputs.data), *_training(inputs.data)], []


def _inference(data: jr.Dataset) -> list[Row]:
    rows = []
    for found in runtime(data, Scale(times=(1, 10), repeats=3, dense_queries=4)):
        size = f"{found['expansion']} ×{found['times']}"
        dense, ours = (Timing(None, found[name] / 1000, 3) for name in (f"{DENSE} ms", "features ms"))
        rows.append(
            Row(
                f"SVD features and ranking of a query, {size}",
                "dense numpy SVD",
                ours,
                dense,
                "the peer's time is the factorisation alone",
            )
        )
        for label in MODELS:
            spent = Timing(None, found[f"{label} ms"] / 1000, 3)
            rows.append(Row(f"{label}, one query, {size}", "–", spent, None, f"{found['entries']:.0f} entries"))
    ridge = jr.method("ridge").fit(data)
    spent, _ = time_call(lambda: ridge.predict(data).order)
    return [*rows, Row("ridge, one query", "–", spent.over(len(data)), None, "")]


def _training(data: jr.Dataset) -> list[Row]:
    """One fit each, on the training queries of the first fold; LightGBM gets the table of ranks."""
    train = data.take(np.array(data.folds[0].train)) if data.folds else data
    spent: dict[str, Timing] = {}
    for name in TRAINED:
        (first, _), (seconds, _) = (time_once(partial(jr.method(name).fit, train)) for _ in range(2))
        spent[name] = Timing(first, seconds, 1)
    if load("lightgbm") is None:
        return [skipped_row(f"training on a fold, {name}", "lightgbm", spent[name]) for name in TRAINED]
    seconds, _ = time_once(lambda: _by_lightgbm(train))
    return [
        Row(f"training on a fold, {name}", "lightgbm", spent[name], Timing(None, seconds, 1),
            f"lambdarank, {TREES} trees on the table of ranks: another model")
        for name in TRAINED
    ]  # fmt: skip


def _by_lightgbm(train: jr.Dataset) -> None:
    ranker = load("lightgbm").LGBMRanker(n_estimators=TREES, verbose=-1)  # type: ignore[union-attr]
    with silent():
        ranker.fit(
            ranks_by_expert(train.rankings),
            np.nan_to_num(train.slot_labels).astype(int),
            group=train.rankings.query_size,
        )
