"""What learned methods share: parameters of expert groups, and weights of experts learned from labels."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.expert_groups import experts_param, threshold_of_param, threshold_param
from juryrank.learning.labelled import unjudged_param
from juryrank.methods.base import Aggregator
from juryrank.methods.formula import Formula
from juryrank.methods.learned_fields import Array, Names, learned
from juryrank.methods.positional.borda import Borda
from juryrank.methods.weighting import named_weights


@dataclass(kw_only=True)
class GroupedExperts(Aggregator):
    """A learned method whose experts have weights of their own or share them."""

    supervised = True

    experts: str = experts_param()
    threshold: int = threshold_param()
    threshold_of: str = threshold_of_param()
    unjudged: str = unjudged_param()

    @abstractmethod
    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        """Learn from the labelled queries of ``data``."""


@dataclass(kw_only=True)
class WeightedExperts(Aggregator):
    """A learned method with one weight per expert; an unknown expert has the mean weight."""

    supervised = True

    experts_: list[str] = learned(Names("experts", at_least=1))
    weights_: Floats = learned(Array("experts", at_least=0))

    @abstractmethod
    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        """Fill ``experts_`` and ``weights_``."""

    def experts_seen(self) -> frozenset[str]:
        """The experts with a weight."""
        return frozenset(self.experts_)

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """The weight of each expert."""
        return named_weights(self.experts_, self.weights_) if self.is_fitted else {}

    def _with_unknown_experts(self, rankings: Rankings, weights: Floats) -> dict[str, float]:
        """The weight of each expert of ``rankings``, given those of ``experts_``."""
        weight = np.append(weights, weights.mean())[rankings.positions_in(self.experts_)]
        return {name: float(w) for name, w in zip(rankings.experts, weight, strict=True)}


@dataclass(kw_only=True)
class WeightedBorda(WeightedExperts):
    """The Borda count with one learned weight per expert."""

    def formula(self) -> Formula:
        """Those of the Borda count, times the weights of the experts."""
        return Formula(depends_on=("place", "items"))

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        Borda(weights=self._with_unknown_experts(rankings, self.weights_))._scores(rankings, out)
