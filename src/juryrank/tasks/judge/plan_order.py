"""The order of the simple plan: the first items of RRF of many queries, then more queries and more items of each."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.learning.baseline import RRF_K, rrf_scores
from juryrank.learning.curves import filled_ranks, mean_fill
from juryrank.methods.learned.jury_prior import GAPLESS

DEPTH = 3  # items of a query that are judged before the next query
ROUND = 33  # queries that are added before all get three more items
TOP = 10  # items of RRF whose ranks are compared
DIGITS = 9  # of sums over experts; the others may depend on the order in which experts are added


def broad_and_shallow(rankings: Rankings) -> tuple[Ints, Ints]:
    """The ranked slots in the order of the simple plan, and the place of each slot in RRF's order.

    Three items of 33 queries, then of 66 queries; then three more of these; then six of the next 33 queries, and so on:
    the number of queries and the depth grow alike, so that the first n items are a plan for every n.
    """
    place = places(rankings, rrf_scores(rankings))
    turn = query_turns(rankings, place)[parents(rankings.slot_ptr)]
    due = np.maximum(ROUND * ((place + DEPTH - 1) // DEPTH), turn - 1)
    order = np.lexsort((place, turn, due))
    return order[rankings.slot_lists[order] > 0], place


def places(rankings: Rankings, scores: Floats) -> Ints:
    """The place of each slot by score, 1 is best; ties in the order of the items' names."""
    query, by_name = parents(rankings.slot_ptr), rankings.slots_by_name_descending[::-1]
    order = by_name[np.lexsort((-np.round(scores[by_name], DIGITS), query[by_name]))]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - rankings.slot_ptr[query] + 1
    return place


def query_turns(rankings: Rankings, place: Ints) -> Ints:
    """The turn of each query, from 1: by turns one of a random order, and one whose first items are ranked far apart.

    The first kind represents the queries, the second tells most about the experts; if lists have gaps, as parts of
    longer lists have, there is only the first kind. Queries in which fewer than two items are ranked teach nothing and
    come last. The order of queries and experts in the data is irrelevant.
    """
    ranked = np.bincount(parents(rankings.slot_ptr), rankings.slot_lists > 0, len(rankings))
    mixed = sorted(range(len(rankings)), key=lambda q: (ranked[q] < 2, _digest(rankings.queries[q])))
    chosen = mixed
    if mean_fill(filled_ranks(rankings).sum(axis=0)[None])[0] >= GAPLESS:
        spread = spread_of_ranks(rankings, place)
        chosen = _by_turns(mixed, sorted(mixed, key=lambda q: (ranked[q] < 2, -spread[q])))
    turn = np.empty(len(rankings), np.int64)
    turn[chosen] = np.arange(1, len(rankings) + 1)
    return turn


def spread_of_ranks(rankings: Rankings, place: Ints) -> Floats:
    """How far apart the lists of each query rank the first ten items of RRF.

    It is the variance of 60 / (60 + rank) over these items (0 where an item is not ranked), summed over the lists: the
    larger it is, the more their labels tell about the weights of experts.
    """
    r = rankings
    first = place[r.entry_slot] <= TOP
    of_list = np.repeat(np.arange(r.n_lists), r.list_size)[first]
    points = RRF_K / (RRF_K + r.entry_rank[first])
    n = np.minimum(r.query_size, TOP)[r.list_query]
    total, squares = (np.bincount(of_list, value, r.n_lists) for value in (points, points**2))
    spread = np.bincount(r.list_query, r.list_weight * (squares / n - (total / n) ** 2), len(r))
    return np.round(spread, DIGITS)


def _by_turns(one: Sequence[int], other: Sequence[int]) -> list[int]:
    """Two orders of the same elements merged: the first n of each are among the first 2 n."""
    pairs = zip(one, other, strict=True)
    return list(dict.fromkeys(element for pair in pairs for element in pair))


def _digest(name: str) -> tuple[bytes, str]:
    """A key that mixes names: neighbours in the data are often alike."""
    return blake2b(name.encode("utf-8", "surrogatepass")).digest(), name
