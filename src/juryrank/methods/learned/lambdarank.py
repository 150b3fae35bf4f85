"""LambdaRank on the ranks of each expert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.methods.formula import Formula
from juryrank.methods.learned.epochs import EpochTrained
from juryrank.methods.learned.lambdarank_learner import LambdaRankLearner
from juryrank.methods.weighting import others_key
from juryrank.params import param


@dataclass(kw_only=True)
class LambdaRank(EpochTrained):
    r"""LambdaRank: a pairwise loss on the labels, each pair weighted by the effect of a swap on the target metric.

    The inputs are, for every expert, whether it ranked the item and the logarithm of the rank; without hidden layers
    :math:`s_i = \sum_k a_k - b_k \log r_{ki}` over the experts k that ranked the item, so that :math:`-a_k` is the
    weight of a missing item. Training ignores the cutoff of the target (except for P@k); the choice of the best pass
    uses it.

    Learns from graded labels; with the targets nDCG and KendallTau also from a reference ranking or preference pairs.

    Burges, Ragno, Le, NIPS 2006.
    """

    name = "lambdarank"
    hidden: int = param(0, "units of each hidden layer; 0 is a linear model", at_least=0)
    layers: int = param(1, "hidden layers, if hidden > 0", at_least=1)
    activation: str = param("tanh", "activation function of the hidden units", choices=("tanh", "relu"))
    rate: float = param(0.01, "step size", above=0)
    decay: float = param(0.003, "regularisation of the weights towards 0", at_least=0)
    batch: int = param(1, "queries per step", at_least=1)

    def _values(self, rankings: Rankings, groups: ExpertGroups) -> Floats:
        r = rankings
        return (
            np.stack([np.ones(r.n_entries), -np.log(r.entry_rank)], 1) * np.repeat(r.list_weight, r.list_size)[:, None]
        )

    def formula(self) -> Formula | None:
        """a - b log(rank), where there is no hidden layer."""
        return None if self.hidden else Formula(depends_on=("rank",), points=self._points)

    def _points(self, expert: str, ranks: Floats) -> Floats:
        a, b = self._by_column()[self.experts_.index(expert) if expert in self.experts_ else -1]
        points: Floats = a - b * np.log(ranks)
        return points

    @property
    def others_key(self) -> str | None:
        return None if self.hidden else others_key(self.experts_)

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """The weights of each expert's values, where there is no hidden layer."""
        if self.others_key is None:
            return {}
        rows = zip([*self.experts_, self.others_key], self._by_column().tolist(), strict=True)
        return {name: dict(zip(self._value_names(), row, strict=True)) for name, row in rows}

    def _by_column(self) -> Floats:
        """The weights of a linear net, [n_experts + 1, width]."""
        return self.weights_.reshape(len(self.experts_) + 1, -1)

    def _value_names(self) -> tuple[str, ...]:
        return ("a", "b")

    def _width(self) -> int:
        """How many values an entry has."""
        return 2

    def _n_weights(self) -> int:
        inputs, hidden = (len(self.experts_) + 1) * self._width(), self.hidden
        return (inputs + 1) * hidden + (hidden + 1) * hidden * (self.layers - 1) + hidden if hidden else inputs

    def _learner(self) -> LambdaRankLearner:
        hidden = (self.hidden,) * self.layers if self.hidden else ()
        return LambdaRankLearner(
            hidden=hidden, activation=self.activation, rate=self.rate, decay=self.decay, batch=self.batch
        )
