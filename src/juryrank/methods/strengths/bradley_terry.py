"""Bradley–Terry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.errors import ParameterError
from juryrank.kernels.choices import DAVIDSON, LOGISTIC, NEVER, RAO_KUPPER
from juryrank.kernels.lists import Lists
from juryrank.methods.cost import Cost
from juryrank.methods.lists import absent_rank
from juryrank.methods.strengths._entry_values import check_magnitude
from juryrank.methods.strengths.likelihood import PairwiseStrength
from juryrank.methods.strengths.strengths import logistic
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

    With ``counts="difference"`` a list counts a pair as many wins as its items are apart in score (in rank if lists
    have no scores), as Volkovs and Zemel (WWW 2012) do: ratings of 5 and 2 are three wins, equal ones are none. A list
    of ranks then puts items that it leaves out, with ``last``, where ``mpm`` does.

    >>> from juryrank import from_orders
    >>> BradleyTerry().fit_predict(from_orders([["a", "b"], ["a", "b"], ["b", "a"], ["b", "c"]])).top()
    {'all': ['a', 'b', 'c']}

    >>> from juryrank import from_dicts
    >>> far = {"x": {"q": {"a": 5, "b": 1}}, "y": {"q": {"a": 3, "b": 4}}, "z": {"q": {"a": 3, "b": 4}}}
    >>> [BradleyTerry(counts=counts).fit_predict(from_dicts(far)).top()["q"] for counts in ("once", "difference")]
    [['b', 'a'], ['a', 'b']]

    Bradley, Terry, 1952; Rao, Kupper, 1967; Davidson, 1970.
    """

    name = "bradley-terry"
    cost = Cost("pairs in lists", 190.0)
    ties: str = param(
        "half", "model of ties: half a win for each item, or an outcome with a parameter", choices=tuple(TIES)
    )
    counts: str = param(
        "once",
        "wins that a list counts for a pair: 1, or the difference in score (in rank if lists have no scores)",
        choices=("once", "difference"),
    )

    def check(self) -> None:
        super().check()
        if self.counts == "difference" and self.ties != "half":
            raise ParameterError(
                f"ties of {type(self).__name__} must be half if counts is difference, got {self.ties!r}: a tie has a "
                "difference of 0 and counts nothing; use ties='half' or counts='once'"
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

    def _entry_values(self, r: Rankings, lists: Lists) -> Floats:
        if self.counts == "once":
            return super()._entry_values(r, lists)
        entry_rank = np.asarray(lists.entry_rank)
        ranked = np.isfinite(entry_rank)
        if r.entry_score is None:
            beyond = np.repeat(absent_rank(r, r.entry_rank, "last"), np.diff(lists.entry_ptr))
            return -np.where(ranked, entry_rank, beyond)
        if not ranked.all():
            raise ParameterError(
                f"missing of {type(self).__name__} must be ignore if counts is difference and lists have scores: the "
                "difference in score to an item without a score is unknown"
            )
        check_magnitude(r.entry_score, "counts='difference'", "counts='once'")
        return r.entry_score

    def _details(self, tie: Floats) -> Mapping[str, NDArray[Any]]:
        if self.ties == "half":
            return {}
        return {"tie": np.exp(np.where(tie == NEVER, 0.0 if self.ties == "rao-kupper" else NEVER, tie))}
