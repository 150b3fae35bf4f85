"""Average precision."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.rankings import Floats
from juryrank.kernels.gains import precision_sum
from juryrank.metrics.base import RelevanceMetric, cutoff_param, existing, rel_param, relevant, share
from juryrank.metrics.truth import Graded, Judged


@dataclass(frozen=True)
class AveragePrecision(RelevanceMetric):
    """Mean precision at the relevant items, where those that are not ranked add 0; 0 with nothing relevant.

    With a cutoff the sum stops there, and is still divided by all relevant items.
    """

    name = "AP"
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: Judged, labels: Graded) -> Floats:
        out = np.empty(len(judged.queries))
        precision_sum(judged.slot_ptr, relevant(labels.value, self.rel), self.depth, out)
        return share(out, existing(labels, self.rel))
