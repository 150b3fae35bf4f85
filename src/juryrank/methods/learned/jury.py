"""The house method: learned position curves, shrunk to reciprocal rank fusion."""

from dataclasses import dataclass
from typing import ClassVar

from juryrank.methods.learned._curves import Curves
from juryrank.params import param
from juryrank.training.shrunk import ShrunkToRRF


@dataclass(kw_only=True)
class Jury(Curves):
    r"""Learned position curves, shrunk to RRF, in closed form: the default where there are labels.

    :math:`s_i = \sum_k u_k \frac{60}{60 + r_{ki}} + v_k \frac{10}{10 + r_{ki}} + m_k` over the experts k that ranked
    the item; what an expert leaves out gets nothing from it, ties get the same. The three numbers of each expert are a
    least-squares fit of the labels inside queries, held to the mean expert and the mean expert to RRF by penalties
    that count as ``shrink`` and ``anchor`` more queries. An expert unseen in training has the curve of the mean
    expert (of the pooled experts, where there are such).

    It learns from graded labels; also from a reference ranking or preference pairs, as gains. Validation queries are
    not needed. ``partial_fit`` and ``merge`` are exact; ``report`` says what queries left out of training tell. With
    one or two labelled queries it can still lose to RRF.

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
    shrink: float = param(20.0, "queries' worth of belief that an expert is like the mean expert", above=0)
    anchor: float = param(5.0, "queries' worth of belief that the mean expert is as in RRF", above=0)

    def _solver(self) -> ShrunkToRRF:
        return ShrunkToRRF(self.shrink, self.anchor)
