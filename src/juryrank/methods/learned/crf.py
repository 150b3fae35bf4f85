"""A conditional random field over orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.methods.formula import Formula
from juryrank.methods.learned.epochs import EpochTrained
from juryrank.methods.learned.expected_metric import ExpectedMetricLearner
from juryrank.methods.learned.preferences import form_param, win_values
from juryrank.methods.weighting import others_key
from juryrank.params import param

RATES = {"mean": 10_000.0, "sum": 2.0}


@dataclass(kw_only=True)
class CRF(EpochTrained):
    r"""A conditional random field over orders, trained for the expected value of the target metric.

    :math:`s_i = \sum_k \alpha_k [k \text{ did not rank } i] + \beta^+_k W_{ki} - \beta^-_k L_{ki}`, where
    :math:`W_{ki}` sums the preferences of expert k for item i over others, and :math:`L_{ki}` those against it. An
    order y of M items has the probability :math:`\exp(\sum_p s_{y(p)} / \log(p + 1) / M^2)`, up to a factor, so the
    most probable order is that of the scores. Training samples a few items of a query, at least one of every label,
    and takes an exact gradient step on the expected metric over all their orders. Between tied items there is no
    preference.

    With ``potentials="sum"``, as published, W and L grow with the number of items of the query, but the weight of a
    missing item does not. Means have the same scale for all queries; on MQ2008-agg they are above sums within noise.

    Learns from graded labels; with the targets nDCG and KendallTau also from a reference ranking or preference pairs.

    Volkovs, Zemel, CIKM 2013.
    """

    name = "crf"
    scaled: ClassVar[bool] = False
    form: str = form_param()
    potentials: str = param("mean", "mean of the preferences over the other items, or their sum", choices=tuple(RATES))
    sample: int = param(6, "items sampled from a query; all their orders are used", at_least=2, at_most=8)
    rate: float | None = param(None, "step size; by default 10000 for means and 2 for sums", above=0)
    epochs: int = param(300, "passes over the labelled queries", at_least=1)

    def formula(self) -> Formula:
        """Weighted counts of the items above and below; as means they depend on the size of the query."""
        return Formula(depends_on=("place", "length", "items") if self.potentials == "mean" else ("place", "length"))

    @property
    def others_key(self) -> str:
        return others_key(self.experts_)

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """By expert: alpha (missing), beta+ (preferred) and beta- (others preferred)."""
        triples = self.weights_.reshape(-1, 3) * (
            -1.0,
            1.0,
            -1.0,
        )  # alpha is the weight of a missing item, what is learned that of a ranked one
        rows = zip([*self.experts_, self.others_key], triples.tolist(), strict=True)
        return {name: dict(zip(("alpha", "beta+", "beta-"), row, strict=True)) for name, row in rows}

    def _n_weights(self) -> int:
        return 3 * (len(self.experts_) + 1)

    def _values(self, rankings: Rankings, groups: ExpertGroups) -> Floats:
        return win_values(rankings, self.form, mean=self.potentials == "mean")

    def _learner(self) -> ExpectedMetricLearner:
        return ExpectedMetricLearner(sample=self.sample, rate=self.rate or RATES[self.potentials])
