"""Thurstone's model."""

from dataclasses import dataclass
from typing import Any

from juryrank.kernels.choices import PROBIT
from juryrank.methods.cost import Cost
from juryrank.methods.strengths.likelihood import PairwiseStrength


@dataclass(kw_only=True)
class Thurstone(PairwiseStrength):
    r"""Thurstone Case V: item i beats j with the probability that a standard normal variable is below s_i - s_j.

    The strengths maximise the likelihood of all pairs that the lists compare, times a normal prior with precision
    ``prior``; a tie counts as half a win for each item. The difference of two performances has variance 1.

    >>> from juryrank import from_orders
    >>> Thurstone().fit_predict(from_orders([["a", "b"], ["a", "b"], ["b", "a"], ["b", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Thurstone, 1927.
    """

    name = "thurstone"
    cost = Cost("pairs in lists", 390.0)

    def chance(self, lead: Any) -> Any:
        """The probability to win with a lead: the normal distribution function."""
        from scipy.special import ndtr

        return ndtr(lead)

    @property
    def link(self) -> int:
        return PROBIT
