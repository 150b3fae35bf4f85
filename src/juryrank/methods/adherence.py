"""Models with an adherence theta for each expert: how closely its lists follow the model."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.methods.base import Aggregator
from juryrank.methods.learned_fields import Array, Names, learned
from juryrank.methods.weighting import named_weights


@dataclass(kw_only=True)
class Adherent(Aggregator):
    """A model with one theta per expert, or with none if all experts have the same."""

    experts_: list[str] = learned(Names("experts"))
    theta_: Floats = learned(Array("experts", at_least=0))

    @abstractmethod
    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        """Set ``experts_`` and ``theta_``; both are empty if all experts have the same theta."""

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """The theta of each expert; the parameter ``weights`` if none was learned."""
        if not self.experts_seen():
            return super().expert_weights()
        return named_weights(self.experts_, self.theta_, "theta")

    def experts_seen(self) -> frozenset[str]:
        """The experts with a theta of their own."""
        return frozenset(self.experts_ if self.is_fitted else ())
