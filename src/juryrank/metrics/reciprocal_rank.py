"""Reciprocal rank."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.gains import reciprocal_first
from juryrank.metrics.base import RelevanceMetric, cutoff_param, rel_param, relevant
from juryrank.metrics.truth import Graded, Judged


@dataclass(frozen=True)
class ReciprocalRank(RelevanceMetric):
    """1 / the place of the first relevant item; 0 if there is none up to the cutoff."""

    name = "RR"
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: Judged, labels: Graded) -> Floats:
        out = np.empty(len(judged.queries))
        reciprocal_first(judged.slot_ptr, relevant(labels.value, self.rel), self.depth, out)
        return out
