"""How many labelled queries a learned method needs: gains over RRF after learning from a few.

From every dataset, 1, 2, 5, 10 and 20 queries are drawn for training, ten times each (a draw of 5 contains that of 2);
all queries outside the draw of 20 are test queries. Values are gains over RRF on the same queries. Of the training
queries all labels are used, or those of the first items of RRF alone, as somebody would judge them. Methods may have
parameters, as in ``jury:prior=equal``; each is compared with the first, draw by draw.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.arrays import Floats
from studies.console import split_names, track
from studies.learners import learner
from studies.ohsumed import ohsumed
from studies.tables import Report, Table

SIZES, DRAWS = (1, 2, 5, 10, 20), 10


def read_set(folder: Path) -> jr.Dataset:
    """A dataset without the queries that have no labels."""
    if not (folder / "runs").is_dir():
        return jr.read(folder)
    data = jr.read(folder / "runs", labels=folder / "qrels.txt")
    assert data.labels is not None
    return data.take(np.flatnonzero(np.diff(data.labels.label_ptr) > 0))


class Collection(NamedTuple):
    """A dataset with its metric."""

    metric: str
    convention: str
    read: Callable[[Path], jr.Dataset] = read_set


SETS = {
    "MQ2008-agg": Collection("nDCG@5", "letor"),
    "trec-covid-round1": Collection("nDCG@10", "trec"),
    "robust03": Collection("nDCG@20", "trec"),
    "OHSUMED": Collection("nDCG@10", "letor", ohsumed),
}


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(Report):
    """Gains over RRF by dataset and method, [n_sizes, n_draws]."""

    gains: dict[tuple[str, str], Floats]

    def by_method(self, data: str) -> dict[str, Floats]:
        """The gains on one dataset, [n_sizes, n_draws]."""
        return {method: gains for (name, method), gains in self.gains.items() if name == data}

    def tables(self) -> list[Table]:
        body, draws = [], 0
        for (data, method), gains in self.gains.items():
            draws = gains.shape[1]
            for label, values in (("mean", gains.mean(axis=1)), ("worst draw", gains.min(axis=1))):
                body.append([data, method, label, *(f"{100 * v:+.2f}" for v in values)])
        metrics = ", ".join(f"{name} {SETS[name].metric}" for name in dict.fromkeys(data for data, _ in self.gains))
        note = f"× 100, gains over RRF of {draws} draws; metric: {metrics}."
        columns = ["data", "method", "", *map(str, SIZES)]
        return [Table("Learning curves", columns, body, n_names=3, note=note), *self._differences()]

    def _differences(self) -> list[Table]:
        """Each method less the first, with the half-width of a 95 % interval over the draws."""
        body = []
        for (data, method), gains in self.gains.items():
            first = next(g for (name, _), g in self.gains.items() if name == data)
            if gains is not first:
                apart = 100 * (gains - first)
                half = 1.96 * apart.std(axis=1, ddof=1) / np.sqrt(apart.shape[1])
                body.append(
                    [data, method, *(f"{m:+.2f} ± {h:.2f}" for m, h in zip(apart.mean(axis=1), half, strict=True))]
                )
        note = "× 100; means over draws of training queries and 95 % intervals of these means."
        title = "Differences to the first method"
        return [Table(title, ["data", "method", *map(str, SIZES)], body, n_names=2, note=note)] if body else []

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"data": data, "method": method, "queries": n, "mean": float(g.mean()), "worst": float(g.min())}
            for (data, method), gains in self.gains.items()
            for n, g in zip(SIZES, gains, strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.rows(), "gains": {"/".join(key): g.tolist() for key, g in self.gains.items()}}


def parse_methods(text: str) -> dict[str, Any]:
    """Methods by their text: names that are separated by commas, each with parameters after a colon.

    >>> {name: method.params()["prior"] for name, method in parse_methods("jury, jury:prior=equal,shrink=9").items()}
    {'jury': 'auto', 'jury:prior=equal,shrink=9': 'equal'}
    """
    texts: list[str] = []
    for piece in split_names(text):
        if "=" in piece.partition(":")[0] and texts:
            texts[-1] += f",{piece}"
        else:
            texts.append(piece)
    return {one: _parse_method(one) for one in texts}


def _parse_method(text: str) -> Any:
    name, _, rest = text.partition(":")
    params = {}
    for piece in split_names(rest):
        parameter, _, value = piece.partition("=")
        try:
            params[parameter] = json.loads(value)
        except ValueError:
            params[parameter] = value
    return learner(name, **params)


def labels_of_first(data: jr.Dataset, n: int) -> dict[str, dict[str, float]]:
    """The labels of the first n items of RRF of each query; an unjudged item among them has label 0."""
    labels = data.labels
    assert labels is not None
    known = {
        (labels.queries[q], labels.items[labels.label_item[k]]): float(labels.label_value[k])
        for q in range(len(labels.queries))
        for k in range(labels.label_ptr[q], labels.label_ptr[q + 1])
    }
    first = jr.method("rrf").fit(data).predict(data).top(n)
    return {query: {item: known.get((query, item), 0.0) for item in items} for query, items in first.items()}


def gains_over_rrf(
    data: jr.Dataset, methods: dict[str, Any], collection: Collection, draws: int = DRAWS, judged: int | None = None
) -> dict[str, Floats]:
    """By method, the mean gain over RRF for every size and draw."""
    metric, convention, _ = collection
    gains = {name: np.zeros((len(SIZES), draws)) for name in methods}
    for draw in track(range(draws), metric):
        order = np.random.default_rng(draw).permutation(len(data))
        test = data.take(order[max(SIZES) :])

        def mean(model: Any, test: jr.Dataset = test) -> float:
            return float(jr.evaluate(model.predict(test), test, metric, convention=convention)[metric])

        base = mean(jr.method("rrf").fit(test))
        for size, n in enumerate(SIZES):
            train = data.take(order[:n])
            labels = None if judged is None else labels_of_first(train, judged)
            for name, method in methods.items():
                try:
                    model = jr.fit(train, method, labels=labels)
                except DataError:  # nothing to learn from: a user would keep RRF
                    continue
                gains[name][size, draw] = mean(model) - base
    return gains


def measure_all(
    methods: str, sets: list[str], folder: Path = SHARED_DATA, *, draws: int = DRAWS, judged: int | None = None
) -> LearningCurves:
    """The learning curves of all methods on the datasets."""
    chosen = parse_methods(methods)  # an unknown name is an error before anything is read
    curves = {}
    for name in sets:
        data = SETS[name].read(folder / name)
        for method, gains in gains_over_rrf(data, chosen, SETS[name], draws, judged).items():
            curves[name, method] = gains
    return LearningCurves(curves)
