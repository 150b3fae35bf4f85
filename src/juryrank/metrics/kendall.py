"""Kendall's tau."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.rankings import Floats
from juryrank.kernels.gains import pair_counts
from juryrank.metrics.base import ReferenceMetric, share
from juryrank.metrics.common_items import common
from juryrank.metrics.truth import Graded, Judged
from juryrank.params import param


@dataclass(frozen=True)
class KendallTau(ReferenceMetric):
    """Concordant minus discordant pairs, over the pairs that could be (b) or all pairs (a), in O(n log n).

    Over the items that both rank; equal scores are ties.

    Kendall, Biometrika 1945; Knight, JASA 1966.
    """

    name = "KendallTau"
    variant: str = param("b", "b: allows for ties; a: over all pairs", choices=("b", "a"))

    def _values(self, judged: Judged, reference: Graded) -> Floats:
        ptr, score, truth = common(judged, reference)
        counts = np.empty((len(ptr) - 1, 4))
        pair_counts(ptr, score, truth, counts)
        surplus, pairs, tied, truth_tied = counts.T
        return share(surplus, np.sqrt((pairs - tied) * (pairs - truth_tied)) if self.variant == "b" else pairs)
