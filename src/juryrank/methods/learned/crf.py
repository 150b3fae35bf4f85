"""A conditional random field over orders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.methods.base import others_key
from juryrank.methods.learned._trained import Trained
from juryrank.methods.points import PositionPoints
from juryrank.params import param
from juryrank.training.expected_metric import ExpectedMetric
from juryrank.training.panel import Panel
from juryrank.training.wins import form_param, win_values

RATES = {"mean": 10_000.0, "sum": 2.0}


@dataclass(kw_only=True)
class CRF(Trained):
    r"""A conditional random field over orders, trained for the expected value of the target metric.

    :math:`s_i = \sum_k \alpha_k [k \text{ did not rank } i] + \beta^+_k W_{ki} - \beta^-_k L_{ki}`, where
    :math:`W_{ki}` is the sum of what expert k prefers item i to others by, and :math:`L_{ki}` others to it. An order
    y of M items has the probability :math:`\exp(\sum_p s_{y(p)} / \log(p + 1) / M^2)`, up to a factor, so the most
    probable order is that of the scores. Training samples a few items of a query, at least one of every label, and
    takes an exact step for the expected metric over all their orders. Tied items prefer none to the other.

    With ``potentials="sum"``, as published, W and L grow with the number of items and the weight of missing does not;
    means let training on a few items and ranking of many see the same scale, and rank better.

    Learns from graded labels; with the targets nDCG and KendallTau also from a reference ranking or preference pairs.

    Volkovs, Zemel, CIKM 2013.
    """

    name = "crf"
    scaled: ClassVar[bool] = False
    form: str = form_param()
    potentials: str = param("mean", "preferences over the other items, or their sum", choices=tuple(RATES))
    sample: int = param(6, "items of a query whose orders are all gone through", at_least=2, at_most=8)
    rate: float | None = param(None, "step size; by default 10000 for means and 2 for sums", above=0)
    epochs: int = param(300, "passes over the labelled queries", at_least=1)

    def as_points(self) -> PositionPoints:
        """Weighted counts of the items above and below; as means they depend on the size of the query."""
        return PositionPoints(("place", "length", "items") if self.potentials == "mean" else ("place", "length"))

    @property
    def others_key(self) -> str:
        return others_key(self.experts_)

    def expert_weights(self) -> dict[str, dict[str, float]]:
        """By expert: alpha (missing), beta+ (preferred) and beta- (others preferred)."""
        triples = self.weights_.reshape(-1, 3) * (-1.0, 1.0, -1.0)  # a rank is what missing is not
        rows = zip([*self.experts_, self.others_key], triples.tolist(), strict=True)
        return {name: dict(zip(("alpha", "beta+", "beta-"), row, strict=True)) for name, row in rows}

    def _n_weights(self) -> int:
        return 3 * (len(self.experts_) + 1)

    def _values(self, rankings: Rankings, panel: Panel) -> Floats:
        return win_values(rankings, self.form, mean=self.potentials == "mean")

    def _learner(self) -> ExpectedMetric:
        return ExpectedMetric(sample=self.sample, rate=self.rate or RATES[self.potentials])
