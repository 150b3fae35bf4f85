"""How many labelled queries a learned method needs: gains over RRF after learning from a few.

From every dataset, 1, 2, 5, 10 and 20 queries are drawn for training, ten times each (a draw of 5 contains that of 2);
all queries outside the draw of 20 are test queries. Values are gains over RRF on the same queries.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.arrays import Floats
from studies.console import track
from studies.tables import Report, Table

SIZES, DRAWS = (1, 2, 5, 10, 20), 10
SETS = {"MQ2008-agg": ("nDCG@5", "letor"), "trec-covid-round1": ("nDCG@10", "trec"), "robust03": ("nDCG@20", "trec")}


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(Report):
    """Gains over RRF by dataset and method, [n_sizes, n_draws]."""

    gains: dict[tuple[str, str], Floats]

    def tables(self) -> list[Table]:
        body = []
        for (data, method), gains in self.gains.items():
            for label, values in (("mean", gains.mean(axis=1)), ("worst draw", gains.min(axis=1))):
                body.append([data, method, label, *(f"{100 * v:+.2f}" for v in values)])
        note = f"× 100, gains over RRF of {DRAWS} draws; metric: {', '.join(f'{d} {m}' for d, (m, _) in SETS.items())}."
        return [Table("Learning curves", ["data", "method", "", *map(str, SIZES)], body, n_names=3, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"data": data, "method": method, "queries": n, "mean": float(g.mean()), "worst": float(g.min())}
            for (data, method), gains in self.gains.items()
            for n, g in zip(SIZES, gains, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.rows(), "gains": {"/".join(key): g.tolist() for key, g in self.gains.items()}}


def read_set(folder: Path) -> jr.Dataset:
    """A dataset without the queries that have no labels."""
    if not (folder / "runs").is_dir():
        return jr.read(folder)
    data = jr.read(folder / "runs", labels=folder / "qrels.txt")
    assert data.labels is not None
    return data.take(np.flatnonzero(np.diff(data.labels.label_ptr) > 0))


def gains_over_rrf(data: jr.Dataset, methods: list[str], metric: str, convention: str) -> dict[str, Floats]:
    """By method, the mean gain over RRF for every size and draw."""
    gains = {name: np.zeros((len(SIZES), DRAWS)) for name in methods}
    for draw in track(range(DRAWS), metric):
        order = np.random.default_rng(draw).permutation(len(data))
        test = data.take(order[max(SIZES) :])

        def mean(model: Any, test: jr.Dataset = test) -> float:
            return float(jr.evaluate(model.predict(test), test, metric, convention=convention)[metric])

        base = mean(jr.method("rrf").fit(test))
        for size, n in enumerate(SIZES):
            train = data.take(order[:n])
            for name in methods:
                try:
                    model = jr.method(name).fit(train)
                except DataError:  # nothing to learn from: a user would keep RRF
                    continue
                gains[name][size, draw] = mean(model) - base
    return gains


def measure_all(methods: list[str], sets: list[str], folder: Path = SHARED_DATA) -> LearningCurves:
    """The learning curves of all methods on the datasets."""
    for name in methods:
        jr.method(name)  # an unknown name is an error before anything is read
    curves = {}
    for name in sets:
        for method, gains in gains_over_rrf(read_set(folder / name), methods, *SETS[name]).items():
            curves[name, method] = gains
    return LearningCurves(curves)
