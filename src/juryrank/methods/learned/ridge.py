"""Query-centred ridge regression."""

from dataclasses import dataclass
from typing import ClassVar

from juryrank.methods.learned.curves import PositionCurves
from juryrank.methods.learned.ridge_solver import RidgeSolver
from juryrank.params import param


@dataclass(kw_only=True)
class Ridge(PositionCurves):
    r"""Ridge regression of labels on the logarithms of ranks, inside queries.

    :math:`s_i = \sum_k a_k - b_k \log r_{ki}` over the experts k that ranked the item, so that :math:`-a_k` is the
    weight of a missing item. Labels and features are centred in every query; the penalty counts as ``shrink`` queries
    in which all weights are 0. Use it if most items are judged; with few labels, or runs over a large collection,
    ``jury`` is safer. Unknown experts, types of labels, ``partial_fit``, ``merge`` and ``report`` are as in ``jury``.

    >>> from juryrank import from_dicts
    >>> lists = {"good": {"q": ["a", "b", "c"]}, "bad": {"q": ["c", "b", "a"]}}
    >>> model = Ridge().fit(from_dicts(lists, labels={"q": {"a": 2, "b": 1, "c": 0}}))
    >>> {name: weights["b"] > 0 for name, weights in model.expert_weights().items() if name in lists}
    {'bad': False, 'good': True}
    """

    name = "ridge"
    curve_names: ClassVar[tuple[str, ...]] = ("b", "a")
    shrink: float = param(1.0, "strength of the prior that a weight is 0, in queries", above=0)

    def _solver(self) -> RidgeSolver:
        return RidgeSolver(self.shrink * self._strength)
