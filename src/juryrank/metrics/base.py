"""The contract of every metric: a value that prints as text, and one number per query."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints
from juryrank.errors import DataError, ParameterError
from juryrank.kernels.gains import discounted_gain
from juryrank.metrics.truth import ItemGrades, JudgedConsensus
from juryrank.params import check_parameters, param, parameters

HIGHEST_EXPONENT = 1000  # sums of gains of 2^1000 do not overflow
WHOLE = sys.maxsize  # larger than any list


def cutoff_param() -> Any:
    """The parameter ``cutoff``, written after the @ of a metric."""
    return param(None, "number of top places that count; default: all", at_least=1)


def rel_param() -> Any:
    """The parameter ``rel``, with the same meaning in all metrics."""
    return param(1, "lowest label that counts as relevant", at_least=1)


@dataclass(frozen=True)
class Metric(ABC):
    """Equal by value, usable as a key; ``str`` gives the text that ``parse_metric`` reads."""

    name: ClassVar[str]
    needs_cutoff: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self)
        cutoff = getattr(self, "cutoff", None)
        if cutoff is None and self.needs_cutoff:
            raise ParameterError(f"{self.name} needs a cutoff, for example {self.name}@10")
        if cutoff is not None and cutoff != int(cutoff):
            raise ParameterError(f"cutoff of {self.name} must be a whole number, got {cutoff!r}")

    def __str__(self) -> str:
        shown = [
            f"{f.name}={getattr(self, f.name)!r}"
            for f in parameters(self)
            if f.name != "cutoff" and getattr(self, f.name) != f.default
        ]
        cutoff = getattr(self, "cutoff", None)
        return self.name + (f"({','.join(shown)})" if shown else "") + (f"@{cutoff}" if cutoff is not None else "")

    def __matmul__(self, cutoff: int) -> Self:
        changed: dict[str, Any] = {"cutoff": cutoff}
        return replace(self, **changed)

    @abstractmethod
    def per_query(self, judged: JudgedConsensus) -> Floats:
        """One value per query of ``judged``, higher is better; NaN where the metric is not defined."""


class RelevanceMetric(Metric):
    """A metric based on labels: unjudged items are not relevant, queries without labels have no value."""

    def per_query(self, judged: JudgedConsensus) -> Floats:
        if judged.labels is None:
            raise DataError(f"{self} needs labels, but the data has only a reference ranking")
        values = self._values(judged, judged.labels)
        return np.where(np.diff(judged.labels.ideal_ptr) > 0, values, np.nan)

    @abstractmethod
    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        """One value per query."""

    @property
    def depth(self) -> int:
        cutoff: int | None = getattr(self, "cutoff", None)
        return WHOLE if cutoff is None else int(cutoff)


class ReferenceMetric(Metric):
    """Agreement with a reference ranking, or with the labels as a ranking with ties.

    Queries in which the reference ties all items have no value; if only the consensus ties all items, the value is 0.
    """

    def per_query(self, judged: JudgedConsensus) -> Floats:
        reference = judged.reference
        assert reference is not None
        return np.where(self._defined(reference), self._values(judged, reference), np.nan)

    def _defined(self, reference: ItemGrades) -> NDArray[np.bool_]:
        worst = np.append(reference.ideal, np.nan)[reference.ideal_ptr[1:] - 1]
        best = np.append(reference.ideal, np.nan)[reference.ideal_ptr[:-1]]
        return (np.diff(reference.ideal_ptr) > 0) & (best > worst)

    @abstractmethod
    def _values(self, judged: JudgedConsensus, reference: ItemGrades) -> Floats:
        """One value per query."""


def binary_relevance(values: Floats, rel: float) -> Floats:
    """1 where a label is relevant, 0 where it is not or is missing."""
    return (values >= rel).astype(np.float64)


def exponential_gain(metric: Metric, label: Floats) -> Floats:
    """2^label - 1, and 0 where the label is below 0 or missing; an error if sums of it would overflow."""
    if (highest := float(np.max(label, initial=0.0, where=~np.isnan(label)))) > HIGHEST_EXPONENT:
        raise DataError(
            f"{metric}: the gain 2^label - 1 needs labels of at most {HIGHEST_EXPONENT}, got {highest:g}; "
            "use grades such as 0 to 4, or nDCG with dcg='log2', whose gain is the label"
        )
    gain: Floats = np.exp2(np.where(label > 0, label, 0.0)) - 1
    return gain


def discounted_sums(ptr: Ints, gain: Floats, discount: Floats) -> Floats:
    """Sum of gain × discount over the top places of each query."""
    out = np.empty(len(ptr) - 1)
    discounted_gain(ptr, gain, discount, out)
    return out


def count_ranked_relevant(judged: JudgedConsensus, labels: ItemGrades, rel: float, depth: int) -> Floats:
    """The number of relevant items among the top places of each query."""
    places = min(depth, int(judged.size.max(initial=0)))
    return discounted_sums(judged.slot_ptr, binary_relevance(labels.value, rel), np.ones(places))


def count_relevant(labels: ItemGrades, rel: float) -> Floats:
    """The number of relevant items of each query."""
    longest = int(np.diff(labels.ideal_ptr).max(initial=0))
    return discounted_sums(labels.ideal_ptr, binary_relevance(labels.ideal, rel), np.ones(longest))


def running_sums(ptr: Ints, flags: NDArray[np.bool_]) -> Floats:
    """How many items down to each one of its query have the flag."""
    total = np.append(0.0, np.cumsum(flags))
    sums: Floats = total[1:] - np.repeat(total[ptr[:-1]], np.diff(ptr))
    return sums


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, and 0 if the whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
