"""Spearman's rho."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.gains import correlation
from juryrank.metrics.base import ReferenceMetric
from juryrank.metrics.common_items import common_places
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class SpearmanRho(ReferenceMetric):
    """Correlation of the places in consensus and reference; tied items share the mean of their places.

    Over the items that both rank.
    """

    name = "SpearmanRho"

    def _values(self, judged: JudgedConsensus, reference: ItemGrades) -> Floats:
        ptr, here, there = common_places(judged, reference)
        out = np.empty(len(ptr) - 1)
        correlation(ptr, here, there, out)
        return out
