"""Crowd Bradley–Terry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Codes, Floats, Ints
from juryrank.errors import DataError, warn_not_converged
from juryrank.kernels.crowd import crowd_strengths, list_pairs
from juryrank.kernels.lists import Lists
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.methods.base import Aggregator, weights_param
from juryrank.methods.cost import Cost
from juryrank.methods.learned_fields import ByName, Number, learned
from juryrank.methods.strengths.strengths import lists_with_tail, logistic, max_pairs, prior_param, warn_of_queries
from juryrank.params import param

COMPARISON_LIMIT = 20_000_000  # of all lists together: some 20 seconds
STRENGTH_TOL = 1e-9  # the wins and the expected wins of every item differ by at most this share


@dataclass(kw_only=True)
class CrowdBT(Aggregator):
    r"""Crowd Bradley–Terry: each expert has a reliability, learned without labels from all queries.

    Expert k puts i above j with probability :math:`\eta_k P_{ij} + (1 - \eta_k) P_{ji}`, where :math:`P_{ij}` are
    Bradley–Terry probabilities; η below ½ means that the expert tends to reverse the order. ``fit`` alternates between
    η (``reliability_``, by name) and the strengths; ``predict`` fits the strengths of each query given η, with
    η = ``trust`` for experts that were not in the training data. A tie counts as half a comparison in each direction.

    >>> from juryrank import from_orders
    >>> data = from_orders([["a", "b", "c", "d"]] * 4 + [["d", "c", "b", "a"]])
    >>> model = CrowdBT().fit(data)
    >>> model.predict(data).top(), {k: round(v, 1) for k, v in model.reliability_.items()}
    ({'all': ['a', 'b', 'c', 'd']}, {'1': 0.9, '2': 0.9, '3': 0.9, '4': 0.9, '5': 0.4})

    Chen, Bennett, Collins-Thompson, Horvitz, WSDM 2013.
    """

    name = "crowd-bt"
    cost = Cost("pairs in lists", 2000.0)
    chance = staticmethod(logistic)
    weights: Mapping[str, float] | None = weights_param()
    trust: float = param(0.8, "reliability of an expert before any evidence", above=0.5, at_most=0.999)
    evidence: float = param(5.0, "weight of trust, as a number of comparisons", above=0)
    prior: float = prior_param()
    tol: float = param(1e-4, "stop when no reliability changes by more than this", above=0)
    max_iter: int = param(500, "maximum number of steps", at_least=1)
    most_comparisons: int = param(
        COMPARISON_LIMIT, "refuse lists that make more; a million take about a second", at_least=1
    )
    reliability_: dict[str, float] = learned(ByName(Number(at_least=0, at_most=1)))

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        kept = self._drop_zero_weights(data.rankings)
        weight = self.list_weights(kept)
        crowd = Crowd(kept, weight, self.most_comparisons)
        reliability, strengths = np.full(len(data.experts), float(self.trust)), np.zeros(data.rankings.n_slots)
        for _ in range(self.max_iter):
            _, correct = crowd.fit_strengths(reliability, strengths, float(self.prior), 1)
            old, reliability = reliability, (correct + self.trust * self.evidence) / (crowd.compared + self.evidence)
            if np.abs(reliability - old).max(initial=0.0) <= self.tol:
                break
        else:
            warn_not_converged(self.name, "the reliabilities", self.max_iter)
        self.reliability_ = dict(zip(data.experts, reliability.tolist(), strict=True))

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        reliability = np.array([self.reliability_.get(name, float(self.trust)) for name in rankings.experts])
        crowd = Crowd(rankings, self.list_weights(rankings), self.most_comparisons)
        steps, _ = crowd.fit_strengths(reliability, out, float(self.prior), self.max_iter)
        warn_of_queries(self.name, steps, self.max_iter)
        return {"steps": steps}


class Pairs(NamedTuple):
    """The pairs of items that some list compares; the kernels of ``crowd`` take these arrays in this order."""

    pair_ptr: Ints  # [n_queries + 1] where the pairs of each query begin
    n_pairs: Ints  # [n_queries] the number of distinct pairs
    left: Codes  # the first item of each pair
    right: Codes


class Crowd:
    """The pairs of items of all lists, 8 bytes each, and the fit of strengths to the comparisons."""

    def __init__(self, r: Rankings, weight: Floats, most_comparisons: int) -> None:
        self.rankings, self.lists = r, by_slot(lists_with_tail(r, weight, "ignore"))
        made = r.list_size * (r.list_size - 1) // 2
        self.compared = np.bincount(r.list_expert, weight * made, minlength=len(r.experts))
        most = max_pairs("crowd-bt", r, self.lists)
        demand_few_comparisons(r, most_comparisons)
        pair_ptr = sizes_to_ptr(most)
        left, right = np.empty(pair_ptr[-1], np.int32), np.empty(pair_ptr[-1], np.int32)
        self.pairs = Pairs(pair_ptr, np.empty(len(r), np.int64), left, right)
        list_pairs(self.lists, most, *self.pairs)

    def fit_strengths(self, reliability: Floats, strengths: Floats, prior: float, max_iter: int) -> tuple[Ints, Floats]:
        """Improve the strengths; the number of steps, and the expected correct comparisons of each expert before."""
        r = self.rankings
        steps, correct = np.zeros(len(r), np.int64), np.zeros(r.n_lists)
        of_list = reliability[r.list_expert]
        crowd_strengths(self.lists, *self.pairs, of_list, prior, STRENGTH_TOL, max_iter, steps, correct, strengths)
        by_expert: Floats = np.bincount(r.list_expert, correct, minlength=len(reliability)).astype(np.float64)
        return steps, by_expert


def demand_few_comparisons(r: Rankings, most: int) -> None:
    """A DataError where going through all comparisons would take longer than the user allows."""
    if (comparisons := int((r.list_size * (r.list_size - 1) // 2).sum())) > most:
        raise DataError(
            f"crowd-bt goes through every comparison of every list many times and takes up to {most}; the lists make "
            f"{comparisons}, which would take about {comparisons / 1e6:.0f} seconds; cut the lists, use bradley-terry, "
            "or allow it with most_comparisons"
        )


def by_slot(lists: Lists) -> Lists:
    """The lists, without tails, with the entries of each in the order of the slots."""
    order = np.lexsort((lists.entry_slot, parents(lists.entry_ptr)))
    slot, rank = np.asarray(lists.entry_slot)[order], np.asarray(lists.entry_rank)[order]
    return Lists(lists.slot_ptr, lists.list_ptr, lists.entry_ptr, slot, rank, lists.list_weight, lists.tail)
