"""Kernel ridge regression on the ranks of each expert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.columns import log_rank_columns, missing_columns
from juryrank.learning.expert_groups import experts_with_lists
from juryrank.learning.labelled import LabelledQueries, unjudged_param
from juryrank.learning.per_query import centre
from juryrank.methods.base import Aggregator
from juryrank.methods.learned.nystroem import Expansion, Nystroem
from juryrank.methods.learned_fields import Array, Names, Number, Sizes, learned
from juryrank.params import param

MISSING_WEIGHT = 2.0  # of a missing flag, relative to a log rank of the same standard deviation


@dataclass(kw_only=True)
class Kernel(Aggregator):
    r"""Ridge regression of labels inside queries, with a Gaussian kernel on the ranks that all experts give an item.

    :math:`s_i = b^\top x_i + \sum_z c_z \exp(-\gamma |x_i - z|^2)`, where :math:`x_i` holds for every expert whether
    it did not rank the item, with weight 2, and minus the logarithm of the rank, each over its standard deviation. The
    landmarks z are distinct items of the training data (Nyström's approximation). The regression target is the square
    root of the gain. Validation queries are not used. Unknown experts are ignored: items that only they rank
    have equal scores. If there are more than 40,000 training items, a sample is used.

    It learns from graded labels, or from the gains of a reference ranking or preference pairs.

    Williams, Seeger, NIPS 2000.
    """

    name = "kernel"
    supervised = True
    uses_label_weights = True
    validates = False
    width: float = param(
        0.8, "width of the kernel, relative to the root of the median squared distance between landmarks", above=0
    )
    penalty: float = param(
        1.4, "penalty on large coefficients, in queries: it matters less with more labelled queries", above=0
    )
    landmarks: int = param(500, "number of items at which kernels are centred", at_least=1)
    unjudged: str = unjudged_param()
    seed: int = param(0, "random seed of the landmarks", at_least=0)

    experts_: list[str] = learned(Names("experts"))
    spread_: Floats = learned(Array(2, above=0))  # standard deviations of missing and of log ranks inside queries
    landmarks_: Floats = learned(Array("landmarks", "columns"))
    coefficient_: Floats = learned(Array("landmarks"))
    linear_: Floats = learned(Array("columns"))
    sharpness_: float = learned(Number(at_least=0))

    def experts_seen(self) -> frozenset[str]:
        """The experts with columns."""
        return frozenset(self.experts_)

    def _sizes(self) -> Sizes:
        return {"columns": 2 * len(self.experts_)}

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.experts_ = experts_with_lists(data.rankings)
        self.spread_ = standard_deviations(data.rankings, self.experts_)
        queries = LabelledQueries.of(data, self.unjudged).require(self.name, data)
        solver = Nystroem(self.width, self.penalty, self.landmarks, self.seed)
        model = solver.fit(queries, self._columns)
        self.landmarks_, self.coefficient_ = model.landmarks, model.coefficient
        self.linear_, self.sharpness_ = model.linear, model.sharpness

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        model = Expansion(self.landmarks_, self.coefficient_, self.linear_, self.sharpness_)
        out += model.scores(Dataset(rankings=rankings), self._columns)

    def _columns(self, data: Dataset) -> Floats:
        missing, ranks = missing_columns(data.rankings, self.experts_), log_rank_columns(data.rankings, self.experts_)
        return np.hstack([MISSING_WEIGHT * missing / self.spread_[0], ranks / self.spread_[1]])


def standard_deviations(rankings: Rankings, experts: list[str]) -> Floats:
    """The standard deviations inside queries of the missing flags and of the log ranks, to six digits.

    Further digits depend on the order of the items, and the kernel would depend on it with them.
    """
    out = []
    for columns in (missing_columns(rankings, experts), log_rank_columns(rankings, experts)):
        variances = [np.mean(column**2) for column in centre(rankings.slot_ptr, columns).T]
        deviation = np.sqrt(np.mean(variances)) if variances else 0.0
        out.append(float(f"{deviation:.6g}") or 1.0)
    return np.array(out)
