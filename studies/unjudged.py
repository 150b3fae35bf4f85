"""What to make of unjudged items: three settings of ``unjudged`` with labels of eleven kinds.

In every draw half of the queries are held out. ``jury`` is fitted to labels of the other half, each kind with each
setting, and evaluated on the held-out queries with all their labels. Items that a person is asked about get the label
of the collection, and 0 if it has none; positives are what the collection says is relevant, and all else has no label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.arrays import Floats, Ints, slot_query
from studies.console import track
from studies.judging import SETS, TRAINING_SHARE, Judge, first_of_rrf, half_width
from studies.learning_curves import Collection
from studies.tables import Report, Table

SETTINGS = ("irrelevant", "unknown", "auto")
PLAN_SIZES = (20, 50, 100, 200, 500)
PLAN_STEPS = (20, 50, 100, 200, 300, 400, 500)  # after which the plan learns from the labels so far
FIRST, POOL = 3, 10  # of RRF, of each list
DRAWS = 10
FIRST_SEED = 40_000


@dataclass(frozen=True, eq=False, repr=False)
class UnjudgedStudy(Report):
    """The gain over RRF by dataset, kind of labels and setting, of each draw."""

    gains: dict[str, dict[str, dict[str, Floats]]]

    def tables(self) -> list[Table]:
        every = [*self.gains.items(), ("mean", self.means())]
        columns = ["labels", *SETTINGS, "auto - better"]
        return [Table(name, columns, _rows(found), note=NOTE) for name, found in every]

    def means(self) -> dict[str, dict[str, Floats]]:
        """The means over datasets, draw by draw."""
        kinds = next(iter(self.gains.values()))
        return {
            kind: {s: np.mean([found[kind][s] for found in self.gains.values()], axis=0) for s in SETTINGS}
            for kind in kinds
        }

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"data": name, "labels": kind, "unjudged": setting, "gain": float(values.mean())}
            for name, found in self.gains.items()
            for kind, by_setting in found.items()
            for setting, values in by_setting.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.rows()}


NOTE = "Gain over RRF × 100, ± half of the 95 % interval of the mean over draws."


def _rows(found: Mapping[str, Mapping[str, Floats]]) -> list[list[str]]:
    return [
        [kind, *(_cell(v[s]) for s in SETTINGS), _cell(v["auto"] - max(v["irrelevant"], v["unknown"], key=np.mean))]
        for kind, v in found.items()
    ]


def _cell(values: Floats) -> str:
    return f"{100 * values.mean():+.2f} ± {100 * half_width(values):.2f}"


def label_kinds(train: jr.Dataset, seed: int) -> dict[str, jr.Dataset]:
    """The training queries with labels of each kind."""
    judge = Judge(train)
    r, rng = judge.rankings, np.random.default_rng(seed)
    plan = _planned(judge)
    first = first_of_rrf(judge, seed, FIRST)[:100]
    pool: Ints = np.unique(r.entry_slot[r.entry_rank <= POOL]).astype(np.int64)
    positive = np.flatnonzero(judge.grades > 0)
    drawn = positive[np.lexsort((rng.random(len(positive)), slot_query(r)[positive]))]
    query = slot_query(r)[drawn]
    turn = np.arange(len(drawn)) - np.searchsorted(query, query)
    chosen: dict[str, Ints] = {f"plan {n}": plan[:n] for n in PLAN_SIZES}
    chosen |= {"first 3 of RRF (100)": first, "pool 10": pool}
    found = {kind: judge.judge(slots) for kind, slots in chosen.items()}
    found["complete"] = train
    for kind, slots in (("all positives", positive), ("1 positive", drawn[turn < 1]), ("2 positives", drawn[turn < 2])):
        found[kind] = judge.judge(slots)
    return found


def _planned(judge: Judge) -> Ints:
    slots = np.empty(0, np.int64)
    for size in PLAN_STEPS:
        plan = jr.judging_plan(judge.judge(slots), budget=size - len(slots))
        slots = np.concatenate([slots, plan.slots])
    return slots


def measure(data: jr.Dataset, collection: Collection, draws: int = DRAWS, name: str = "") -> dict[str, Any]:
    """The gains on one dataset, by kind of labels and setting."""
    gains: dict[str, dict[str, list[float]]] = {}
    for draw in track(range(draws), name):
        order = np.random.default_rng(FIRST_SEED + draw).permutation(len(data))
        n_training = int(len(data) * TRAINING_SHARE)
        train, test = data.take(np.sort(order[:n_training])), data.take(np.sort(order[n_training:]))
        rrf = _quality(jr.fit(test, "rrf"), test, collection)
        for kind, labelled in label_kinds(train, FIRST_SEED + draw).items():
            for setting in SETTINGS:
                made = _quality(_fitted(labelled, setting), test, collection)
                gains.setdefault(kind, {}).setdefault(setting, []).append(made - rrf)
    return {kind: {s: np.array(values) for s, values in found.items()} for kind, found in gains.items()}


def _fitted(labelled: jr.Dataset, setting: str) -> Any:
    try:
        return jr.fit(labelled, "jury", unjudged=setting)
    except DataError:  # nothing to learn from: a user would keep RRF
        return jr.fit(labelled, "rrf")


def _quality(model: Any, test: jr.Dataset, collection: Collection) -> float:
    metric, convention, _ = collection
    return float(jr.evaluate(model.predict(test), test, metric, convention=convention)[metric])


def measure_all(sets: list[str], folder: Path = SHARED_DATA, *, draws: int = DRAWS) -> UnjudgedStudy:
    """The study on some of the datasets."""
    return UnjudgedStudy({name: measure(SETS[name].read(folder / name), SETS[name], draws, name) for name in sets})
