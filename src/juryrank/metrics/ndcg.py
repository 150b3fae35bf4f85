"""Normalised discounted cumulative gain."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, cutoff_param, discounted_sums, exponential_gain, ratio
from juryrank.metrics.truth import ItemGrades, JudgedConsensus
from juryrank.params import param


@dataclass(frozen=True)
class NDCG(RelevanceMetric):
    """Gain of the ranking, discounted by place, over the gain of the ideal ranking; 0 without relevant items.

    The ideal ranking includes judged items that the consensus lacks; labels below 0 have gain 0. Under the
    ``letor`` convention the gain is always 2^label - 1, places 1 and 2 are not discounted, and nDCG@k is 0 for a
    query with fewer than k items.

    Järvelin, Kekäläinen, TOIS 2002.
    """

    name = "nDCG"
    cutoff: int | None = cutoff_param()
    dcg: str = param("log2", "log2: gain = label; exp-log2: gain = 2^label - 1", choices=("log2", "exp-log2"))

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        letor = judged.convention == "letor"
        exponential = letor or self.dcg == "exp-log2"
        longest = max(len(labels.value), len(labels.ideal))
        place = np.arange(1, min(self.depth, longest) + 1)
        discount = 1 / np.log2(np.maximum(place, 2) if letor else place + 1)
        gained = discounted_sums(judged.slot_ptr, self._gain(labels.value, exponential), discount)
        best = discounted_sums(labels.ideal_ptr, self._gain(labels.ideal, exponential), discount)
        value = ratio(gained, best)
        if letor and self.cutoff is not None:
            value[judged.size < self.cutoff] = 0.0
        return value

    def _gain(self, label: Floats, exponential: bool) -> Floats:
        return exponential_gain(self, label) if exponential else np.where(label > 0, label, 0.0)
