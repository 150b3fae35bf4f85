"""Learning from simulated clicks: how much of the gain of true labels labels from clicks give on held-out queries.

Users search with the training queries and see the first ten items of RRF, or with exploration those of RRF with
weights of the experts that vary from session to session. They click as in usual simulations of the field. Cascade
users go down the list and stop after a click with a probability that depends on the grade (Guo et al., 2009, with the
values of Hofmann et al., 2011). Position-based users examine position p with probability 1/p and click on 10 % of the
irrelevant items that they examine (Joachims et al., 2017). Users who leave click as informational ones, but also leave
after an item without a click: they give up, or what they read is enough. Methods are fitted to the labels that follow
from the clicks, and tested with true labels on the queries of the other folds.

Two references, if wanted, show what limits that, both with exploration: true labels of the items that were shown, which
have no noise; and the clicks of a known user, whose examinations and clicks on irrelevant items need not be estimated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from juryrank.errors import DataError
from studies import SHARED_DATA
from studies.arrays import Floats
from studies.console import track
from studies.learners import learner
from studies.learning_curves import read_set
from studies.tables import Report, Table

METRIC, DEPTH, FOLDS = "nDCG@10", 10, 5
UNSHOWN = 1000  # first items of RRF that jury learns from, whether they were shown or not
SETS = ("robust03", "trec-covid-round1", "MQ2008-agg")
CONTROL = "no clicks: all shown are relevant"  # what labels give that know only what RRF shows
SPREAD = jr.Exploration().spread  # of the logarithm of the weights, with exploration
SHOWN, KNOWN = "true labels of shown items", "clicks of a known user"
SURE, HALF_SURE = 2.0, 3.0  # weights of the labels of both: 2 examined / (examined + 3)
SHIFT = 1.0  # of all labels of a known user: labels below 0 would count as 0

# grades [sessions, positions] -> clicked, and the probability of an examination given the clicks above; the same shape
Clicks = Callable[[Any, np.random.Generator], tuple[Any, Floats]]


def cascade(click: tuple[float, ...], stop: tuple[float, ...], leave: tuple[float, ...] = (0.0, 0.0, 0.0)) -> Clicks:
    """A user who goes down the list; the probabilities are for grades 0, 1 and 2, those to leave without a click."""

    def run(grades: Any, rng: np.random.Generator) -> tuple[Any, Floats]:
        clicked, going = np.zeros(grades.shape, bool), np.ones(len(grades), bool)
        examined, chance = np.zeros(grades.shape), np.ones(len(grades))
        for place in range(grades.shape[1]):
            grade = grades[:, place]
            examined[:, place] = chance
            here = going & (rng.random(len(grades)) < np.array(click)[grade])
            clicked[:, place] = here
            going &= rng.random(len(grades)) >= np.where(here, np.array(stop)[grade], np.array(leave)[grade])
            missed = chance * np.array(click)[grade]  # by Bayes' rule: who does not click may be no longer there
            skipped = (chance - missed) / np.where(missed < 1, 1 - missed, 1.0) * (1 - np.array(leave)[grade])
            chance = np.where(here, 1 - np.array(stop)[grade], skipped)
        return clicked, examined

    return run


def position_based(click: tuple[float, ...]) -> Clicks:
    """A user who examines position p with probability 1/p, whatever is there."""

    def run(grades: Any, rng: np.random.Generator) -> tuple[Any, Floats]:
        examined = np.broadcast_to(1.0 / np.arange(1, grades.shape[1] + 1), grades.shape)
        return rng.random(grades.shape) < examined * np.array(click)[grades], examined

    return run


CLICKS = {  # the probability of a click on an examined item of grade 0, 1 and 2
    "perfect": (0.0, 0.5, 1.0),
    "navigational": (0.05, 0.5, 0.95),
    "informational": (0.4, 0.7, 0.9),
    "almost random": (0.4, 0.5, 0.6),
    "position-based": (0.1, 0.4, 1.0),
    "giving up": (0.4, 0.7, 0.9),
    "content without a click": (0.4, 0.7, 0.9),
}
STOPS = {
    "perfect": (0.0, 0.0, 0.0),
    "navigational": (0.2, 0.5, 0.9),
    "informational": (0.1, 0.3, 0.5),
    "almost random": (0.5, 0.5, 0.5),
    "giving up": (0.1, 0.3, 0.5),
    "content without a click": (0.1, 0.3, 0.5),
}
LEAVES = {"giving up": (0.2, 0.2, 0.2), "content without a click": (0.05, 0.25, 0.5)}
USERS = {
    name: cascade(click, STOPS[name], LEAVES.get(name, (0.0, 0.0, 0.0))) if name in STOPS else position_based(click)
    for name, click in CLICKS.items()
}


@dataclass(frozen=True, eq=False)
class Simulation:
    """Training queries: their items, grades, and the points that each expert gives to each item."""

    data: jr.Dataset
    items: list[Any]  # by query: names
    grades: list[Any]  # by query: 0, 1 or 2
    points: list[Floats]  # by query: [n_items, n_experts]

    @classmethod
    def of(cls, data: jr.Dataset) -> Simulation:
        r, known = data.rankings, np.nan_to_num(np.maximum(data.slot_labels, 0.0))
        expert = np.repeat(r.list_expert, r.list_size)
        items, grades, points = [], [], []
        for q in range(len(data)):
            slots = slice(r.slot_ptr[q], r.slot_ptr[q + 1])
            entries = slice(r.entry_ptr[r.list_ptr[q]], r.entry_ptr[r.list_ptr[q + 1]])
            table = np.zeros((slots.stop - slots.start, len(r.experts)))
            np.add.at(table, (r.entry_slot[entries] - slots.start, expert[entries]), 1.0 / (60 + r.entry_rank[entries]))
            items.append(r.items[r.slot_item[slots]])
            grades.append(np.minimum(known[slots], 2).astype(np.int64))
            points.append(table)
        return cls(data, items, grades, points)

    def log(self, user: str, sessions: int, explore: bool, rng: np.random.Generator) -> pl.DataFrame:
        """The click log of so many sessions with each query; with what is not known of real users: examined, grade."""
        parts = []
        for q, query in enumerate(self.data.queries):
            weights = np.ones((1, len(self.data.rankings.experts)))
            if explore:
                weights = np.exp(SPREAD * rng.standard_normal((sessions, weights.shape[1])))
            order = np.argsort(-(weights @ self.points[q].T), axis=1, kind="stable")[:, :DEPTH]
            order = np.broadcast_to(order, (sessions, order.shape[1]))
            clicked, examined = USERS[user](self.grades[q][order], rng)
            parts.append(
                pl.DataFrame(
                    {
                        "item": pl.Series(self.items[q][order.ravel()], dtype=pl.String),
                        "position": np.tile(np.arange(1, order.shape[1] + 1), sessions),
                        "clicked": clicked.ravel(),
                        "session": np.repeat(np.arange(sessions), order.shape[1]),
                        "examined": examined.ravel(),
                        "grade": self.grades[q][order.ravel()],
                    }
                ).with_columns(query=pl.lit(query))
            )
        return pl.concat(parts)


def naive_labels(log: pl.DataFrame) -> dict[str, dict[str, float]]:
    """The click rate of each item, without any correction."""
    rates = log.group_by("query", "item").agg(pl.col("clicked").mean()).sort("query", "item")
    out: dict[str, dict[str, float]] = {}
    for query, item, rate in rates.iter_rows():
        out.setdefault(query, {})[item] = rate
    return out


def references(log: pl.DataFrame, user: str, first: dict[str, list[str]]) -> dict[str, pl.DataFrame]:
    """Labels of the shown items that know more than clicks do; ``first`` are the first items of RRF.

    True labels are shares of the largest grade. Those of a known user are clicks over examinations less the rate of
    irrelevant items. They may be below 0, so that all labels of the query are moved up, also those of items that were
    not shown, which are irrelevant as in ``jury``.
    """
    examined = pl.col("examined").sum().clip(1e-3)
    items = log.group_by("query", "item", maintain_order=True).agg(
        true=pl.col("grade").first() / 2,
        label=(pl.col("clicked").sum() / examined).clip(None, 1.0) - CLICKS[user][0] + SHIFT,
        weight=SURE * examined / (examined + HALF_SURE),
    )
    places = pl.concat(
        pl.DataFrame({"query": [query] * len(names), "item": names, "place": range(1, len(names) + 1)})
        for query, names in first.items()
    )
    unseen = places.join(items, on=["query", "item"], how="anti").select(
        "query", "item", label=pl.lit(SHIFT), weight=50.0 / (50.0 + pl.col("place"))
    )
    columns = ["query", "item", "label", "weight"]
    return {
        SHOWN: items.select("query", "item", pl.col("true").alias("label"), "weight"),
        KNOWN: pl.concat([items.select(columns), unseen.select(columns)]),
    }


@dataclass(frozen=True, eq=False, repr=False)
class ClickStudy(Report):
    """Values of the metric on held-out queries by data, user, sessions and labels: one for each seed."""

    values: dict[tuple[str, str, int, str], list[float]]

    def _share(self, key: tuple[str, str, int, str]) -> tuple[float, float]:
        """The share of the gain of true labels, and its standard error over seeds (folds are drawn anew for each)."""
        base, full = (np.array(self.values[key[0], "", 0, name]) for name in ("RRF", "true labels"))
        found = np.array(self.values[key])
        gain, most = found - base, full - base
        share = gain.mean() / most.mean()
        error = np.std(gain - share * most, ddof=1) / len(gain) ** 0.5 / abs(most.mean()) if len(gain) > 1 else np.nan
        return float(share), float(error)

    def tables(self) -> list[Table]:
        body = []
        for key, values in self.values.items():
            data, user, sessions, labels = key
            share, error = self._share(key)
            text = f"{100 * share:.0f} ± {100 * error:.0f} %" if user or labels == CONTROL else ""
            body.append([data, labels, user, str(sessions or ""), f"{100 * np.mean(values):.2f}", text])
        note = f"{METRIC} × 100 on held-out queries, mean over seeds; share of the true labels' gain ± standard error."
        columns = ["data", "labels", "user", "sessions", METRIC, "share of gain"]
        return [Table("Learning from clicks", columns, body, n_names=3, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"data": data, "user": user, "sessions": n, "labels": labels, "mean": float(np.mean(values)),
             "seeds": len(values), **dict(zip(("share", "error"), self._share((data, user, n, labels)), strict=True))}
            for (data, user, n, labels), values in self.values.items()
        ]  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.rows(), "values": {"/".join(map(str, key)): v for key, v in self.values.items()}}


def measure(
    data: jr.Dataset, users: list[str], sessions: list[int], seed: int, *, with_references: bool = False
) -> dict[tuple[str, int, str], float]:
    """The mean of the metric over held-out queries of all folds, by user, sessions and labels."""
    rng, n = np.random.default_rng(seed), len(data)
    order, found = rng.permutation(n), dict[tuple[str, int, str], float]()

    def test(key: tuple[str, int, str], train: jr.Dataset, held_out: jr.Dataset, labels: Any = None) -> None:
        try:
            model = jr.fit(train, learner("jury"), labels=labels)
        except DataError:  # nothing was clicked
            model = jr.fit(train, "rrf")
        value = jr.evaluate(model.predict(held_out), held_out, METRIC)[METRIC]
        found[key] = found.get(key, 0.0) + float(value) * len(held_out) / n

    for fold in range(FOLDS):
        held_out = data.take(np.sort(order[fold::FOLDS]))
        train = data.take(np.sort(np.setdiff1d(order, order[fold::FOLDS])))
        rrf = jr.evaluate(jr.fit(held_out, "rrf").predict(held_out), held_out, METRIC)[METRIC]
        found["", 0, "RRF"] = found.get(("", 0, "RRF"), 0.0) + float(rrf) * len(held_out) / n
        test(("", 0, "true labels"), train, held_out)
        first = jr.fit(train, "rrf").predict(train).top(UNSHOWN)
        shown = {query: dict.fromkeys(items[:DEPTH], 1.0) for query, items in first.items()}
        test(("", 0, CONTROL), train, held_out, shown)
        simulation = Simulation.of(train)
        for user in users:
            for count in sessions:
                log = simulation.log(user, count, False, rng)
                test((user, count, "click rate"), train, held_out, naive_labels(log))
                for name, explore in (("corrected", False), ("corrected, exploration", True)):
                    log = simulation.log(user, count, True, rng) if explore else log
                    labels = jr.click_labels(jr.read_clicks(log.drop("examined", "grade")))
                    test((user, count, name), train, held_out, labels)
                if with_references:
                    for name, known in references(log, user, first).items():
                        test((user, count, name), train, held_out, known)
    return found


def measure_all(
    sets: list[str],
    users: list[str],
    sessions: list[int],
    seeds: int,
    folder: Path = SHARED_DATA,
    *,
    with_references: bool = False,
) -> ClickStudy:
    """The study on several datasets."""
    values: dict[tuple[str, str, int, str], list[float]] = {}
    for name in sets:
        data = read_set(folder / name)
        for seed in track(range(seeds), name):
            found = measure(data, users, sessions, seed, with_references=with_references)
            for (user, count, labels), value in found.items():
                values.setdefault((name, user, count, labels), []).append(value)
    return ClickStudy(values)
