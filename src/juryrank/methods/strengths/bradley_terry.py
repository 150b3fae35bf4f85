"""Bradley–Terry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats
from juryrank.kernels.links import DAVIDSON, LOGISTIC, NEVER, RAO_KUPPER
from juryrank.methods.cost import Cost
from juryrank.methods.strengths._base import logistic
from juryrank.methods.strengths._pairwise_likelihood import PairwiseStrength
from juryrank.params import param

TIES = {"half": LOGISTIC, "davidson": DAVIDSON, "rao-kupper": RAO_KUPPER}


@dataclass(kw_only=True)
class BradleyTerry(PairwiseStrength):
    r"""Bradley–Terry: item i beats j with odds exp(s_i - s_j).

    The strengths maximise the likelihood of all pairs that the lists compare, times a normal prior with precision
    ``prior``. The prior keeps items finite that never lose or are never compared with the others; every group of items
    that are compared only with each other has mean 0. A tie counts as half a win for each item (``half``), or is an
    outcome of its own with one parameter per query: odds :math:`e^{d/2} : e^{-d/2} : \nu` (``davidson``), or a win if
    the lead is at least :math:`\log\theta` (``rao-kupper``). ``Consensus.details["tie"]`` has this parameter.

    >>> from juryrank import from_orders
    >>> BradleyTerry().fit_predict(from_orders([["a", "b"], ["a", "b"], ["b", "a"], ["b", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Bradley, Terry, 1952; Rao, Kupper, 1967; Davidson, 1970.
    """

    name = "bradley-terry"
    cost = Cost("pairs in lists", 190.0)
    ties: str = param(
        "half", "model of ties: half a win for each item, or an outcome with a parameter", choices=tuple(TIES)
    )

    def chance(self, lead: Any, tie: float = NEVER) -> Any:
        """The probability to win with a lead, given no tie; ``tie`` is the log of the tie parameter."""
        if self.ties != "rao-kupper" or tie == NEVER:
            return logistic(lead)
        win, lose = logistic(lead - tie), logistic(-lead - tie)
        return win / (win + lose)

    @property
    def link(self) -> int:
        return TIES[self.ties]

    def _details(self, tie: Floats) -> Mapping[str, NDArray[Any]]:
        if self.ties == "half":
            return {}
        return {"tie": np.exp(np.where(tie == NEVER, 0.0 if self.ties == "rao-kupper" else NEVER, tie))}
