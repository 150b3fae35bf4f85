"""What methods with item features share: the loss, coefficients of features, and the history of the objective."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from juryrank.data import Dataset
from juryrank.data.arrays import Floats
from juryrank.learning.columns import feature_columns
from juryrank.methods.base import Aggregator
from juryrank.methods.features.glm import LOSSES
from juryrank.methods.learned_fields import Array, ByName, ListOf, Names, Number, learned
from juryrank.params import param


def loss_param() -> Any:
    """The parameter ``loss``, the same wherever scores are retargeted."""
    return param("squared", "squared: normal errors; kl: shares of the query; poisson: counts", choices=tuple(LOSSES))


@dataclass(kw_only=True)
class FeatureCoefficients(Aggregator):
    """A method with one coefficient per item feature, learned by steps that lower an objective."""

    needs_features = True

    features_: list[str] = learned(Names("features", distinct=False))
    feature_weights_: Floats = learned(Array("features"))
    # The objective after each step; with labels, monotone-retargeting adds Kendall's tau of lists and of features.
    history_: dict[str, list[float]] = learned(ByName(ListOf(Number())))

    @abstractmethod
    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        """Fill ``features_``, ``feature_weights_`` and ``history_``."""

    def _feature_scores(self, data: Dataset) -> Floats:
        """The features times their coefficients."""
        return weighted_sum(feature_columns(self.name, data, len(self.features_)), self.feature_weights_)


def weighted_sum(columns: Floats, weights: Floats) -> Floats:
    """``columns @ weights`` row by row, so that a query has the same scores alone as among others."""
    total: Floats = (columns * weights).sum(axis=1)
    return total
