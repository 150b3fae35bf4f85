"""Which metric orders systems best when few items are judged: against their order by all judgements.

The systems are the runs, fusions of them, and ``jury`` on five folds, trained with all labels. Judgements are kept of
the first items of RRF, as a judging plan would ask for them, or of a random sample of the pool; the mean of each system
by the judgements that are left is compared with its mean by all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import juryrank as jr
from studies import SHARED_DATA
from studies.arrays import Floats
from studies.learners import learner
from studies.learning_curves import read_set
from studies.tables import Report, Table

SETS = ("robust03", "trec-covid-round1")
FUSIONS = ("rrf", "isr", "borda", "combsum", "combmnz")
FOLDS = 5
SAMPLE = 0.1  # of the pool
DRAWS = 10  # samples
UNJUDGED = ("irrelevant", "ignore")
TREATMENTS = (  # name, metric, what is done with unjudged items, metric by all judgements
    ("nDCG@10", "nDCG@10", "irrelevant", "nDCG@10"),
    ("nDCG@10, condensed", "nDCG@10", "ignore", "nDCG@10"),
    ("AP", "AP", "irrelevant", "AP"),
    ("AP, condensed", "AP", "ignore", "AP"),
    ("Bpref", "Bpref", "irrelevant", "AP"),
    ("infAP", "infAP", "irrelevant", "AP"),
)
Labels = dict[str, dict[str, float]]
Systems = dict[str, jr.Consensus | dict[str, dict[str, float]]]


@dataclass(frozen=True)
class Order:
    """How the order of systems by few judgements agrees with that by all."""

    data: str
    judged: str  # which items
    per_query: float  # judgements
    treatment: str
    tau: float  # Kendall's, between the means of systems
    lead: float  # mean of RRF less that of jury, by few judgements
    true_lead: float  # the same by all
    place: float  # of RRF among the systems, by few judgements
    true_place: int


@dataclass(frozen=True, eq=False, repr=False)
class FewJudgements(Report):
    """Agreement of orders by dataset, judged items and treatment."""

    orders: list[Order]

    def tables(self) -> list[Table]:
        body = [
            [
                o.data, o.judged, o.treatment, f"{o.per_query:.0f}", f"{o.tau:.2f}", f"{o.place:.1f} ({o.true_place})",
                f"{100 * o.lead:+.1f} ({100 * o.true_lead:+.1f})",
            ]
            for o in self.orders
        ]  # fmt: skip
        columns = ["data", "judged", "metric", "labels per query", "tau", "place of RRF", "RRF - jury"]
        note = "In brackets: by all judgements. tau: Kendall's, of the orders of systems by few and by all judgements."
        return [Table("Few judgements", columns, body, n_names=3, note=note)]

    def rows(self) -> list[dict[str, Any]]:
        return [vars(order) for order in self.orders]

    def to_dict(self) -> dict[str, Any]:
        return {"results": self.rows()}


def systems_of(data: jr.Dataset) -> Systems:
    """The rankings of every system, in order of preference."""
    fused = {name: jr.method(name).fit(data).predict(data) for name in FUSIONS}
    held_out: dict[str, dict[str, float]] = {}
    for test in np.array_split(np.random.default_rng(0).permutation(len(data)), FOLDS):
        model = learner("jury").fit(data.take(np.setdiff1d(np.arange(len(data)), test)))
        held_out |= model.predict(data.take(test)).to_dict()
    return {**fused, "jury": held_out}


def labels_of(data: jr.Dataset) -> Labels:
    """All labels, by query and item."""
    labels = data.labels
    assert labels is not None
    items = labels.items[labels.label_item].tolist()
    ends = labels.label_ptr.tolist()
    values = labels.label_value.tolist()
    return {
        query: dict(zip(items[start:stop], values[start:stop], strict=True))
        for query, start, stop in zip(labels.queries, ends[:-1], ends[1:], strict=True)
    }


def first_of(order: dict[str, list[str]], labels: Labels, depth: int) -> Labels:
    """Judgements of the first items of a ranking; what the assessors did not judge is judged as irrelevant."""
    return {query: {item: labels[query].get(item, 0.0) for item in order[query][:depth]} for query in labels}


def sample_of(labels: Labels, seed: int) -> Labels:
    """Judgements of a random sample of the pool; the others have the label -1, as trec_eval expects for infAP."""
    rng = np.random.default_rng(seed)
    return {
        query: {item: label if rng.random() < SAMPLE else -1.0 for item, label in judged.items()}
        for query, judged in labels.items()
    }


def means_of(data: jr.Dataset, systems: Systems, labels: Labels) -> dict[str, Floats]:
    """By treatment, the mean of every system: the runs, then the fusions."""
    found: dict[tuple[str, str], list[float]] = {}
    for unjudged in UNJUDGED:
        metrics = list(dict.fromkeys(metric for _, metric, treated, _ in TREATMENTS if treated == unjudged))
        for things in (data, systems):
            result = jr.evaluate(things, labels, metrics, unjudged=unjudged, judged_share=False)
            for metric in metrics:
                found.setdefault((metric, unjudged), []).extend(result[metric].values())
    return {name: np.array(found[metric, unjudged]) for name, metric, unjudged, _ in TREATMENTS}


def measure(name: str, folder: Path = SHARED_DATA, draws: int = DRAWS) -> list[Order]:
    """The agreement of each treatment on a dataset; ``draws`` is the number of random samples."""
    from scipy.stats import kendalltau

    data = read_set(folder / name)
    systems, labels = systems_of(data), labels_of(data)
    names = [*data.experts, *systems]
    rrf, jury = names.index("rrf"), names.index("jury")
    fused = systems["rrf"]
    assert isinstance(fused, jr.Consensus)
    order, truth = fused.top(10), means_of(data, systems, labels)
    kept = {f"first {depth} of RRF": [first_of(order, labels, depth)] for depth in (3, 10)}
    kept[f"{SAMPLE:.0%} of the pool"] = [sample_of(labels, seed) for seed in range(draws)]
    orders = []
    for judged, parts in kept.items():
        means = [means_of(data, systems, few) for few in parts]
        size = float(np.mean([sum(v >= 0 for v in items.values()) for few in parts for items in few.values()]))
        for treatment, _, _, by_all in TREATMENTS:
            few, every = np.array([m[treatment] for m in means]), truth[by_all]
            orders.append(
                Order(
                    data=name,
                    judged=judged,
                    per_query=size,
                    treatment=treatment,
                    tau=float(np.mean([kendalltau(row, every).statistic for row in few])),
                    lead=float((few[:, rrf] - few[:, jury]).mean()),
                    true_lead=float(every[rrf] - every[jury]),
                    place=float((few > few[:, [rrf]]).sum(axis=1).mean() + 1),
                    true_place=int((every > every[rrf]).sum() + 1),
                )
            )
    return orders


def measure_all(sets: list[str], folder: Path = SHARED_DATA) -> FewJudgements:
    """The agreement on all datasets."""
    return FewJudgements([order for name in sets for order in measure(name, folder)])
