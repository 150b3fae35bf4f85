"""Kendall's tau."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.kernels.gains import pair_counts
from juryrank.metrics.base import ReferenceMetric, ratio
from juryrank.metrics.common_items import select_common
from juryrank.metrics.truth import ItemGrades, JudgedConsensus
from juryrank.params import param


@dataclass(frozen=True)
class KendallTau(ReferenceMetric):
    """Concordant minus discordant pairs, divided by the number of pairs, with (b) or without (a) a correction for ties.

    Over the items that both rank, in O(n log n); equal scores are ties.

    Kendall, Biometrika 1945; Knight, JASA 1966.
    """

    name = "KendallTau"
    variant: str = param("b", "b: corrected for ties; a: divided by all pairs", choices=("b", "a"))

    def _values(self, judged: JudgedConsensus, reference: ItemGrades) -> Floats:
        ptr, score, truth = select_common(judged, reference)
        counts = np.empty((len(ptr) - 1, 4))
        pair_counts(ptr, score, truth, counts)
        surplus, pairs, tied, truth_tied = counts.T
        return ratio(surplus, np.sqrt((pairs - tied) * (pairs - truth_tied)) if self.variant == "b" else pairs)
