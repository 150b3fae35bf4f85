"""Learned position curves, regularised towards reciprocal rank fusion: the default where there are labels."""

from dataclasses import dataclass
from typing import ClassVar

from juryrank.methods.learned._curves import PositionCurves
from juryrank.params import param
from juryrank.training.solvers.rrf_prior import RRFPriorSolver


@dataclass(kw_only=True)
class Jury(PositionCurves):
    r"""Learned position curves, regularised towards RRF, in closed form: the default where there are labels.

    :math:`s_i = \sum_k u_k \frac{60}{60 + r_{ki}} + v_k \frac{10}{10 + r_{ki}} + m_k` over the experts k that ranked
    the item; an item that an expert did not rank gets no points from it, tied items get the same. The three weights of
    each expert are a least-squares fit of the labels inside queries, regularised towards the mean expert, and the mean
    expert towards RRF, by penalties that count as ``shrink`` and ``anchor`` queries. An unknown expert has the
    curve of the mean expert (of the pooled experts, if there are any).

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
    n_curves: ClassVar[int] = 3
    curve_names: ClassVar[tuple[str, ...]] = ("u", "v", "m")
    shrink: float = param(20.0, "strength of the prior that an expert is like the mean expert, in queries", above=0)
    anchor: float = param(5.0, "strength of the prior that the mean expert is as in RRF, in queries", above=0)

    def _solver(self) -> RRFPriorSolver:
        return RRFPriorSolver(self.shrink, self.anchor)
