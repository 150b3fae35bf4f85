"""The studies of Liu, Liu, Qin, Ma and Li (WWW 2007) on public data: ``python bench/supervised.py [--json FILE]``.

MQ2008-agg with its five folds; OHSUMED with 30 of its 45 features as experts, in the rotation of the paper: of four
parts two to learn from, one to choose on, one to test. Unsupervised chains and Borda beside their supervised versions.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

import juryrank
from juryrank.compare import Comparison
from juryrank.data import Dataset
from juryrank.errors import JuryrankWarning
from juryrank.methods import Aggregator
from juryrank.report import Report, Table

SHARED = Path(__file__).parents[2] / "shared" / "data"
METRICS = (*(f"P@{k}" for k in (1, 3, 5, 10)), "AP", *(f"nDCG@{k}" for k in (1, 3, 5, 10)))
METHODS = (
    "borda", "mc1", "mc2", "mc3", "mc4",
    "borda-fuse", "supervised-borda", "supervised-mc1", "supervised-mc2", "supervised-mc3", "supervised-mc4",
)  # fmt: skip
RELAXED = "supervised-mc2 by sdp"

# LETOR 3.0 describes a page of OHSUMED by 15 numbers for each of title, abstract, and both together. Those that are
# retrieval scores are experts here. Left out of each 15: three sums of idf, which are the same for all items of a query
# and order nothing; log(BM25), which orders as BM25 does; and the plain count of query terms, of which the sum of
# log(count + 1) is the damped version.
SCORES = {
    2: "log tf", 3: "tf/len", 4: "log tf/len", 8: "log tf/len idf", 9: "tf idf", 10: "log tf/len icf",
    11: "BM25", 13: "LM Dirichlet", 14: "LM Jelinek-Mercer", 15: "LM absolute",
}  # fmt: skip
STREAMS = ("title", "abstract", "both")


@dataclass(frozen=True, eq=False, repr=False)
class Studies(Report):
    """The comparison of all methods on each data set."""

    found: dict[str, Comparison]

    def tables(self, percent: bool | None = None) -> list[Table]:
        """The means; ``rows`` and ``to_dict`` have the tests, too."""
        return [replace(each.tables(percent)[0], title=name) for name, each in self.found.items()]

    def rows(self) -> list[dict[str, Any]]:
        """One row per data set, method and metric."""
        return [{"data": name, **row} for name, each in self.found.items() for row in each.rows()]

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values."""
        return {name: each.to_dict() for name, each in self.found.items()}


def ohsumed(folder: Path) -> Dataset:
    """OHSUMED with the chosen features as experts: each ranks all items by its score, equal scores tie."""
    data = juryrank.read(folder)
    assert data.features is not None
    r = data.rankings
    chosen = {f"{stream} {told}": 15 * s + k - 1 for s, stream in enumerate(STREAMS) for k, told in SCORES.items()}
    ranks, slots = [], []
    for q in range(len(data)):
        first, end = r.slot_ptr[q], r.slot_ptr[q + 1]
        for column in chosen.values():
            falling = -data.features[first:end, column]
            order = np.argsort(falling, kind="stable")
            slots.append(first + order)
            ranks.append(np.searchsorted(falling[order], falling[order]) + 1.0)
    n = len(chosen)
    lists = replace(
        r,
        experts=tuple(chosen),
        list_ptr=np.arange(len(data) + 1) * n,
        list_expert=np.tile(np.arange(n, dtype=np.int32), len(data)),
        list_weight=np.ones(n * len(data)),
        entry_ptr=np.concatenate([[0], np.cumsum(np.repeat(r.query_size, n))]),
        entry_slot=np.concatenate(slots).astype(np.int32),
        entry_rank=np.concatenate(ranks),
    )
    return Dataset(rankings=lists, labels=data.labels)


@dataclass(frozen=True)
class Study:
    """How a data set is read and split, and how many of its queries the semidefinite program can take."""

    read: Callable[[Path], Dataset]
    folds: int | None  # None: those of the data
    queries: int


STUDIES = {"MQ2008-agg": Study(juryrank.read, None, 10), "OHSUMED": Study(ohsumed, 4, 1)}


def contestants(names: list[str], queries: int) -> dict[str, str | Aggregator]:
    """Methods by label; the semidefinite program takes part where cvxpy is installed."""
    chosen: dict[str, str | Aggregator] = {name: name for name in names if name != RELAXED}
    if RELAXED in names and find_spec("cvxpy") is not None:
        chosen[RELAXED] = juryrank.method("supervised-mc2", solver="sdp", queries=queries)
    return chosen


def study(name: str, methods: list[str], progress: Any = None) -> Comparison:
    """The methods on one data set, all marked against Borda."""
    plan = STUDIES[name]
    chosen = contestants(methods, plan.queries)
    return juryrank.compare(
        chosen,
        plan.read(SHARED / name),
        METRICS,
        folds=plan.folds,
        baseline="borda" if "borda" in chosen else None,
        convention="letor",
        progress=progress,
    )


def main() -> None:
    """Print a table for each data set that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", default=",".join([*METHODS, RELAXED]), help="by comma")
    parser.add_argument("--data", default=",".join(STUDIES), help="by comma")
    parser.add_argument("--json", help="also write everything to this file")
    options = parser.parse_args()
    sets = [name for name in options.data.split(",") if (SHARED / name).is_dir()]
    if not sets:
        sys.exit("the data sets are not beside the project (../shared/data): nothing to measure on")
    warnings.simplefilter("ignore", JuryrankWarning)  # what the semidefinite program announces
    screen = Console(stderr=True)
    shown = lambda work: track(work, console=screen, transient=True)  # noqa: E731
    report = Studies({name: study(name, options.methods.split(","), shown) for name in sets})
    print(report)
    if options.json:
        Path(options.json).write_text(report.render("json"))


if __name__ == "__main__":
    main()
