"""The MovieLens study of Volkovs and Zemel (WWW 2012, section 5.2): ``python bench/movielens.py [--plot FILE.png]``.

One order of 1,682 movies from the ratings of 943 users, by Bradley–Terry, Plackett–Luce and the multinomial preference
model; NDCG against each user's ratings, completed by a constant or by matrix factorisation; the first and last five
movies; and the variances of the model beside the number of ratings and the rank.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

import juryrank
from completion import completed, factorised, held_out_error, ndcg, observed
from juryrank.bench.table import Target
from juryrank.data import Consensus, Rankings
from juryrank.methods.markov import at_or_above, entries_above, summed
from juryrank.report import Report, Table

MOVIELENS = Path(__file__).parents[2] / "shared" / "data" / "ml-100k"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "bradley-terry": ("bradley-terry", {}),
    "plackett-luce, prior 0.1": ("plackett-luce", {"prior": 0.1}),
    "plackett-luce, prior 10": ("plackett-luce", {"prior": 10.0}),
    "mpm": ("mpm", {"counts": "score"}),
    "mpm, variances": ("mpm", {"counts": "score", "variances": True}),
}
LOOSE, MODEL, VARIANCES = list(METHODS)[:2], "mpm", "mpm, variances"  # loose: pulled to the middle by hardly anything
CONSTANTS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)
DEPTHS = (1, 5, 10)
FIRST = 20  # movies whose number of ratings tells what a method puts first
SECONDS, MEBIBYTES = 60.0, 1024.0

FIT = """
import resource, sys, time, juryrank
data = juryrank.read(sys.argv[1])
start = time.perf_counter()
juryrank.method("mpm", counts="score", variances=True).fit_predict(data)
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


@dataclass(frozen=True, repr=False)
class Study(Report):
    """What the three models make of the ratings."""

    titles: list[str]  # of each slot
    rankings: Rankings
    consensus: dict[str, Consensus]
    seconds: dict[str, float]
    by_constant: dict[str, NDArray[np.float64]]  # [constants, depths]
    by_factors: dict[str, NDArray[np.float64]]  # NDCG at 1 … 10
    error: float
    variance: NDArray[np.float64]
    fresh: tuple[float, float]  # seconds and mebibytes of a fit with variances, compilation or its cache included

    def tables(self, percent: bool | None = None) -> list[Table]:
        reached = [[t.target, t.measured, "met" if t.met else "NOT met"] for t in self.targets()]
        return [
            *(self._constants(d) for d in range(len(DEPTHS))),
            self._factors(),
            *(self._ends(name) for name in METHODS),
            Table("Claims", ["claim", "measured", ""], reached),
        ]

    def _constants(self, d: int) -> Table:
        rows = [[name, *(f"{100 * v:.2f}" for v in self.by_constant[name][:, d])] for name in METHODS]
        title = f"NDCG@{DEPTHS[d]} where missing ratings are a constant, × 100"
        return Table(title, ["method", *map(str, CONSTANTS)], rows)

    def _factors(self) -> Table:
        rows = [
            [name, *(f"{100 * v:.2f}" for v in self.by_factors[name]), f"{self.seconds[name]:.2f}"] for name in METHODS
        ]
        note = f"Matrix factorisation errs by {self.error:.3f} (root mean square) on ratings left out."
        columns = ["method", *(f"NDCG@{k}" for k in range(1, 11)), "seconds"]
        return Table("NDCG where missing ratings are factorised, × 100", columns, rows, note=note)

    def _ends(self, name: str) -> Table:
        order, (won, lost) = self.consensus[name].order, contests(self.rankings)
        users = self.rankings.slot_lists
        ends = [*order[:5], *order[-5:]]
        rows = [[self.titles[s], str(users[s]), f"{won[s]:.0f}", f"{lost[s]:.0f}"] for s in ends]
        note = f"Median number of users among the first {FIRST}: {self.first_users(name):.0f}."
        return Table(f"First and last five: {name}", ["movie", "users", "won", "lost"], rows, note=note)

    def first_users(self, name: str) -> float:
        """The median number of users among the first movies of a method."""
        return float(np.median(self.rankings.slot_lists[self.consensus[name].order[:FIRST]]))

    def targets(self) -> list[Target]:
        """What the study must show."""
        few, many = max(map(self.first_users, LOOSE)), min(map(self.first_users, (MODEL, VARIANCES)))
        falls = float(spearmanr(self.variance, self.rankings.slot_lists).statistic)
        lead = min((self.by_constant[MODEL] - self.by_constant[name]).min() for name in LOOSE)
        gain = min((self.by_factors[MODEL] - self.by_factors[name])[4:].min() for name in LOOSE)
        return [
            Target("mpm puts widely rated movies first", f"{many:.0f} users, others {few:.0f}", many > 10 * few),
            Target(
                "mpm leads models with a weak prior, every constant and depth",
                f"by at least {100 * lead:.2f}",
                lead > 0,
            ),
            Target(
                "mpm leads models with a weak prior at 5 to 10, factorised", f"by at least {100 * gain:.2f}", gain > 0
            ),
            Target("variance falls with the number of ratings", f"rank correlation {falls:.3f}", falls < -0.5),
            Target("a fit with variances takes < 60 s", f"{self.fresh[0]:.1f} s", self.fresh[0] < SECONDS),
            Target("and less than 1 GiB, reading included", f"{self.fresh[1]:.0f} MiB", self.fresh[1] < MEBIBYTES),
        ]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"method": name, "seconds": self.seconds[name], "first_users": self.first_users(name)} for name in METHODS
        ]

    def to_dict(self) -> dict[str, Any]:
        return {
            "methods": self.rows(),
            "constants": {name: v.tolist() for name, v in self.by_constant.items()},
            "factorised": {name: v.tolist() for name, v in self.by_factors.items()},
            "claims": [[t.target, t.measured, t.met] for t in self.targets()],
        }


def contests(r: Rankings) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of each slot, the pairs it won and lost over all lists."""
    won = np.repeat(r.list_size, r.list_size) - at_or_above(r)
    return summed(r.entry_slot, won, r.n_slots), summed(r.entry_slot, entries_above(r), r.n_slots)


def measure(folder: Path) -> Study:
    """Fit every method, complete the ratings every way."""
    data = juryrank.read(folder / "u.data")
    r, ratings = data.rankings, observed(data.rankings)
    lines = (folder / "u.item").read_text(encoding="latin-1").splitlines()
    names = {line.split("|")[0]: line.split("|")[1] for line in lines}
    consensus, seconds = {}, {}
    for label, (name, params) in METHODS.items():
        start = time.perf_counter()
        consensus[label] = juryrank.method(name, **params).fit_predict(data)
        seconds[label] = time.perf_counter() - start
    guessed = completed(ratings, factorised(ratings))
    filled = [completed(ratings, c) for c in CONSTANTS]
    at = np.array(DEPTHS) - 1
    model = juryrank.method("mpm", **METHODS[VARIANCES][1]).fit(data)
    return Study(
        titles=[names[item] for item in r.items[r.slot_item]],
        rankings=r,
        consensus=consensus,
        seconds=seconds,
        by_constant={n: np.array([ndcg(f, c.order, 10).mean(0)[at] for f in filled]) for n, c in consensus.items()},
        by_factors={n: ndcg(guessed, c.order, 10).mean(0) for n, c in consensus.items()},
        error=held_out_error(ratings),
        variance=model.slot_variances(data),  # type: ignore[attr-defined]
        fresh=in_a_fresh_process(folder),
    )


def in_a_fresh_process(folder: Path) -> tuple[float, float]:
    """Seconds of a fit with variances, and the most memory of a process that reads and fits."""
    done = subprocess.run(
        [sys.executable, "-c", FIT, str(folder / "u.data")], capture_output=True, text=True, check=True
    )
    seconds, mebibytes = map(float, done.stdout.split())
    return seconds, mebibytes


def plot(study: Study, path: Path) -> None:
    """Variance against the number of ratings and against the rank, as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    place = np.empty(len(study.variance))
    place[study.consensus[VARIANCES].order] = np.arange(1, len(place) + 1)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True, constrained_layout=True)
    sides = ((study.rankings.slot_lists, "number of ratings"), (place, "rank"))
    for axis, (x, label) in zip(axes, sides, strict=True):
        axis.scatter(x, study.variance, s=6, alpha=0.5, linewidths=0, color="#2a6f97")
        axis.set_xlabel(label)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("variance γ")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Print the tables; the exit code is 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", help="write the two plots of variances to this PNG file")
    parser.add_argument("--json", help="also write everything to this file")
    options = parser.parse_args()
    if not MOVIELENS.is_dir():
        sys.exit("MovieLens 100K is not beside the project (../shared/data/ml-100k): nothing to study")
    if options.plot and find_spec("matplotlib") is None:
        sys.exit("--plot needs matplotlib: pip install 'juryrank[plots]'")
    study = measure(MOVIELENS)
    print(study)
    if options.plot:
        plot(study, Path(options.plot))
    if options.json:
        Path(options.json).write_text(study.render("json"))
    sys.exit(0 if all(t.met for t in study.targets()) else 1)


if __name__ == "__main__":
    main()
