"""Spearman's footrule."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.gains import distance
from juryrank.metrics.base import ReferenceMetric, ratio
from juryrank.metrics.common_items import common_places
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class Footrule(ReferenceMetric):
    r"""1 minus the sum of differences in place over its maximum: 1 for the same order, 0 for the reverse order.

    :math:`1 - \sum_i |r_i - r'_i| / \lfloor n^2/2 \rfloor` over the n items that both rank; ties share the mean of
    their places.

    Diaconis, Graham, JRSS B 1977.
    """

    name = "Footrule"

    def _values(self, judged: JudgedConsensus, reference: ItemGrades) -> Floats:
        ptr, here, there = common_places(judged, reference)
        out = np.empty(len(ptr) - 1)
        distance(ptr, here, there, out)
        farthest = (np.diff(ptr) ** 2 // 2).astype(np.float64)
        return ratio(farthest - out, farthest)
