"""Items that would change the learned model most, chosen by the posterior of its weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.learning.baseline import sum_of_points
from juryrank.learning.curves import QueryParts, Statistics, mean_fill, solve_curves
from juryrank.learning.expert_lists import expert_values
from juryrank.learning.label_survey import LabelSurvey
from juryrank.learning.labelled import AUTO, LabelledQueries
from juryrank.methods.learned.jury import solver_of
from juryrank.tasks.judge.plan_order import DIGITS, places

FEWEST_QUERIES = 5  # labelled queries that jury needs before its choices are followed
MOST_WEIGHTS = 2000  # of a model whose covariance is computed: a matrix of 32 MB
TOP = 10  # items of the learned order; the others are compared with their mean
CONTENDERS = 5  # first items of an order that may decide


@dataclass(frozen=True, eq=False)
class Posterior:
    """Weights of ``jury``: mean, and covariance for noise of variance 1; fitted to the labels so far."""

    rankings: Rankings
    curves: Floats  # [n_entries, n_curves]
    mean: Floats  # [n_experts · n_curves]
    covariance: Floats  # [n_experts · n_curves, the same]

    @classmethod
    def of(cls, data: Dataset) -> Posterior | None:
        """The posterior given the labels of the data; None if they are too few, or experts too many."""
        solver, queries = solver_of(LabelSurvey.of(data)), LabelledQueries.of(data, AUTO)
        if len(queries) < FEWEST_QUERIES or len(data.experts) * solver.n_curves > MOST_WEIGHTS:
            return None
        curves = [solver.curves(r.entry_rank)[:, : solver.n_curves] for r in (queries.rankings, data.rankings)]
        whole = QueryParts(queries, curves[0], Statistics.empty(solver.n_curves, data.experts)).total()
        copies = whole.count_experts(whole.seen)[None]
        n_queries, fill = np.array([float(whole.n_queries)]), mean_fill(whole.filled[None])
        covariance = solver.covariance(whole.gram[None], n_queries, copies, fill)[0]
        return cls(data.rankings, curves[1], solve_curves(whole, solver)[0].ravel(), covariance)

    @cached_property
    def place(self) -> Ints:
        """The place of each slot in the learned order."""
        r = self.rankings
        by_list = self.mean.reshape(len(r.experts), -1)[r.list_expert]
        points = (self.curves * np.repeat(by_list, r.list_size, axis=0)).sum(axis=1)
        return places(r, sum_of_points(r, points))

    def features(self, slots: Ints) -> Floats:
        """What the weights are multiplied with in the scores of some slots, [n, n_experts · n_curves]."""
        r, n_curves = self.rankings, self.curves.shape[1]
        row = np.full(r.n_slots, -1)
        row[slots] = np.arange(len(slots))
        entry = np.flatnonzero(row[r.entry_slot] >= 0)
        of_list = np.searchsorted(r.entry_ptr, entry, side="right") - 1
        out = np.zeros((len(slots), len(r.experts), n_curves))
        values = self.curves[entry] * r.list_weight[of_list, None]
        np.add.at(out, (row[r.entry_slot[entry]], r.list_expert[of_list]), values)
        return out.reshape(len(slots), len(r.experts) * n_curves)


def deciding_items(data: Dataset, rrf_place: Ints, open_slots: NDArray[np.bool_]) -> Iterator[tuple[int, str]]:
    """Slots that decide between the learned model, RRF and the best expert, most uncertain first, each with the reason.

    They are among the first five of the learned model or of the best expert, and not of RRF, in queries with labels.
    The next is always the one whose score, compared with the first ten of its query, is most uncertain, given that
    the ones before it are judged.
    """
    posterior = Posterior.of(data)
    if posterior is None:
        return
    expert = _best_expert(data)
    rank = _ranks_of(data.rankings, expert)
    labelled = np.bincount(parents(data.rankings.slot_ptr), ~np.isnan(data.slot_labels), len(data)) > 0
    contends = (posterior.place <= CONTENDERS) | (rank <= CONTENDERS)
    found = np.flatnonzero(open_slots & contends & (rrf_place > CONTENDERS) & labelled[parents(data.rankings.slot_ptr)])
    for n in most_uncertain(_apart_from_top(posterior, found), posterior.covariance):
        slot = int(found[n])
        place, rrf = int(posterior.place[slot]), int(rrf_place[slot])
        first = f"place {place} of jury" if place <= CONTENDERS else f"rank {rank[slot]:g} of {expert}, the best expert"
        yield slot, f"uncertain: {first}, place {rrf} of RRF"


def most_uncertain(features: Floats, covariance: Floats) -> Iterator[int]:
    """The rows of ``features`` by the variance of their score, each given the scores of the rows before it."""
    spread = features @ covariance  # [n, n_weights]
    variance = np.einsum("ij,ij->i", spread, features)
    left = np.ones(len(features), bool)
    while left.any():
        n = int(np.argmax(np.where(left, np.round(variance / variance.max(initial=1e-300), DIGITS), -1.0)))
        yield n
        left[n] = False
        with_chosen = spread @ features[n]  # covariances with the score that is now known, up to noise
        factor = with_chosen / (1.0 + variance[n])
        variance = variance - factor * with_chosen
        spread = spread - factor[:, None] * spread[n]


def _apart_from_top(posterior: Posterior, slots: Ints) -> Floats:
    """The features of slots, minus the mean of the first ten of their query in the learned order."""
    r = posterior.rankings
    query = parents(r.slot_ptr)
    needed, at = np.unique(query[slots], return_inverse=True)
    wanted = np.zeros(len(r), bool)
    wanted[needed] = True
    top = np.flatnonzero((posterior.place <= TOP) & wanted[query])
    total = np.zeros((len(needed), len(posterior.mean)))
    np.add.at(total, np.searchsorted(needed, query[top]), posterior.features(top))
    size = np.bincount(np.searchsorted(needed, query[top]), minlength=len(needed))
    return posterior.features(slots) - (total / np.maximum(size, 1)[:, None])[at]


def _best_expert(data: Dataset) -> str:
    """The expert with the highest nDCG@10 so far; of several, the first by name."""
    values = {name: round(value, DIGITS) for name, value in expert_values(data, "nDCG@10").items() if value == value}
    return min(values, key=lambda name: (-values[name], name))


def _ranks_of(rankings: Rankings, expert: str) -> Floats:
    """The rank of each slot in the expert's lists; infinite where it is not ranked."""
    r = rankings
    rank = np.full(r.n_slots, np.inf)
    its = np.repeat(r.list_expert == r.experts.index(expert), r.list_size)
    np.minimum.at(rank, r.entry_slot[its], r.entry_rank[its])
    return rank
