"""Weights of experts by name: the parameter ``weights``, and the form in which methods report weights."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from copy import copy
from typing import ClassVar, Self

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, read_only_view
from juryrank.data.names import natural_key
from juryrank.errors import ParameterError, unknown_names, warn_about_data


def named_weights(experts: Iterable[str], values: Iterable[float], word: str = "weight") -> dict[str, dict[str, float]]:
    """One number per expert, in the form of ``Aggregator.expert_weights``."""
    return {str(name): {word: float(value)} for name, value in zip(experts, values, strict=True)}


def others_key(experts: Collection[str]) -> str:
    """The key of all other experts beside these: ``*``, or more stars where an expert has that name."""
    key = "*"
    while key in experts:
        key += "*"
    return key


class Weighting:
    """What the parameter ``weights`` does, in methods that have it; in others every expert has weight 1."""

    name: ClassVar[str]

    def experts_seen(self) -> frozenset[str]:
        """The experts that a fitted model distinguishes; empty where it treats all alike."""
        return frozenset()

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """The weights of each expert, by name; those of all others under ``others_key``.

        By default the parameter ``weights``; empty where all experts have the same weights.
        """
        weights = self._weights_by_name()
        return named_weights(weights, weights.values())

    @property
    def others_key(self) -> str | None:
        """The key in ``expert_weights()`` of all experts without a key of their own; None where there is none."""
        return None

    def list_weights(self, rankings: Rankings) -> Floats:
        """The weight of each list: its own, times its expert's."""
        if not self._weights_by_name():
            return rankings.list_weight
        return read_only_view(rankings.list_weight * self._weights_of(rankings.experts)[rankings.list_expert])

    def unknown_weights(self, experts: Iterable[str]) -> str:
        """A message about weights of experts that are not among these; empty where there are none."""
        unknown = self._weights_by_name().keys() - set(experts)
        if not unknown:
            return ""
        return f"{self.name}: weights for experts that are not in the data: {unknown_names(unknown, experts)}"

    def unseen_experts(self, experts: Iterable[str]) -> str:
        """A message about those of these experts that the model has not learned from; empty where there are none."""
        given, known = {expert for expert in experts if self._weights_by_name().get(expert) != 0}, self.experts_seen()
        unseen = given - known if known else set[str]()
        if not unseen:
            return ""
        some = "experts that the model has not learned from"
        which = "none of the experts was in the training data" if unseen == given else some
        return f"{self.name}: {which}: {unknown_names(unseen, known)}"

    def demand_a_weight(self, experts: Collection[str]) -> None:
        """An error where ``weights`` gives the weight 0 to all of these experts."""
        weights = self._weights_by_name()
        if experts and not any(weights.values()) and weights.keys() >= set(experts):
            names = ", ".join(sorted(experts, key=natural_key)[:5])
            raise ParameterError(
                f"{self.name}: weights: all experts have the weight 0 ({names}), so no list counts; give at least one "
                "a weight above 0"
            )

    def for_experts(self, experts: Collection[str]) -> Self:
        """The same method with the weights of these experts only: a batch of the data may be without some of them."""
        weights = self._weights_by_name()
        if weights.keys() <= set(experts):
            return self
        same = copy(self)
        same.weights = {name: weight for name, weight in weights.items() if name in experts}  # type: ignore[attr-defined]
        return same

    def _drop_zero_weights(self, rankings: Rankings) -> Rankings:
        """The rankings without lists of weight 0, which count as if they were not there."""
        if message := self.unknown_weights(rankings.experts):
            warn_about_data(message)
        positive = self.list_weights(rankings) > 0
        return rankings if positive.all() else rankings.keep_lists(positive)

    def _weights_of(self, experts: Iterable[str]) -> Floats:
        """The weight of each of these experts, in their order."""
        weights = self._weights_by_name()
        return np.array([weights.get(name, 1.0) for name in experts])

    def _weights_by_name(self) -> dict[str, float]:
        """The parameter ``weights``, by the text of the names, so that 1 is "1"."""
        return {str(name): float(weight) for name, weight in (getattr(self, "weights", None) or {}).items()}
