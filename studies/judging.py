"""How good a ranking is after 10 to 1,000 judgements: the judging plan, simple plans, and random items.

In every draw half of the queries are held out. A plan chooses items of the other queries, one after the other; their
labels are those of the collection, and 0 for an item that has none, as an assessor would most likely say. ``jury`` is
fitted to the first 10, 20, … labels and evaluated on the held-out queries with all their labels. The judging plan gets
the labels so far at each of these sizes, and after each 100 judgements. The full gain is that of all labels of the
training queries. The queries of simple plans are in random order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.arrays import Floats, Ints, lists_by_score, slot_query
from studies.console import track
from studies.learning_curves import Collection
from studies.pictures import T_95, Figure
from studies.tables import Report, Table

SIZES, DRAWS, BATCH = (10, 20, 50, 100, 200, 500, 1000), 10, 100
FIRST_SEED = 20_000  # of the draws; the plan was chosen with others
TRAINING_SHARE = 1 / 2
OURS, SIMPLE, RANDOM = "judging plan", "first 3 of RRF", "random items"
DEPTHS = {"first 1 of RRF": 1, SIMPLE: 3, "first 5 of RRF": 5, "first 20 of RRF": 20}


def features_as_experts(folder: Path) -> jr.Dataset:
    """OHSUMED with each of its 45 features as an expert; higher is better."""
    data = jr.read(folder)
    assert data.features is not None
    lists = lists_by_score(data.rankings, data.feature_names, data.features)
    return jr.Dataset(rankings=replace(lists, entry_score=None), labels=data.labels)


SETS = {
    "robust03": Collection("nDCG@10", "trec"),
    "trec-covid-round1": Collection("nDCG@10", "trec"),
    "MQ2008-agg": Collection("nDCG@10", "letor"),
    "OHSUMED": Collection("nDCG@10", "letor", features_as_experts),
}


@dataclass(frozen=True, eq=False)
class Result:
    """The mean metric of the held-out queries of each draw."""

    rrf: Floats  # [n_draws]
    full: Floats  # [n_draws]
    plans: dict[str, Floats]  # by plan, [n_sizes, n_draws]

    def share_of_gain(self, plan: str) -> Floats:
        """The gain over RRF as a share of the gain with all labels, means over draws, [n_sizes]."""
        share: Floats = (self.plans[plan] - self.rrf).mean(axis=1) / (self.full - self.rrf).mean()
        return share


@dataclass(frozen=True, eq=False, repr=False)
class JudgingStudy(Report):
    """Results by dataset."""

    results: dict[str, Result]

    def tables(self) -> list[Table]:
        return [*(self._quality(name, result) for name, result in self.results.items()), self._differences()]

    def _quality(self, name: str, result: Result) -> Table:
        body = []
        for plan, values in result.plans.items():
            body.append([plan, SETS[name].metric, *map(_interval, 100 * values)])
            body.append(["", "share of full gain", *(f"{100 * v:.0f} %" for v in result.share_of_gain(plan))])
        full = f"RRF {_interval(100 * result.rrf)}, all labels of training queries {_interval(100 * result.full)}"
        note = f"× 100, {len(result.rrf)} draws, ± half of the 95 % interval of the mean over draws. {full}."
        return Table(name, ["plan", "", *map(str, SIZES)], body, n_names=2, note=note)

    def _differences(self) -> Table:
        """The judging plan less each simple plan, draw by draw."""
        body = [
            [name, plan, *map(_interval, 100 * (result.plans[OURS] - values))]
            for name, result in self.results.items()
            for plan, values in result.plans.items()
            if plan != OURS
        ]
        note = "× 100; ± half of the 95 % interval of the mean over draws."
        return Table(f"{OURS} less", ["data", "plan", *map(str, SIZES)], body, n_names=2, note=note)

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"data": name, "plan": plan, "judgements": n, "mean": float(v.mean()), "share": float(share)}
            for name, result in self.results.items()
            for plan, values in result.plans.items()
            for n, v, share in zip(SIZES, values, result.share_of_gain(plan), strict=True)
        ]

    def to_dict(self) -> dict[str, Any]:
        def lists(result: Result) -> dict[str, Any]:
            plans = {plan: values.tolist() for plan, values in result.plans.items()}
            return {"rrf": result.rrf.tolist(), "full": result.full.tolist(), "plans": plans}

        return {"sizes": SIZES, "sets": {name: lists(result) for name, result in self.results.items()}}

    def figure(self) -> Figure:
        """The gain over RRF against judgements, one panel per dataset."""
        panels = []
        for name, result in self.results.items():
            full = 100 * float((result.full - result.rrf).mean())
            shown = (OURS, SIMPLE, "first 20 of RRF", RANDOM)
            panels.append(
                {
                    "title": name,
                    "x": list(SIZES),
                    "series": {plan: (100 * (result.plans[plan] - result.rrf)).tolist() for plan in shown},
                    "levels": {"RRF": 0.0, "all labels": full},
                    "xlabel": "judgements",
                    "ylabel": f"gain over RRF, {SETS[name].metric} × 100",
                    "ylim": (-0.5 * abs(full), 1.5 * abs(full)),
                }
            )
        return Figure("judgements", "", "bands", {"panels": panels, "columns": min(2, len(panels))})


def _interval(values: Floats) -> str:
    return f"{values.mean():.2f} ± {half_width(values):.2f}"


def half_width(values: Floats) -> float:
    """Half of the 95 % interval of a mean over draws."""
    return float(T_95 * values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


class Judge:
    """A simulated judge of the queries of a dataset: knows its labels, and says 0 of items without one."""

    def __init__(self, data: jr.Dataset) -> None:
        self.rankings = data.rankings
        self.grades = np.nan_to_num(np.maximum(data.slot_labels, 0.0))

    def judge(self, slots: Ints) -> jr.Dataset:
        """The lists with the grades of the items in some slots."""
        r, chosen = self.rankings, np.sort(slots)
        sizes = np.bincount(slot_query(r)[chosen], minlength=len(r))
        labels = jr.Labels(
            queries=r.queries,
            items=r.items,
            label_ptr=np.concatenate([[0], np.cumsum(sizes)]),
            label_item=r.slot_item[chosen],
            label_value=self.grades[chosen],
        )
        return jr.Dataset(rankings=r, labels=labels)


def judging_plan(judge: Judge, seed: int, sizes: Sequence[int] = SIZES) -> Ints:
    """The items of ``juryrank.judging_plan``, in the order in which they are judged; batch by batch."""
    slots = np.empty(0, np.int64)
    for size in sorted({*sizes, *range(BATCH, sizes[-1], BATCH)}):
        plan = jr.judging_plan(judge.judge(slots), budget=size - len(slots))
        slots = np.concatenate([slots, plan.slots])
    return slots


def first_of_rrf(judge: Judge, seed: int, depth: int) -> Ints:
    """The first ``depth`` items of RRF of each query, in random order of the queries, then the next ``depth``, …"""
    r = judge.rankings
    order = jr.method("rrf").fit_predict(r).order
    place = np.arange(r.n_slots) - r.slot_ptr[slot_query(r)]  # of order[i]; slots of a query are together
    turn = np.random.default_rng(seed).permutation(len(r))[slot_query(r)]
    return _ranked(r, order[np.lexsort((place, turn, place // depth))])


def random_items(judge: Judge, seed: int) -> Ints:
    """All items in random order."""
    return _ranked(judge.rankings, np.random.default_rng(seed).permutation(judge.rankings.n_slots))


def _ranked(r: jr.Rankings, slots: Ints) -> Ints:
    return slots[r.slot_lists[slots] > 0]


PLANS: dict[str, Callable[[Judge, int], Ints]] = {
    OURS: judging_plan,
    **{
        name: lambda judge, seed, depth=depth: first_of_rrf(judge, seed, depth)  # type: ignore[misc]
        for name, depth in DEPTHS.items()
    },
    RANDOM: random_items,
}


def measure(data: jr.Dataset, collection: Collection, draws: int = DRAWS, name: str = "") -> Result:
    """All plans on one dataset."""
    rrf, full = np.zeros(draws), np.zeros(draws)
    plans = {plan: np.zeros((len(SIZES), draws)) for plan in PLANS}
    for draw in track(range(draws), name):
        seed = FIRST_SEED + draw
        order = np.random.default_rng(seed).permutation(len(data))
        n_training = int(len(data) * TRAINING_SHARE)
        train, test = data.take(np.sort(order[:n_training])), data.take(np.sort(order[n_training:]))

        def quality(judged: jr.Dataset | None, test: jr.Dataset = test) -> float:
            try:
                model = jr.method("rrf").fit(test) if judged is None else jr.fit(judged, "jury")
            except DataError:  # nothing to learn from: a user would keep RRF
                model = jr.method("rrf").fit(test)
            metric, convention, _ = collection
            return float(jr.evaluate(model.predict(test), test, metric, convention=convention)[metric])

        rrf[draw], full[draw] = quality(None), quality(train)
        judge = Judge(train)
        for plan, choose in PLANS.items():
            slots = choose(judge, seed)
            plans[plan][:, draw] = [quality(judge.judge(slots[:n])) for n in SIZES]
    return Result(rrf, full, plans)


def measure_all(sets: list[str], folder: Path = SHARED_DATA, *, draws: int = DRAWS) -> JudgingStudy:
    """The study on some of the datasets."""
    return JudgingStudy({name: measure(SETS[name].read(folder / name), SETS[name], draws, name) for name in sets})
