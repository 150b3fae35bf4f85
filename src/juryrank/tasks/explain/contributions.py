"""One query as a matrix: the rank of each item by each expert, and the contribution of each expert to its score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, freeze
from juryrank.learning.columns import expert_columns
from juryrank.methods import Aggregator, method


@dataclass(frozen=True, eq=False, kw_only=True)
class QueryMatrix:
    """The best items of a query by a model: ranks and contributions by expert, and scores next to those of RRF."""

    query: str
    items: tuple[str, ...]  # best first
    experts: tuple[str, ...]  # those with a list
    labels: Floats  # [n_items] NaN if unjudged
    scores: Floats  # [n_items]
    rrf: Floats  # [n_items] RRF's scores
    rrf_places: Floats  # [n_items] RRF's places, 1 is best
    ranks: Floats  # [n_items, n_experts] NaN if the item is missing; the weighted mean over several lists
    contributions: Floats  # [n_items, n_experts]
    n_items: int  # number of all items of the query

    def __post_init__(self) -> None:
        freeze(self)


def contributions(model: Aggregator, data: Dataset) -> Floats:
    """The contribution of each expert to each score, [n_slots, n_experts]: the score minus the score without its lists.

    If scores are sums over lists, these are the terms of the sum and add up to the score.
    """
    whole = model.predict(data).scores
    out = np.zeros((len(whole), len(data.experts)))
    for k in np.unique(data.rankings.list_expert):
        out[:, k] = whole - model.predict(drop_expert(data, int(k)), warn_unknown=False).scores
    return out


def drop_expert(data: Dataset, expert: int) -> Dataset:
    """The same queries and items without the lists of one expert."""
    return replace(data, rankings=data.rankings.keep_lists(data.rankings.list_expert != expert))


def query_matrix(model: Aggregator, data: Dataset, query: str, top: int = 20) -> QueryMatrix:
    """The ``top`` best items of one query of the data."""
    one: Dataset = data[query]
    r = one.rankings
    consensus, rrf = model.predict(one), method("rrf").fit(one).predict(one)
    chosen = consensus.order[:top]
    ranks = expert_columns(r, r.experts, r.entry_rank, absent=np.nan).round(2)
    places = np.empty(r.n_slots)
    places[rrf.order] = np.arange(1.0, r.n_slots + 1)
    present = np.unique(r.list_expert)
    return QueryMatrix(
        query=one.queries[0],
        items=tuple(r.items[r.slot_item[chosen]]),
        experts=tuple(r.experts[k] for k in present),
        labels=np.full(len(chosen), np.nan) if one.labels is None else one.slot_labels[chosen],
        scores=consensus.scores[chosen],
        rrf=rrf.scores[chosen],
        rrf_places=places[chosen],
        ranks=ranks[np.ix_(chosen, present)],
        contributions=contributions(model, one)[np.ix_(chosen, present)],
        n_items=r.n_slots,
    )
