"""Rank-biased precision."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, binary_relevance, cutoff_param, discounted_sums, rel_param
from juryrank.metrics.truth import ItemGrades, JudgedConsensus
from juryrank.params import param


@dataclass(frozen=True)
class RBP(RelevanceMetric):
    r"""Expected share of relevant items seen by a user who continues to the next place with probability p.

    :math:`(1 - p) \sum_i p^{i-1} [\text{item at place } i \text{ is relevant}]`; never 1 for a finite list.

    Moffat, Zobel, TOIS 2008.
    """

    name = "RBP"
    cutoff: int | None = cutoff_param()
    p: float = param(0.8, "probability of looking at the next place", above=0, at_most=0.999)
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        places = min(self.depth, int(judged.size.max(initial=0)))
        discount = (1 - self.p) * np.power(self.p, np.arange(places, dtype=np.float64))
        return discounted_sums(judged.slot_ptr, binary_relevance(labels.value, self.rel), discount)
