"""Kernel ridge regression on the ranks of each expert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.ragged import parents
from juryrank.methods.base import Aggregator
from juryrank.methods.learned._curves import unjudged_param
from juryrank.methods.learned_fields import Array, Names, Number, Sizes, learned
from juryrank.params import param
from juryrank.training.lessons import lessons_or_error
from juryrank.training.log_rank import log_rank
from juryrank.training.missing import missing
from juryrank.training.nystroem import Expansion, Nystroem
from juryrank.training.panel import heard

MISSING = 2.0  # how much more a missing flag counts than a log rank, at the same spread


@dataclass(kw_only=True)
class Kernel(Aggregator):
    r"""Ridge regression of labels inside queries, with a Gaussian kernel on what all experts say of an item.

    :math:`s_i = b^\top x_i + \sum_z c_z \exp(-\gamma |x_i - z|^2)`, where :math:`x_i` holds for every expert whether
    it left the item out, counted twice, and minus the logarithm of the rank; each over its spread. The z are distinct
    items of the training data (Nyström's approximation). What is approximated is the root of the gain. Nothing is
    chosen on validation queries. Experts that were not in the training data are not heard: items that only they rank
    have equal scores. Of very many training items (more than 40,000) those without a gain are sampled.

    It learns from graded labels, a reference ranking or preference pairs, as gains.

    Williams, Seeger, NIPS 2000.
    """

    name = "kernel"
    supervised = True
    width: float = param(0.8, "of the kernel, in root median distances between landmarks", above=0)
    penalty: float = param(1.4, "of large coefficients, counted in labelled queries: it fades as they come in", above=0)
    landmarks: int = param(500, "items that carry the kernel", at_least=1)
    unjudged: str = unjudged_param()
    seed: int = param(0, "of the landmarks", at_least=0)

    experts_: list[str] = learned(Names("experts"))
    spread_: Floats = learned(Array(2, above=0))  # of missing and of log ranks inside queries
    landmarks_: Floats = learned(Array("landmarks", "columns"))
    coefficient_: Floats = learned(Array("landmarks"))
    linear_: Floats = learned(Array("columns"))
    sharpness_: float = learned(Number(at_least=0))

    def _sizes(self) -> Sizes:
        return {"columns": 2 * len(self.experts_)}

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        self.experts_ = [name for name, found in zip(data.experts, heard(data.rankings), strict=True) if found]
        self.spread_ = spreads(data, self.experts_)
        lessons = lessons_or_error(self.name, data, self.unjudged)
        learner = Nystroem(self.width, self.penalty, self.landmarks, self.seed)
        found = learner.fit(lessons, self._columns)
        self.landmarks_, self.coefficient_ = found.landmarks, found.coefficient
        self.linear_, self.sharpness_ = found.linear, found.sharpness

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        model = Expansion(self.landmarks_, self.coefficient_, self.linear_, self.sharpness_)
        out += model.scores(Dataset(rankings=rankings), self._columns)

    def _columns(self, data: Dataset) -> Floats:
        absent, ranks = missing(data, self.experts_), log_rank(data, self.experts_)
        return np.hstack([MISSING * absent / self.spread_[0], ranks / self.spread_[1]])


def spreads(data: Dataset, experts: list[str]) -> Floats:
    """The standard deviations inside queries of the missing flags and of the log ranks, to six digits.

    The digits after depend on the order of the items, and a kernel would see it.
    """
    query, size = parents(data.rankings.slot_ptr), np.maximum(data.rankings.query_size, 1)
    out = []
    for columns in (missing(data, experts), log_rank(data, experts)):
        means = (np.bincount(query, c, minlength=len(size)) / size for c in columns.T)
        squares = [((c - mean[query]) ** 2).mean() for c, mean in zip(columns.T, means, strict=True)]
        spread = np.sqrt(np.mean(squares)) if squares else 0.0
        out.append(float(f"{spread:.6g}") or 1.0)
    return np.array(out)
