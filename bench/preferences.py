"""Preference models on the five folds of MQ2008-agg beside published rows: ``python bench/preferences.py``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import juryrank
from juryrank.bench.inputs import MQ2008
from juryrank.bench.table import Target
from juryrank.compare import Comparison
from juryrank.compare.significance import randomisations
from juryrank.methods import Aggregator, method
from juryrank.report import Report, Table
from published import METRICS, PUBLISHED

MODELS: dict[str, Aggregator] = {
    "bradley-terry": method("bradley-terry"),
    "plackett-luce": method("plackett-luce"),
    **{f"cps, {d}": method("cps", distance=d) for d in ("kendall", "spearman", "footrule")},
    **{f"theta-cps, {d}": method("theta-cps", distance=d) for d in ("kendall", "spearman", "footrule")},
    "svp": method("svp"),
    "mpm": method("mpm"),
    "mpm, learned θ": method("mpm", theta="learned"),
    "mpm, variances": method("mpm", variances=True),
    "mpm, missing last": method("mpm", missing="last"),
    "theta-mpm": method("theta-mpm"),
    "theta-mpm, variances": method("theta-mpm", variances=True),
    "theta-mpm, missing ignored": method("theta-mpm", missing="ignore"),
    "theta-mpm, agreement": method("theta-mpm", theta="agreement", missing="ignore"),
    "theta-mpm, agreement, variances": method("theta-mpm", theta="agreement", missing="ignore", variances=True),
}
BESIDE = {label: label.partition(",")[0].removeprefix("theta-") for label in MODELS}
BASELINE, MODEL, VARIANCES = "mpm", "theta-mpm", "theta-mpm, variances"
EQUAL = (BASELINE, "mpm, missing last")  # models whose adherences are all 1
TO_REACH = 44.7  # MAP of theta-mpm
MOST_SECONDS = {MODEL: 5.0, VARIANCES: 20.0}  # all queries on one core


@dataclass(frozen=True, repr=False)
class Rows(Report):
    """Our rows, the published ones, and the time that all queries take."""

    found: Comparison
    seconds: dict[str, float]

    def tables(self, percent: bool | None = None) -> list[Table]:
        rows, shown = [], set()
        for n, label in enumerate(self.found.names):
            known = PUBLISHED.get(BESIDE[label])
            if known is not None and BESIDE[label] not in shown:
                shown.add(BESIDE[label])
                texts = ["" if v is None else f"{v:.2f}" for v in known.values]
                rows.append([BESIDE[label], known.source, *texts, "", ""])
            values = [f"{100 * v:.2f}" for v in self.found.means[n]]
            rows.append([label, "ours", *values, *(f"{s:.2f}" for s in self.found.seconds[label])])
        note = (
            "Letor convention, × 100: means over the queries of a fold, then over folds; seconds of five folds, "
            "kernels compiled or loaded in the first use."
        )
        reached = [[t.target, t.measured, "met" if t.met else "NOT met"] for t in self.targets()]
        return [
            Table("MQ2008-agg", ["method", "", *METRICS, "fit s", "rank s"], rows, n_names=2, note=note),
            Table("Targets", ["target", "measured", ""], reached),
        ]

    def targets(self) -> list[Target]:
        """What the multinomial model must reach."""
        mean = 100 * float(self.found.means[self.found.names.index(MODEL), METRICS.index("AP")])
        return [
            Target(f"{MODEL} has a MAP of at least {TO_REACH}", f"{mean:.2f}", mean >= TO_REACH),
            *(self._above(other) for other in EQUAL),
            *(
                Target(f"{label}: all queries on one core in {most:.0f} s", f"{self.seconds[label]:.2f} s", good)
                for label, most in MOST_SECONDS.items()
                for good in [self.seconds[label] < most]
            ),
        ]

    def _above(self, other: str) -> Target:
        values = self.found.values[:, METRICS.index("AP")]
        gain = values[self.found.names.index(MODEL)] - values[self.found.names.index(other)]
        p = float(randomisations(gain[:, None])[0])
        text = f"{100 * gain.mean():+.2f}, p = {p:.4f}"
        return Target(f"{MODEL} is above {other} in MAP, p < 0.05", text, bool(gain.mean() > 0 and p < 0.05))

    def rows(self) -> list[dict[str, Any]]:
        return self.found.rows()

    def to_dict(self) -> dict[str, Any]:
        claims = [[t.target, t.measured, t.met] for t in self.targets()]
        return {**self.found.to_dict(), "targets": claims}


def measure(folder: Path) -> Rows:
    """All rows, and the time of the multinomial models on all queries at once."""
    data = juryrank.read(folder)
    found = juryrank.compare(MODELS, data, METRICS, convention="letor", baseline=BASELINE)
    os.environ["JURYRANK_THREADS"] = "1"
    seconds = {}
    for label in MOST_SECONDS:
        model = type(MODELS[label])(**MODELS[label].params()).fit(data)
        start = time.perf_counter()
        model.predict(data)
        seconds[label] = time.perf_counter() - start
    return Rows(found, seconds)


def main() -> None:
    """Print our rows and theirs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write everything to this file")
    options = parser.parse_args()
    if not MQ2008.is_dir():
        sys.exit("MQ2008-agg is not beside the project (../shared/data/MQ2008-agg): nothing to measure on")
    report = measure(MQ2008)
    print(report)
    if options.json:
        Path(options.json).write_text(report.render("json"))


if __name__ == "__main__":
    main()
