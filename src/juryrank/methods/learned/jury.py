"""Learned position curves, regularised towards reciprocal rank fusion: the default where there are labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import ParameterError
from juryrank.learning.curves import QueryParts, Statistics
from juryrank.learning.expert_groups import experts_with_lists
from juryrank.learning.held_out import HeldOutValues
from juryrank.learning.label_survey import LabelSurvey, Treatment
from juryrank.learning.labelled import AUTO, LabelledQueries
from juryrank.methods.formula import Formula
from juryrank.methods.learned.curves import PositionCurves
from juryrank.methods.learned.jury_prior import PRIORS, SCORE, RRFPriorSolver
from juryrank.methods.learned.score_curve import scales_of, score_curve, score_deviations
from juryrank.methods.learned_fields import ByName, Number, learned
from juryrank.params import param

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
    with the labels inside the n labelled queries; one half is on the first curve, the other on the logarithm. With
    ``prior="equal"`` they are equal and all on the first curve, and :math:`w_k` is 0. The default ``auto`` is
    ``correlation``, or ``equal`` if the training lists have gaps, as lists have that were cut out of longer ones.

    With ``scores=true``, the scores x of a list are one more curve,
    :math:`(x - \min x) / \max(\sigma_k, \sigma)`, in units of the standard deviation of the list's scores or, if that
    is larger, of the typical one of the expert. That scale is learned in the first fit with lists of the expert and
    then kept: ``partial_fit`` does not change it, and models with different scales cannot be merged. All lists must
    have scores. Points then depend on more than the rank, so that such a model cannot be exported, and ``fuse`` takes
    longer.

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
    curve_names: ClassVar[tuple[str, ...]] = ("u", "v", "m", "w", "s")
    shrink: float = param(20.0, "strength of the prior that an expert is like the mean expert, in queries", above=0)
    anchor: float = param(5.0, "strength of the prior that the mean expert is as in RRF, in queries", above=0)
    prior: str = param("auto", PRIOR_DOC, choices=PRIORS)
    scores: bool = param(False, "also use the scores of the lists, as a curve of its own for each expert")

    scales_: dict[str, float] = learned(ByName(Number(at_least=0)))  # typical deviation of scores, by expert

    @property
    def uses_scores(self) -> bool:  # type: ignore[override]
        """Whether scores matter, not only the order that they give."""
        return self._has_score_curve if self.is_fitted else self.scores

    @property
    def n_curves(self) -> int:
        return self._solver_with(self.shrink).n_curves

    @classmethod
    def from_learned(cls, params: Mapping[str, Any], learned: Mapping[str, Any]) -> Self:
        """A fitted model; those of earlier versions do not name their prior, which was ``equal``."""
        return super().from_learned({"prior": "equal", **params} if isinstance(params, Mapping) else params, learned)

    @classmethod
    def _complete(cls, learned: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"scales_": {}, **super()._complete(learned)}

    def merge(self, other: Self) -> Self:
        """A model of the queries of both, as if fitted on all of them; they may know different experts."""
        merged = super().merge(other)
        both = self.scales_.keys() & other.scales_.keys()
        if differ := sorted(name for name in both if self.scales_[name] != other.scales_[name]):
            scales = f"{self.scales_[differ[0]]:g} and {other.scales_[differ[0]]:g}"
            raise ParameterError(
                f"models of {self.name} with scores=true can be merged only if the scales of scores are the same, "
                f"and those of expert {differ[0]!r} are {scales}; fit one model on all data"
            )
        merged.scales_ = {**other.scales_, **self.scales_}
        return merged

    def formula(self) -> Formula | None:
        """The curve of each expert at each rank; None if scores matter, too."""
        return None if self.uses_scores else super().formula()

    @property
    def _has_score_curve(self) -> bool:
        return len(self.stranger_) > SCORE

    def _solver(self) -> RRFPriorSolver:
        return self._solver_with(self.shrink * self._strength)

    def _solver_with(self, shrink: float) -> RRFPriorSolver:
        return RRFPriorSolver(shrink, self.anchor, self.prior, self.scores)

    def _add(self, queries: LabelledQueries, *earlier: Any) -> None:
        self._use_lists(self._survey_lists(queries))
        super()._add(queries, *earlier)

    def _survey_lists(self, queries: LabelledQueries) -> Mapping[str, Floats]:
        return score_deviations(queries.rankings) if self.scores else {}

    def _use_lists(self, found: Mapping[str, Floats]) -> None:
        self.scales_ = {**scales_of(found), **vars(self).get("scales_", {})}

    def _entry_curves(self, rankings: Rankings, n_curves: int) -> Floats:
        curves = super()._entry_curves(rankings, n_curves)
        return curves if n_curves <= SCORE else np.column_stack([curves, score_curve(rankings, self.scales_)])


def solver_of(survey: LabelSurvey) -> RRFPriorSolver:
    """What ``jury``, with its default parameters, solves by if it has such labels."""
    jury = Jury()
    return RRFPriorSolver(jury.shrink * survey.strength(survey.treatment), jury.anchor, jury.prior)


def statistics_of(data: Dataset, treatment: Treatment) -> Statistics | None:
    """What ``jury``, with its default parameters, learns from these queries, without held-out values.

    Statistics of parts of the data can be added. None if nothing can be learned.
    """
    if not len(queries := LabelledQueries.of(data, AUTO, treatment)):
        return None
    jury = Jury()
    solver = RRFPriorSolver(jury.shrink, jury.anchor, jury.prior)
    curves = solver.curves(queries.rankings.entry_rank)[:, : solver.n_curves]
    layout = Statistics.empty(solver.n_curves, experts_with_lists(queries.rankings))
    return QueryParts(queries, curves, layout).total()


def jury_of(whole: Statistics, survey: LabelSurvey) -> Jury:
    """The model of these statistics and labels; as no query was held out, it has no verdict."""
    return Jury().with_survey({}, survey).from_statistics(whole, HeldOutValues.empty(()))
