"""Inferred average precision."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, count_relevant, ratio, rel_param, running_sums
from juryrank.metrics.truth import ItemGrades, JudgedConsensus

EPSILON = 1e-5  # added to counts of relevant and irrelevant items, as in trec_eval


@dataclass(frozen=True)
class InferredAP(RelevanceMetric):
    """Average precision, estimated from judgements of a random sample of the items in the pool; 0 without relevant.

    An item with a label below 0 (-1 in qrels) is in the pool and not in the sample; an item without a label is not in
    the pool and counts as irrelevant. At each relevant item, those of the pool above it are taken to be relevant in the
    proportion of the judged ones above it.

    Yilmaz, Aslam, CIKM 2006.
    """

    name = "infAP"
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        value, ptr = labels.value, judged.slot_ptr
        found = np.flatnonzero(value >= self.rel)
        query = np.searchsorted(ptr, found, side="right") - 1
        above = (found - ptr[query]).astype(np.float64)
        relevant, known, pool = (
            running_sums(ptr, flags)[found] - 1.0 for flags in (value >= self.rel, value >= 0, ~np.isnan(value))
        )
        expected = pool * (relevant + EPSILON) / (known + 2 * EPSILON)
        precision = np.where(above > 0, (1.0 + expected) / (above + 1.0), 1.0)
        total = np.bincount(query, precision, minlength=len(judged.queries)).astype(np.float64)
        return ratio(total, count_relevant(labels, self.rel))
