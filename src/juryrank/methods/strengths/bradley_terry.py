"""Bradley–Terry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data.rankings import Floats
from juryrank.kernels.links import DAVIDSON, LOGISTIC, NEVER, RAO_KUPPER
from juryrank.methods.cost import Cost
from juryrank.methods.strengths._base import logistic
from juryrank.methods.strengths._pairs import PairwiseStrength
from juryrank.params import param

TIES = {"half": LOGISTIC, "davidson": DAVIDSON, "rao-kupper": RAO_KUPPER}


@dataclass(kw_only=True)
class BradleyTerry(PairwiseStrength):
    r"""Bradley–Terry: item i beats j with odds exp(s_i - s_j).

    The strengths are the maximum of the likelihood of all pairs that the lists compare, times a normal prior with
    precision ``prior``: items that never lose, or that nobody compares with the others, stay finite, and every group
    of items that is compared only within itself has mean 0. Ties are half a win each (``half``), or an outcome of
    their own with one parameter per query: odds :math:`e^{d/2} : e^{-d/2} : \nu` (``davidson``), or a win where
    the lead is at least :math:`\log\theta` (``rao-kupper``); ``Consensus.details["tie"]`` has it.

    >>> from juryrank import from_orders
    >>> BradleyTerry().fit_predict(from_orders([["a", "b"], ["a", "b"], ["b", "a"], ["b", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    Bradley, Terry, 1952; Rao, Kupper, 1967; Davidson, 1970.
    """

    name = "bradley-terry"
    cost = Cost("pairs in lists", 190.0)
    ties: str = param("half", "what a tie is: half a win each, or an outcome with a parameter", choices=tuple(TIES))

    def chance(self, lead: Any, tie: float = NEVER) -> Any:
        """The chance to win with a lead, ties aside; ``tie`` is the log of the tie parameter."""
        if self.ties != "rao-kupper" or tie == NEVER:
            return logistic(lead)
        win, lose = logistic(lead - tie), logistic(-lead - tie)
        return win / (win + lose)

    def _link(self) -> int:
        return TIES[self.ties]

    def _details(self, tie: Floats) -> Mapping[str, NDArray[Any]]:
        if self.ties == "half":
            return {}
        return {"tie": np.exp(np.where(tie == NEVER, 0.0 if self.ties == "rao-kupper" else NEVER, tie))}
