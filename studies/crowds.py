"""Labels of tasks from the answers of a crowd: how often they are right, next to crowd-kit.

On the judgements of TREC 2011, whose gold labels no method sees, and on simulated crowds with known labels and
confusion matrices. crowd-kit is used if it is installed, or in the folder that ``make peers`` fills.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies import SHARED_DATA
from studies.arrays import Floats
from studies.tables import Report, Table

CROWD = "trec2011-crowd/trec-rf10-data.txt.gz"
PEERS = Path(__file__).parents[1] / "build" / "peers"
OURS = ("majority-vote", "one-coin", "dawid-skene", "ordinal-dawid-skene", "glad")
CLASSES = {"majority_vote": "MajorityVote", "dawid_skene": "DawidSkene", "mace": "MACE", "glad": "GLAD"}
TASKS, WORKERS, PER_TASK, SPAMMERS = 1000, 50, 5, 0.2


@dataclass(frozen=True)
class Crowd:
    """Answers of workers, and the labels of some tasks, which no method sees."""

    answers: pl.DataFrame  # task, worker, label
    truth: dict[str, str]
    order: tuple[str, ...]  # of the labels


@dataclass(frozen=True, eq=False, repr=False)
class Crowds(Report):
    """The share of right labels and the seconds, by experiment and method."""

    results: list[dict[str, Any]]

    def tables(self) -> list[Table]:
        titles = list(dict.fromkeys(row["experiment"] for row in self.results))
        return [
            Table(
                title,
                ["method", "right", "± s.e.", "seconds"],
                [
                    [row["method"], f"{row['right']:.3f}", f"{row['error']:.3f}", f"{row['seconds']:.2f}"]
                    for row in self.results
                    if row["experiment"] == title
                ],
            )
            for title in titles
        ]

    def rows(self) -> list[dict[str, Any]]:
        return self.results

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.results}


def crowd_kit(module: str) -> Any:
    """A class of crowd-kit, or None if it is not installed."""
    if PEERS.is_dir() and str(PEERS) not in sys.path:
        sys.path.append(str(PEERS))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return getattr(import_module(f"crowdkit.aggregation.classification.{module}"), CLASSES[module])
    except ImportError:
        return None


def trec(folder: Path = SHARED_DATA) -> Crowd:
    """The judgements of TREC 2011: a task is a topic with a page; the last answer of a worker counts."""
    frame = pl.read_csv(folder / CROWD, separator="\t", infer_schema=False)
    rows = frame.select(
        task=pl.concat_str("topicID", "docID", separator=" "), worker="workerID", label="label", gold="gold"
    )
    known = rows.filter(pl.col("gold") != "-1")
    answers = rows.select("task", "worker", "label").unique(["task", "worker"], keep="last", maintain_order=True)
    return Crowd(answers, dict(known.select("task", "gold").iter_rows()), ("-2", "0", "1", "2"))


def simulated(seed: int, n_classes: int = 4, n_tasks: int = TASKS) -> Crowd:
    """Workers with confusion matrices of their own, some of whom guess; neighbouring labels are confused more often."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(n_classes, n_tasks, p=rng.dirichlet(np.full(n_classes, 3.0)))
    apart = np.abs(np.subtract.outer(np.arange(n_classes), np.arange(n_classes)))
    matrices = np.exp(-rng.uniform(0.3, 2.0, (WORKERS, 1, 1)) * apart) * rng.gamma(3.0, size=(WORKERS, 1, n_classes))
    matrices[rng.random(WORKERS) < SPAMMERS] = rng.gamma(1.0, size=n_classes) + 0.05
    matrices /= matrices.sum(2, keepdims=True)
    rows = [
        (f"t{t}", f"w{w}", str(rng.choice(n_classes, p=matrices[w, truth[t]])))
        for t in range(n_tasks)
        for w in rng.choice(WORKERS, PER_TASK, replace=False)
    ]
    answers = pl.DataFrame(rows, schema=["task", "worker", "label"], orient="row")
    return Crowd(answers, {f"t{t}": str(c) for t, c in enumerate(truth)}, tuple(map(str, range(n_classes))))


def methods(*, slow: bool) -> dict[str, Callable[[Crowd], dict[Any, str]]]:
    """By name, what gives the labels of a crowd; those of crowd-kit that take minutes only with ``slow``."""

    def ours(name: str) -> Callable[[Crowd], dict[Any, str]]:
        return lambda crowd: jr.crowd(crowd.answers, name, order=crowd.order).labels

    def theirs(module: str) -> Callable[[Crowd], dict[Any, str]]:
        def labels(crowd: Crowd) -> dict[Any, str]:
            import pandas as pd

            frame = pd.DataFrame({name: crowd.answers[name].to_list() for name in crowd.answers.columns})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found: dict[Any, str] = crowd_kit(module)().fit_predict(frame).to_dict()
            return found

        return labels

    peers = [module for module in CLASSES if crowd_kit(module) is not None and (slow or module != "glad")]
    return {name: ours(name) for name in OURS} | {f"{CLASSES[m]} of crowd-kit": theirs(m) for m in peers}


def right_share(crowd: Crowd, labels: dict[Any, str]) -> float:
    """The share of tasks with a known label whose label is right."""
    return float(np.mean([labels[task] == label for task, label in crowd.truth.items()]))


def accuracy(title: str, crowds: list[Crowd], *, slow: bool) -> list[dict[str, Any]]:
    """One row per method: means over the crowds; the standard error is over crowds, or over the tasks of one."""
    found = []
    for name, labels_of in methods(slow=slow).items():
        shares: list[float] = []
        start = time.perf_counter()
        for crowd in crowds:
            shares.append(right_share(crowd, labels_of(crowd)))
        seconds = (time.perf_counter() - start) / len(crowds)
        mean = float(np.mean(shares))
        error = _error(np.array(shares), len(crowds[0].truth))
        found.append({"experiment": title, "method": name, "right": mean, "error": error, "seconds": seconds})
    return found


def _error(shares: Floats, n_tasks: int) -> float:
    if len(shares) > 1:
        return float(shares.std(ddof=1) / np.sqrt(len(shares)))
    return float(np.sqrt(shares[0] * (1 - shares[0]) / n_tasks))


def measure(folder: Path = SHARED_DATA, draws: int = 10, *, slow: bool = False) -> Crowds:
    """Both experiments."""
    drawn = [simulated(seed) for seed in range(draws)]
    simulation = f"{draws} simulated crowds, {TASKS} tasks with {PER_TASK} answers of {WORKERS} workers"
    return Crowds(
        [
            *accuracy("Crowd judgements of TREC 2011", [trec(folder)], slow=slow),
            *accuracy(simulation, drawn, slow=False),
        ]
    )
