"""Learned position curves, regularised towards reciprocal rank fusion: the default where there are labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from juryrank.methods.learned._curves import PositionCurves
from juryrank.params import param
from juryrank.training.solvers.rrf_prior import PRIORS, RRFPriorSolver

PRIOR_DOC = (
    "the prior weights of experts. equal: all the same, as in RRF; correlation: larger for experts that correlate with "
    "the labels, and a curve log(1 + 100/rank) has half of the prior; auto: correlation, but equal for lists with gaps "
    "(if on average less than half of the ranks down to the last one have an item)"
)


@dataclass(kw_only=True)
class Jury(PositionCurves):
    r"""Learned position curves, regularised towards RRF, in closed form: the default where there are labels.

    :math:`s_i = \sum_k u_k \frac{60}{60 + r_{ki}} + v_k \frac{10}{10 + r_{ki}} + m_k + w_k \log(1 + 100 / r_{ki})` over
    the experts k that ranked the item; an item that an expert did not rank gets no points from it, tied items get the
    same. The weights of each expert are a least-squares fit of the labels inside queries, regularised towards the mean
    expert, and the mean expert towards RRF, by penalties that count as ``shrink`` and ``anchor`` queries. An unknown
    expert has the curve of the mean expert (of the pooled experts, if there are any).

    With ``prior="correlation"``, the weights that expert k is regularised to are proportional to
    :math:`\exp(8 \frac{n}{n + 10} (c_k - \bar c))`, where :math:`c_k` is the correlation of its :math:`60 / (60 + r)`
    with the labels inside the n labelled queries; half of them is on the first curve, half on the logarithm. With
    ``prior="equal"`` they are equal, all on the first curve, and :math:`w_k` is 0. The default ``auto`` takes the first
    unless the lists have gaps.

    It learns from graded labels, or from the gains of a reference ranking or preference pairs. Validation queries are
    not needed. ``partial_fit`` and ``merge`` are exact; ``report`` gives the held-out gain over RRF. With one or two
    labelled queries it can still be worse than RRF.

    >>> from juryrank import from_dicts
    >>> queries = [f"q{n}" for n in range(9)]
    >>> runs = {"good": dict.fromkeys(queries, ["a", "b", "c"]), "bad": dict.fromkeys(queries, ["c", "a", "b"])}
    >>> model = Jury().fit(from_dicts(runs, labels=dict.fromkeys(queries, {"a": 2, "b": 1, "c": 0})))
    >>> model.predict(from_dicts({"bad": {"new": ["x", "y"]}, "good": {"new": ["y", "x"]}})).top()
    {'new': ['y', 'x']}
    """

    name = "jury"
    curve_names: ClassVar[tuple[str, ...]] = ("u", "v", "m", "w")
    shrink: float = param(20.0, "strength of the prior that an expert is like the mean expert, in queries", above=0)
    anchor: float = param(5.0, "strength of the prior that the mean expert is as in RRF, in queries", above=0)
    prior: str = param("auto", PRIOR_DOC, choices=PRIORS)

    @property
    def n_curves(self) -> int:
        return self._solver().n_curves

    @classmethod
    def from_learned(cls, params: Mapping[str, Any], learned: Mapping[str, Any]) -> Self:
        """A fitted model; those of version 0.1 do not name their prior, which was ``equal``."""
        return super().from_learned({"prior": "equal", **params} if isinstance(params, Mapping) else params, learned)

    def _solver(self) -> RRFPriorSolver:
        return RRFPriorSolver(self.shrink, self.anchor, self.prior)
