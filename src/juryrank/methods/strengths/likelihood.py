"""Models of strengths that treat a list as comparisons of all its pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.lists import Lists
from juryrank.kernels.strengths import pair_strengths
from juryrank.methods.strengths.strengths import Strength, max_pairs, prior_param, tol_param
from juryrank.params import param


@dataclass(kw_only=True)
class PairwiseStrength(Strength):
    """The maximum of a likelihood of pairs with a normal prior, found by Newton's method."""

    prior: float = prior_param()
    tol: float = tol_param()
    max_iter: int = param(100, "maximum number of Newton steps", at_least=1)

    def _strengths(self, r: Rankings, lists: Lists, steps: Ints, out: Floats) -> Mapping[str, NDArray[Any]]:
        most, tie, value = max_pairs(self.name, r, lists), np.ones(len(r)), self._entry_values(r, lists)
        settings = (self.link, float(self.prior), float(self.tol), self.max_iter)
        pair_strengths(lists, most, value, *settings, steps, tie, out)
        return self._details(tie)

    @property
    @abstractmethod
    def link(self) -> int:
        """The link function, one of those of ``kernels/choices.py``."""

    def _entry_values(self, r: Rankings, lists: Lists) -> Floats:
        """A value of each entry whose differences are the counts of pairs; empty where each pair counts once."""
        return np.empty(0)

    def _details(self, tie: Floats) -> Mapping[str, NDArray[Any]]:
        """Details of the tie parameter per query, for models that have one."""
        return {}
