"""Binary preference."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, count_relevant, ratio, rel_param, running_sums
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class BinaryPreference(RelevanceMetric):
    """Of the preferences of relevant over judged irrelevant items, the share that the ranking has; 0 without relevant.

    With R relevant and N irrelevant items, an irrelevant item above a relevant one costs 1 / min(R, N) of it, and at
    most R of them count. Unjudged items, and those with labels below 0, play no part.

    Buckley, Voorhees, SIGIR 2004.
    """

    name = "Bpref"
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        relevant = count_relevant(labels, self.rel)
        irrelevant = count_relevant(labels, 0) - relevant
        above = running_sums(judged.slot_ptr, (labels.value >= 0) & (labels.value < self.rel))
        found = np.flatnonzero(labels.value >= self.rel)
        query = np.searchsorted(judged.slot_ptr, found, side="right") - 1
        lost = ratio(np.minimum(above[found], relevant[query]), np.minimum(irrelevant, relevant)[query])
        kept = np.bincount(query, 1.0 - lost, minlength=len(relevant)).astype(np.float64)
        return ratio(kept, relevant)
