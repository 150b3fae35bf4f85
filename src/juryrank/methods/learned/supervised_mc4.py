"""Supervised Markov chain MC4."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.kernels.soft_majority import soft_majority, soft_majority_slopes
from juryrank.methods.chains.mc4 import MC4
from juryrank.methods.cost import check_matrix_size
from juryrank.methods.learned._chain import Problem, SupervisedChain
from juryrank.params import param


@dataclass(kw_only=True)
class SupervisedMC4(SupervisedChain):
    """Supervised MC4: the chain MC4 with expert weights learned from labels, as in supervised-mc2.

    In training, majorities are replaced by sigmoids of the share of the weights.

    Liu, Liu, Qin, Ma, Li, WWW 2007.
    """

    name = "supervised-mc4"
    chain = MC4
    temperature: float = param(0.2, "width of the sigmoid of a majority in training", above=0)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        check_matrix_size(self.name, data.rankings, "supervised-mc2")
        super()._learn(data, valid)

    def _chain_scores(self, rankings: Rankings, weights: Floats, out: Floats) -> Any:
        check_matrix_size(self.name, rankings, "supervised-mc2")
        return super()._chain_scores(rankings, weights, out)

    def _walk(self, problem: Problem, list_weight: Floats) -> None:
        r = problem.rankings
        soft_majority(
            r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, list_weight, strong_first(r),
            self.temperature, self.teleport, self.tol, self.max_iter, problem.steps, problem.mass,
        )  # fmt: skip

    def _slopes(self, problem: Problem, list_weight: Floats, slope: Floats, out: Floats) -> None:
        r = problem.rankings
        soft_majority_slopes(
            r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, list_weight, strong_first(r),
            self.temperature, self.teleport, self.tol, self.max_iter, problem.mass, slope, out,
        )  # fmt: skip


def strong_first(r: Rankings) -> Ints:
    """The slots of each query by the number of items below them, summed over the lists."""
    below = np.repeat(r.query_size[r.list_query], r.list_size) - r.entry_place
    return np.lexsort((-np.bincount(r.entry_slot, below, minlength=r.n_slots), parents(r.slot_ptr)))
