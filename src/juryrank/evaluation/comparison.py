"""The result of ``compare``, as rows, tables and a picture."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import version
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import freeze
from juryrank.errors import UnknownNameError
from juryrank.evaluation.baseline_differences import Differences, against_table, row_of
from juryrank.evaluation.evaluate import as_metrics
from juryrank.evaluation.judged_shares import CONDENSED, JudgedShares
from juryrank.evaluation.selection import DEFAULT_BASELINE
from juryrank.learning.verdict import Verdict
from juryrank.metrics import Metric
from juryrank.polars import pl
from juryrank.report import Report, Table, number

SIGNIFICANT = 0.05


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Comparison(Report):
    """The result of ``compare``."""

    queries: tuple[str, ...]  # in the order of folds
    names: tuple[str, ...]
    metrics: tuple[Metric, ...]
    values: NDArray[np.float64]  # [n_names, n_metrics, n_queries]
    means: NDArray[np.float64]  # [n_names, n_metrics] over the queries of a fold, then over folds
    versus: Differences
    baseline: str
    methods: dict[str, dict[str, Any]]  # by name: the method and its parameters
    seconds: dict[str, tuple[float, float]]  # by name: to fit and to predict, all folds together
    skipped: dict[str, str]  # methods without a result, and the reason
    folds: tuple[str, ...]
    convention: str
    seed: int
    judged: JudgedShares
    unjudged: str = "irrelevant"
    verdict: Verdict | None = None  # with folds and a learned method, by the first metric

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        shape = f"{len(self.names)} methods × {len(self.metrics)} metrics × {len(self.queries)} queries"
        return f"Comparison({shape}, {len(self.folds)} folds, {self.convention}, baseline {self.baseline})"

    def mean(self, name: str, metric: str | Metric) -> float:
        """The mean of one method by one metric."""
        if name not in self.names:
            raise UnknownNameError.of("method here", name, self.names)
        (wanted,) = as_metrics(metric)
        if wanted not in self.metrics:
            raise UnknownNameError.of("metric here", str(wanted), map(str, self.metrics))
        return float(self.means[self.names.index(name), self.metrics.index(wanted)])

    def direction(self, name: str, metric: str) -> int:
        """1 or -1 if a method is significantly better or worse than the baseline (randomisation test, Holm), else 0."""
        versus = self.versus.get((name, metric))
        if versus is None or not versus.p_random_holm < SIGNIFICANT:
            return 0
        return 1 if versus.difference > 0 else -1

    def rows(self) -> list[dict[str, Any]]:
        return [self._row(n, k) for n in range(len(self.names)) for k in range(len(self.metrics))]

    def _row(self, n: int, k: int) -> dict[str, Any]:
        name, metric = self.names[n], str(self.metrics[k])
        compared = row_of(self.versus.get((name, metric)))
        judged = self.judged.beside(self.metrics[k], n)
        return {"method": name, "metric": metric, "mean": float(self.means[n, k]), **compared, "judged": judged}

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with one row per method and metric, with the columns of ``rows``."""
        return pl.DataFrame(self.rows(), infer_schema_length=None)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the differences to the baseline with their 95 % intervals to an image file, one panel per metric."""
        from juryrank.evaluation.plots import Panel, draw_differences

        names = [self.names[n] for n in np.argsort(-self.means[:, 0], kind="stable")]  # best by the first metric on top
        panels = [
            Panel(
                metric,
                self.mean(self.baseline, metric),
                [self.versus.get((name, metric)) for name in names],
                [self.direction(name, metric) for name in names],
            )
            for metric in map(str, self.metrics)
        ]
        draw_differences(path, names, self.baseline, panels, len(self.queries))

    def to_dict(self) -> dict[str, Any]:
        return {
            "versions": {"juryrank": version("juryrank"), "numpy": np.__version__, "python": platform.python_version()},
            "convention": self.convention,
            "seed": self.seed,
            "folds": list(self.folds),
            "baseline": self.baseline,
            "metrics": [str(metric) for metric in self.metrics],
            "methods": self.methods,
            "seconds": {name: {"fit": fit, "predict": predict} for name, (fit, predict) in self.seconds.items()},
            "skipped": self.skipped,
            "verdict": None if self.verdict is None else self.verdict.to_dict(),
            "unjudged": self.unjudged,
            "judged": {name: self.judged.of_row(n) for n, name in enumerate(self.names)},
            "results": self.rows(),
            "queries": list(self.queries),
            "per_query": {
                name: {str(metric): self.values[n, k].tolist() for k, metric in enumerate(self.metrics)}
                for n, name in enumerate(self.names)
            },
        }

    def tables(self, percent: bool | None = None) -> list[Table]:
        percent = self.convention == "letor" if percent is None else percent
        shares = self.judged.incomplete
        means = [
            [
                name,
                *(self._marked(n, k, percent) for k in range(len(self.metrics))),
                *(number(share, percent) for share in shares.means[n]),
                *self._times(name),
            ]
            for n, name in enumerate(self.names)
        ]
        folds = f"{len(self.folds)} folds, " if self.folds else ""
        note = f"{len(self.queries)} queries, {folds}convention {self.convention}{', × 100' if percent else ''}. "
        note += f"▲ ▼: better or worse than {self.baseline} (randomisation test, Holm, p < {SIGNIFICANT})."
        if self.baseline == self.names[0] and DEFAULT_BASELINE not in self.names and self.versus:
            note += (
                f" The baseline is {self.baseline}, the first method, because {DEFAULT_BASELINE} does not take part."
            )
        note += self.judged.note() if self.unjudged == "irrelevant" else f" {CONDENSED}"
        if self.skipped:
            note += f" Not compared: {', '.join(self.skipped)}."
        verdict = "" if self.verdict is None else self.verdict.text
        if not self.versus:
            note = f"{note} {verdict}".rstrip()
        columns = ["method", *map(str, (*self.metrics, *shares.metrics)), "fit s", "predict s"]
        tables = [Table("Means", columns, means, note=note, best=range(1, 1 + len(self.metrics)))]
        if self.versus:
            tables.append(against_table("method", self.baseline, self.versus, percent, verdict))
        return tables

    def _marked(self, n: int, k: int, percent: bool) -> str:
        mark = {1: " ▲", -1: " ▼", 0: ""}[self.direction(self.names[n], str(self.metrics[k]))]
        return number(float(self.means[n, k]), percent) + mark

    def _times(self, name: str) -> list[str]:
        return [f"{seconds:.3f}" for seconds in self.seconds[name]]
