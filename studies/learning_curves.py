"""How many labelled queries it takes: ``python bench/learning_curves.py [--methods jury] [--json FILE]``.

From every data set, 1, 2, 5, 10 and 20 queries are drawn to learn from, ten times each (a draw of 5 contains that
of 2); all queries outside the draw of 20 are the test. Values are gains over RRF on the same queries.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import juryrank
from juryrank.data import Dataset
from juryrank.errors import DataError, DataWarning
from juryrank.metrics import Truth, parse_metric
from juryrank.report import Report, Table

SHARED = Path(__file__).parents[2] / "shared" / "data"
SIZES, DRAWS = (1, 2, 5, 10, 20), 10
SETS = {"MQ2008-agg": ("nDCG@5", "letor"), "trec-covid-round1": ("nDCG@10", "trec"), "robust03": ("nDCG@20", "trec")}


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(Report):
    """Gains over RRF by data set and method, [n_sizes, n_draws]."""

    gains: dict[tuple[str, str], NDArray[np.float64]]

    def tables(self, percent: bool | None = None) -> list[Table]:
        body = []
        for (data, method), gains in self.gains.items():
            for told, values in (("mean", gains.mean(axis=1)), ("worst draw", gains.min(axis=1))):
                body.append([data, method, told, *(f"{100 * v:+.2f}" for v in values)])
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


def read_set(name: str) -> Dataset:
    """A data set by the name of its folder, without queries that have no labels."""
    folder = SHARED / name
    if name == "MQ2008-agg":
        return juryrank.read(folder)
    data = juryrank.read(folder / "runs", labels=folder / "qrels.txt")
    assert data.labels is not None
    return data.take(np.flatnonzero(np.diff(data.labels.label_ptr) > 0))


def gains_over_rrf(data: Dataset, methods: list[str], metric: str, convention: str) -> dict[str, NDArray[np.float64]]:
    """By method, the mean gain over RRF of every size and draw."""
    measure = parse_metric(metric)
    gains = {name: np.zeros((len(SIZES), DRAWS)) for name in methods}
    for draw in range(DRAWS):
        order = np.random.default_rng(draw).permutation(len(data))
        test = data.take(order[max(SIZES) :])
        truth = Truth(test)
        rrf = juryrank.method("rrf").fit_predict(test)
        base = measure.per_query(truth.judge(rrf, convention=convention))
        for size, n in enumerate(SIZES):
            train = data.take(order[:n])
            for name in methods:
                try:
                    model = juryrank.method(name).fit(train)
                except DataError:  # nothing to learn from: a user would stay with RRF
                    continue
                own = measure.per_query(truth.judge(model.predict(test), convention=convention))
                gains[name][size, draw] = (own - base).mean()
    return gains


def measure_all(methods: list[str], sets: list[str]) -> LearningCurves:
    """The learning curves of all methods on the data sets."""
    found = {}
    for name in sets:
        for method, gains in gains_over_rrf(read_set(name), methods, *SETS[name]).items():
            found[name, method] = gains
    return LearningCurves(found)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default="jury", help="by comma")
    parser.add_argument("--data", default=",".join(SETS), help="by comma")
    parser.add_argument("--json", help="also write everything to this file")
    options = parser.parse_args()
    sets = [name for name in options.data.split(",") if (SHARED / name).is_dir()]
    if not sets:
        sys.exit("the data sets are not beside the project (../shared/data): nothing to measure on")
    warnings.simplefilter("ignore", DataWarning)
    report = measure_all(options.methods.split(","), sets)
    print(report)
    if options.json:
        Path(options.json).write_text(report.render("json"))


if __name__ == "__main__":
    main()
