"""Grades of several judges as labels: how near to the truth they are, and what models learned from them are worth.

Three experiments: crowd judgements of TREC 2011 against gold labels; one lenient judge in a simulation, calibrated with
few gold labels; and ``jury``, learned from the grades of simulated judges, on queries that were not judged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import juryrank as jr
from studies import SHARED_DATA
from studies.arrays import Floats
from studies.few_judgements import labels_of
from studies.learners import learner
from studies.learning_curves import read_set
from studies.tables import Report, Table

CROWD = "trec2011-crowd/trec-rf10-data.txt.gz"
SETS = ("robust03", "trec-covid-round1")
KEYS = ["query", "item"]
GOLD_OF_CROWD, GOLD_OF_ONE = (50, 200, 1000), (0, 10, 20, 50, 200)
JUDGES, NOISE, CARELESS = 12, (0.15, 0.35, 0.7), 0.25  # noise in widths of the scale; share of judges who guess
N_ITEMS, SHARES, LENIENT, ONE_NOISE = 1000, (0.5, 0.25, 0.15, 0.1), 0.8, 0.7  # of the one lenient judge


@dataclass(frozen=True)
class Row:
    """A way to make labels, and what they are worth, by column."""

    name: str
    values: dict[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class Judges(Report):
    """The three experiments, by title."""

    experiments: dict[str, list[Row]]

    def tables(self) -> list[Table]:
        return [
            Table(
                title, ["labels", *rows[0].values], [[r.name, *(f"{v:.3f}" for v in r.values.values())] for r in rows]
            )
            for title, rows in self.experiments.items()
        ]

    def rows(self) -> list[dict[str, Any]]:
        return [
            {"experiment": title, "labels": r.name, **r.values}
            for title, rows in self.experiments.items()
            for r in rows
        ]

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.rows()}


def auc(relevant: Any, score: Floats) -> float:
    """The share of pairs of a relevant and another item in the right order."""
    others = np.sort(score[~relevant])
    below = np.searchsorted(others, score[relevant], "left") + np.searchsorted(others, score[relevant], "right")
    return float(below.mean() / 2 / len(others))


def quality(found: pl.DataFrame, gold: pl.DataFrame) -> dict[str, float]:
    """How near labels are to the gold labels of some items."""
    both = gold.rename({"label": "gold"}).join(found, on=KEYS, maintain_order="left")
    truth, label, expected = (both[name].to_numpy() for name in ("gold", "label", "expected"))
    return {
        "right": float((label == truth).mean()),
        "AUC": auc(truth >= 1, expected),
        "RMSE": float(np.sqrt(((expected - truth) ** 2).mean())),
        "weight": float(both["label_weight"].mean()),  # type: ignore[arg-type]
    }


def mean_of(values: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each column."""
    return {name: float(np.mean([each[name] for each in values])) for name in values[0]}


def crowd_rows(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The judgements, and the gold labels of some of the items."""
    frame = pl.read_csv(folder / CROWD, separator="\t").filter((pl.col("label") != -2) & (pl.col("gold") != -2))
    names = {"query": pl.col("topicID").cast(pl.String), "item": pl.col("docID")}
    rows = frame.select(**names, judge="workerID", grade=pl.col("label").cast(pl.Float64))
    gold = frame.filter(pl.col("gold") >= 0).select(**names, label=pl.col("gold").cast(pl.Float64))
    return rows, gold.unique().sort(KEYS)


def crowd(folder: Path = SHARED_DATA, draws: int = 3) -> list[Row]:
    """Labels from the crowd against gold labels; with some gold labels given, against the others."""
    rows, gold = crowd_rows(folder)
    most = rows.group_by(KEYS).agg(label=pl.col("grade").mode().min())
    most = most.with_columns(label_weight=pl.lit(1.0), expected="label")
    found = [Row("majority, the lower of ties", quality(most, gold))]
    for method in ("mean", "dawid-skene"):
        found.append(Row(method, quality(jr.combine_judgements(rows, method=method).to_frame(), gold)))
    for size in GOLD_OF_CROWD:
        values = []
        for seed in range(draws):
            order = np.random.default_rng(seed).permutation(gold.height)
            labels = jr.combine_judgements(rows, gold[order[:size]]).to_frame()
            values.append(quality(labels, gold[order[size:]]))
        found.append(Row(f"dawid-skene, {size} gold labels", mean_of(values)))
    return found


def one_judge(n_gold: int, seed: int) -> dict[str, float]:
    """The labels that one lenient judge gives, with some gold labels, on the other items of a simulation."""
    rng, n = np.random.default_rng(seed), N_ITEMS
    truth = rng.choice(4, n, p=SHARES)
    grades = np.clip(np.round(truth + LENIENT + ONE_NOISE * rng.normal(size=n)), 0, 3)
    names = pl.DataFrame({"query": ["q"] * n, "item": [f"i{i}" for i in range(n)]})
    known = names.with_columns(label=truth.astype(np.float64))
    order = rng.permutation(n)
    gold = known[order[:n_gold]] if n_gold else None
    labels = jr.combine_judgements(names.with_columns(judge=pl.lit("one"), grade=grades), gold).to_frame()
    rest = known[order[n_gold:]]
    bias = (
        rest.join(labels.select(*KEYS, "expected"), on=KEYS)
        .select((pl.col("expected") - pl.col("label")).mean())
        .item()
    )
    return {**quality(labels, rest), "bias": float(bias)}


def calibration(draws: int = 10) -> list[Row]:
    """One lenient judge with more and more gold labels."""
    return [Row(f"{n} gold labels", mean_of([one_judge(n, seed) for seed in range(draws)])) for n in GOLD_OF_ONE]


def grades_of(truth: dict[tuple[str, str], float], highest: int, seed: int) -> pl.DataFrame:
    """Grades of one to three judges for each item; each has noise and bias of his own, some guess."""
    rng = np.random.default_rng(seed)
    noise, bias = rng.choice(NOISE, JUDGES), rng.normal(0, 0.3, JUDGES)
    careless = rng.random(JUDGES) < CARELESS
    rows = []
    for (query, item), grade in truth.items():
        for judge in rng.choice(JUDGES, rng.integers(1, 4), replace=False):
            seen = max(grade, 0) + bias[judge] + highest * noise[judge] * rng.normal()
            given = rng.integers(highest + 1) if careless[judge] else np.clip(np.round(seen), 0, highest)
            rows.append((query, item, f"judge {judge}", float(given)))
    return pl.DataFrame(rows, schema=["query", "item", "judge", "grade"], orient="row")


def learn(data: jr.Dataset, budget: int, seed: int) -> dict[str, float]:
    """nDCG@10 × 100 on half of the queries, of ``jury`` learned from few grades of the other half."""
    order, half = np.random.default_rng(seed).permutation(len(data)), len(data) // 2
    train, test = data.take(np.sort(order[:half])), data.take(np.sort(order[half:]))
    labels = labels_of(train)
    lists = replace(train, labels=None)
    chosen = jr.judging_plan(lists, budget=budget).to_frame().select(KEYS).rows()
    truth = {(query, item): labels[query].get(item, 0.0) for query, item in chosen}
    grades = grades_of(truth, int(max(max(each.values()) for each in labels.values())), seed)
    ways: dict[str, Any] = {
        m: jr.combine_judgements(grades, method=m).labels for m in ("mean", "majority", "dawid-skene")
    }
    ways["dawid-skene, expected"] = jr.combine_judgements(grades, labels="expected").labels
    ways["true labels"] = [(query, item, "truth", grade) for (query, item), grade in truth.items()]
    ways["true labels"] = jr.combine_judgements(ways["true labels"]).labels
    models = {name: learner("jury").fit(lists.with_labels(made)) for name, made in ways.items()}
    models["rrf"] = jr.method("rrf").fit(test)
    return {name: 100 * jr.evaluate(model.predict(test), test, "nDCG@10")["nDCG@10"] for name, model in models.items()}


def learning(folder: Path = SHARED_DATA, draws: int = 10, budgets: tuple[int, ...] = (100, 300)) -> list[Row]:
    """What models are worth, by the labels they were learned from, and the standard error of the lead over the mean."""
    found: dict[str, dict[str, float]] = {}
    for name in SETS:
        data = read_set(folder / name)
        for budget in budgets:
            values = [learn(data, budget, seed) for seed in range(draws)]
            for way, value in mean_of(values).items():
                lead = [each[way] - each["mean"] for each in values]
                error = float(np.std(lead, ddof=1) / np.sqrt(draws)) if draws > 1 else np.nan
                found.setdefault(way, {}).update({f"{name}, {budget}": value, f"± ({name}, {budget})": error})
    return [Row(way, values) for way, values in found.items()]


def measure(folder: Path = SHARED_DATA, draws: int = 10) -> Judges:
    """All experiments; ``draws`` of those that are random."""
    return Judges(
        {
            "Crowd judgements of TREC 2011": crowd(folder, min(draws, 3)),
            "One lenient judge, simulated": calibration(draws),
            "jury, learned from grades of simulated judges, nDCG@10 × 100": learning(folder, draws),
        }
    )
