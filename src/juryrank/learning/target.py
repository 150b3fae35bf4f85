"""The metric that a learner optimises, as arrays for the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, ParameterError
from juryrank.kernels.lambdarank import CASCADE, CUT, FIRST, GAIN, PAIRS, PRECISION_SUM
from juryrank.metrics import ERR, NDCG, KendallTau, Metric, parse_metric
from juryrank.metrics.base import exponential_gain
from juryrank.params import param

KINDS = {"nDCG": GAIN, "AP": PRECISION_SUM, "ERR": CASCADE, "RR": FIRST, "P": CUT, "KendallTau": PAIRS}
ORDERS = ("nDCG", "KendallTau")  # metrics that are defined by an order, and so need no labels


def target_param(default: str = "nDCG(dcg='exp-log2')@10") -> Any:
    """The parameter ``target``, with one meaning everywhere."""
    doc = f"the metric to optimise and to validate by: {', '.join(KINDS)}, with @k where only the first k places count"
    return param(default, doc)


@dataclass(frozen=True, eq=False)
class Target:
    """A metric over the slots of some queries: the gain of each slot, and the normaliser of each query."""

    kind: int
    cutoff: int
    slot_ptr: Ints  # [n_queries + 1]
    label: Floats  # [n_slots] the order to learn
    gain: Floats  # [n_slots]
    discount: Floats  # [longest query]
    normaliser: Floats  # [n_queries]

    @classmethod
    def of(cls, text: str, slot_ptr: Ints, label: Floats) -> Target:
        """The target named by ``text`` for these labels (0 is worst)."""
        metric = optimisable_metric(text)
        kind, cutoff = KINDS[metric.name], getattr(metric, "cutoff", None)
        gain = _gains(metric, label)
        longest = int(np.diff(slot_ptr).max(initial=0))
        depth = longest if cutoff is None else int(cutoff)
        discount = 1.0 / np.log2(np.arange(longest) + 2.0)
        normaliser = np.array([_normaliser(kind, gain[a:b], discount, depth) for a, b in pairwise(slot_ptr)])
        return cls(kind, depth, slot_ptr, label, gain, discount, np.where(normaliser > 0, normaliser, 1.0))


def optimisable_metric(text: str) -> Metric:
    """The metric of that name; an error if it is not one that can be optimised."""
    metric = parse_metric(text)
    if metric.name not in KINDS:
        raise ParameterError(f"target must be one of {', '.join(KINDS)}, got {text!r}")
    return metric


def check_truth(name: str, text: str, data: Dataset) -> None:
    """Raise a DataError where the metric needs labels and the truth is only an order."""
    if data.labels is None and optimisable_metric(text).name not in ORDERS:
        truth = "a reference ranking" if data.reference is not None else "preference pairs"
        raise DataError(f"{name} with target {text} needs labels, and the data has {truth}; use target=KendallTau")


def _gains(metric: Metric, label: Floats) -> Floats:
    if isinstance(metric, NDCG):
        return exponential_gain(metric, label) if metric.dcg == "exp-log2" else label
    if isinstance(metric, ERR):
        if (highest := label.max(initial=0.0)) > metric.max_rel:
            raise DataError(f"labels of {metric} must be at most {metric.max_rel}, got {highest:g}; use ERR(max_rel=…)")
        return (np.exp2(label) - 1) / 2.0**metric.max_rel
    if isinstance(metric, KendallTau):
        return label
    lowest: int = getattr(metric, "rel", 1)
    return (label >= lowest).astype(np.float64)


def _normaliser(kind: int, gain: Floats, discount: Floats, depth: int) -> float:
    if kind == GAIN:
        return float(np.sort(gain)[::-1] @ discount[: len(gain)])
    if kind == PRECISION_SUM:
        return float(gain.sum())
    if kind == CUT:
        return float(depth)
    if kind == PAIRS:
        return float(len(gain) ** 2 - (np.unique(gain, return_counts=True)[1] ** 2).sum()) / 2
    return 1.0
