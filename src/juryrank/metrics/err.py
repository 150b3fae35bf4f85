"""Expected reciprocal rank."""

from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats
from juryrank.errors import DataError
from juryrank.kernels.gains import cascade
from juryrank.metrics.base import RelevanceMetric, cutoff_param
from juryrank.metrics.truth import ItemGrades, JudgedConsensus
from juryrank.params import param


@dataclass(frozen=True)
class ERR(RelevanceMetric):
    """Expected 1 / place at which a user stops, stopping at an item with probability (2^label - 1) / 2^max_rel.

    The default ``max_rel`` of 4 is that of gdeval, which ir_measures uses.

    Chapelle, Metzler, Zhang, Grinspan, CIKM 2009.
    """

    name = "ERR"
    cutoff: int | None = cutoff_param()
    max_rel: int = param(4, "highest possible label", at_least=1, at_most=60)

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        highest = labels.ideal.max(initial=0.0)
        if highest > self.max_rel:
            raise DataError(
                f"labels of {self} must be at most {self.max_rel}, got {highest:g}; "
                f"use {type(self)(cutoff=self.cutoff, max_rel=int(np.ceil(highest)))}"
            )
        stop = (np.exp2(np.where(labels.value > 0, labels.value, 0.0)) - 1) / 2.0**self.max_rel
        out = np.empty(len(judged.queries))
        cascade(judged.slot_ptr, stop, self.depth, out)
        return out
