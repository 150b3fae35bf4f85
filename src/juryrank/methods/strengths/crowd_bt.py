"""Crowd Bradley–Terry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.errors import DataError, warn_not_converged
from juryrank.kernels.crowd import crowd_strengths, list_comparisons
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.methods.base import Aggregator, weights_param
from juryrank.methods.cost import Cost
from juryrank.methods.learned_fields import ByName, Number, learned
from juryrank.methods.strengths._base import logistic, pairs_at_most, prior_param, warn_of_queries, with_tail
from juryrank.params import param

COMPARISON_LIMIT = 100_000_000  # of all lists together: about two gigabytes
BALANCED = 1e-9  # what items won and were expected to win differ by this share at most


@dataclass(kw_only=True)
class CrowdBT(Aggregator):
    r"""Crowd Bradley–Terry: each expert says the truth with a chance of its own, learned from all queries.

    Expert k puts i above j with probability :math:`\eta_k P_{ij} + (1 - \eta_k) P_{ji}`, where :math:`P_{ij}` are
    Bradley–Terry odds; η below ½ is an expert who is to be read backwards. ``fit`` learns η (``reliability_``, by name)
    and strengths together, in turns; ``predict`` fits the strengths of each query given η, and takes
    ``trust`` for experts it never met. A tie is half a comparison each way.

    >>> from juryrank import from_orders
    >>> data = from_orders([["a", "b", "c", "d"]] * 4 + [["d", "c", "b", "a"]])
    >>> model = CrowdBT().fit(data)
    >>> model.predict(data).top(), {k: round(v, 1) for k, v in model.reliability_.items()}
    ({'all': ['a', 'b', 'c', 'd']}, {'1': 0.9, '2': 0.9, '3': 0.9, '4': 0.9, '5': 0.4})

    Chen, Bennett, Collins-Thompson, Horvitz, WSDM 2013.
    """

    name = "crowd-bt"
    cost = Cost("pairs in lists", 5000.0)
    chance = staticmethod(logistic)
    weights: Mapping[str, float] | None = weights_param()
    trust: float = param(0.8, "reliability of an expert before any evidence", above=0.5, at_most=0.999)
    evidence: float = param(5.0, "imaginary comparisons behind trust", above=0)
    prior: float = prior_param()
    tol: float = param(1e-4, "stop when no reliability moves more than this", above=0)
    max_iter: int = param(500, "steps at most", at_least=1)
    reliability_: dict[str, float] = learned(ByName(Number(at_least=0, at_most=1)))

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        crowd = Crowd(self._drop_zero_weights(data.rankings), self.list_weights(self._drop_zero_weights(data.rankings)))
        reliable, strengths = np.full(len(data.experts), float(self.trust)), np.zeros(data.rankings.n_slots)
        for _ in range(self.max_iter):
            _, honest = crowd.climb(reliable, strengths, float(self.prior), 1)
            old, reliable = reliable, (honest + self.trust * self.evidence) / (crowd.compared + self.evidence)
            if np.abs(reliable - old).max(initial=0.0) <= self.tol:
                break
        else:
            warn_not_converged(self.name, "the reliabilities", self.max_iter)
        self.reliability_ = dict(zip(data.experts, reliable.tolist(), strict=True))

    def _scores(self, rankings: Rankings, out: Floats) -> Mapping[str, NDArray[Any]]:
        reliable = np.array([self.reliability_.get(name, float(self.trust)) for name in rankings.experts])
        crowd = Crowd(rankings, self.list_weights(rankings))
        steps, _ = crowd.climb(reliable, out, float(self.prior), self.max_iter)
        warn_of_queries(self.name, steps, self.max_iter)
        return {"steps": steps}


class Crowd:
    """Every comparison that every list makes, by pair; about 16 bytes each."""

    def __init__(self, r: Rankings, weight: Floats) -> None:
        self.rankings, self.lists = r, with_tail(r, weight, "ignore")
        made = r.list_size * (r.list_size - 1) // 2
        self.compared = np.bincount(r.list_expert, weight * made, minlength=len(r.experts))
        most = pairs_at_most("crowd-bt", r, self.lists)
        if (comparisons := int(made.sum())) > COMPARISON_LIMIT:
            raise DataError(
                f"crowd-bt keeps every comparison of every list, up to {COMPARISON_LIMIT}; the lists make {comparisons}"
                "; cut them, or use bradley-terry"
            )
        pair_ptr, compared_ptr, n_pairs = sizes_to_ptr(most), sizes_to_ptr(made), np.empty(len(r), np.int64)
        left, right = np.empty(pair_ptr[-1], np.int32), np.empty(pair_ptr[-1], np.int32)
        won, pair = np.empty(compared_ptr[-1]), np.empty(compared_ptr[-1], np.int32)
        self.comparisons = (pair_ptr, compared_ptr, n_pairs, left, right, won, pair)
        list_comparisons(*self.lists, most, *self.comparisons)

    def climb(self, reliable: Floats, strengths: Floats, prior: float, max_iter: int) -> tuple[Ints, Floats]:
        """Move the strengths; the steps it took, and of each expert the comparisons that were honest, before that."""
        r = self.rankings
        steps, agreed = np.zeros(len(r), np.int64), np.zeros(r.n_lists)
        of_list = reliable[r.list_expert]
        crowd_strengths(*self.lists, *self.comparisons, of_list, prior, BALANCED, max_iter, steps, agreed, strengths)
        honest: Floats = np.bincount(r.list_expert, agreed, minlength=len(reliable)).astype(np.float64)
        return steps, honest
