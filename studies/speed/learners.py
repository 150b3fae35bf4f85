"""Training of learned methods on real collections: CRF on five folds, auto, LambdaRank."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from studies import SHARED_DATA
from studies.console import note
from studies.speed.clock import Effort, Timing
from studies.speed.inputs import MQ2008, Inputs
from studies.speed.table import Results, Row
from studies.speed.targets import Target, at_most

COVID = SHARED_DATA / "trec-covid-round1"
CRF, AUTO, LAMBDARANK = "crf, five folds of MQ2008-agg", "auto on MQ2008-agg", "lambdarank on TREC-COVID round 1"
LIMITS = {CRF: 3.0, AUTO: 20.0, LAMBDARANK: 5.0}  # seconds of training, without compilation
METRIC = "nDCG@10"
FEW = 30  # queries of the training that compiles


def measure(inputs: Inputs, effort: Effort) -> Results:
    """One training of each after a small one, which compiles; without the data, the targets are not measured."""
    rows: list[Row] = []
    targets: list[Target] = []
    for task, (path, train) in trainings().items():
        if not path.exists():
            note(f"{task} IS LEFT OUT: {path.name} is not in ../shared/data")
            targets.append(Target(f"{task} ≤ {LIMITS[task]:g} s", f"{path.name} is not in ../shared/data", None))
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            timing, remark = train()
        rows.append(Row(task, "–", timing, None, remark))
        targets.append(at_most(task, timing, LIMITS[task]))
    return rows, targets


def trainings() -> dict[str, tuple[Path, Callable[[], tuple[Timing, str]]]]:
    """The folder that each task needs, and its training."""
    return {CRF: (MQ2008, crf_on_folds), AUTO: (MQ2008, auto), LAMBDARANK: (COVID, lambdarank)}


def crf_on_folds() -> tuple[Timing, str]:
    """A model for each fold; the remark has its quality on the test queries."""
    data = jr.read(MQ2008)
    folds = [[data.take(np.array(part)) for part in (fold.train, fold.test)] for fold in data.folds]
    first, _ = _train("crf", folds[0][0].take(np.arange(FEW)))
    spent, values = [], []
    for train, test in folds:
        timing, model = _train("crf", train)
        spent.append(timing)
        values.append(jr.evaluate(model.predict(test), test, METRIC)[METRIC])
    total = Timing(first.seconds, sum(t.seconds for t in spent), 1, sum(t.cpu or 0.0 for t in spent))
    return total, f"{METRIC} {np.mean(values):.4f} on test queries"


def auto() -> tuple[Timing, str]:
    """The choice among the default candidates; the remark names the chosen method."""
    data = jr.read(MQ2008)
    first, _ = _train("auto", data.take(np.arange(FEW)))
    timing, model = _train("auto", data)
    return Timing(first.seconds, timing.seconds, 1, timing.cpu), model.report().partition(";")[0]


def lambdarank() -> tuple[Timing, str]:
    """All topics; the remark has the quality on the training queries, to compare versions."""
    data = jr.read(COVID / "runs", labels=COVID / "qrels.txt")
    first, _ = _train("lambdarank", data.take(np.arange(2)))
    timing, model = _train("lambdarank", data)
    value = jr.evaluate(model.predict(data), data, METRIC)[METRIC]
    return Timing(first.seconds, timing.seconds, 1, timing.cpu), f"{METRIC} {value:.4f} on the training queries"


def _train(name: str, data: jr.Dataset) -> tuple[Timing, Any]:
    start, busy = time.perf_counter(), time.process_time()
    model = jr.method(name).fit(data)
    return Timing(None, time.perf_counter() - start, 1, time.process_time() - busy), model
