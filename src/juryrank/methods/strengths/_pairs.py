"""Models of strengths that see lists as comparisons of pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.strengths import pair_strengths
from juryrank.methods.strengths._base import Lists, Strength, pairs_at_most, prior_param, tol_param
from juryrank.params import param


@dataclass(kw_only=True)
class PairwiseStrength(Strength):
    """The maximum of a likelihood of pairs with a normal prior, by Newton's method."""

    prior: float = prior_param()
    tol: float = tol_param()
    max_iter: int = param(100, "Newton steps at most", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        most, tie = pairs_at_most(self.name, r, lists), np.ones(len(r))
        pair_strengths(*lists, most, self._link(), float(self.prior), float(self.tol), self.max_iter, steps, tie, out)
        return self._details(tie)

    @abstractmethod
    def _link(self) -> int:
        """Which of the links of ``kernels/links.py``."""

    def _details(self, tie: Floats) -> Mapping[str, NDArray[Any]]:
        """What to report of the tie parameter."""
        return {}
