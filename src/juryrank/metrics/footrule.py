"""Spearman's footrule."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.rankings import Floats
from juryrank.kernels.gains import distance, pair_counts
from juryrank.metrics.base import ReferenceMetric
from juryrank.metrics.judged import Graded, Judged
from juryrank.metrics.places import common_places


@dataclass(frozen=True)
class Footrule(ReferenceMetric):
    r"""1 - the sum of differences in place over its maximum, so that 1 is the same order and 0 the reverse.

    :math:`1 - \sum_i |r_i - r'_i| / \lfloor n^2/2 \rfloor` over the n items that both rank; ties share the mean of
    their places.

    Diaconis, Graham, JRSS B 1977.
    """

    name = "Footrule"

    def _values(self, judged: Judged, reference: Graded) -> Floats:
        ptr, here, there = common_places(judged, reference)
        out, counts = np.empty(len(ptr) - 1), np.empty((len(ptr) - 1, 4))
        distance(ptr, here, there, out)
        pair_counts(ptr, here, there, counts)
        apart = counts[:, 1] > counts[:, 3]
        farthest = np.diff(ptr) ** 2 // 2
        return np.where(apart, 1 - out / np.maximum(farthest, 1), np.nan)
