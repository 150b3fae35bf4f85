"""Rank-biased overlap."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats
from juryrank.kernels.gains import overlap
from juryrank.metrics.base import ReferenceMetric
from juryrank.metrics.truth import ItemGrades, JudgedConsensus
from juryrank.params import param


@dataclass(frozen=True)
class RBO(ReferenceMetric):
    """Overlap of the first d places of consensus and reference, averaged over d with weights p^d, extrapolated.

    Either may have items that the other lacks. Items tied in the reference count as the mean over all
    their orders; equal scores of the consensus are ordered by the convention.

    Webber, Moffat, Zobel, TOIS 2010, eq. 32.
    """

    name = "RBO"
    p: float = param(0.9, "probability of looking one place deeper", above=0, at_most=0.999)

    def _defined(self, reference: ItemGrades) -> NDArray[np.bool_]:
        return np.diff(reference.ideal_ptr) > 0

    def _values(self, judged: JudgedConsensus, reference: ItemGrades) -> Floats:
        out = np.empty(len(judged.queries))
        overlap(judged.slot_ptr, reference.value, reference.ideal_ptr, reference.ideal, float(self.p), out)
        return out
