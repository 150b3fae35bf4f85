"""All lists of a dataset pooled into one query: items with the same name are the same item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.data.build import ONE_QUERY
from juryrank.errors import DataError
from juryrank.kernels.choices import NEVER
from juryrank.kernels.lists import Lists, most_pairs, pairs_of_query
from juryrank.methods.base import Aggregator
from juryrank.methods.strengths.strengths import lists_with_tail
from juryrank.tasks.leaderboard.ranks import Groups, groups_of


@dataclass(frozen=True)
class Games:
    """Comparisons by item pair: the weights of those won, lost and tied by the first item, and sums by item."""

    n_items: int
    first: Ints
    second: Ints
    won: Floats
    lost: Floats
    tied: Floats

    def by_item(self) -> tuple[Floats, Floats, Floats]:
        """Comparisons, wins and ties of each item."""

        def both(of_first: Floats, of_second: Floats) -> Floats:
            n = self.n_items
            total = np.bincount(self.first, of_first, n) + np.bincount(self.second, of_second, n)
            return total.astype(np.float64)

        games = self.won + self.lost + self.tied
        return both(games, games), both(self.won, self.lost), both(self.tied, self.tied)

    @property
    def pairs(self) -> tuple[Ints, Ints, Floats, Floats, Floats]:
        """The arrays in the order that kernels expect."""
        return self.first, self.second, self.won, self.lost, self.tied


def pool_queries(r: Rankings) -> Rankings:
    """The same lists in one query, with one slot per item name; lists keep their order."""
    used, code = np.unique(r.slot_item, return_inverse=True)
    if len(used) == 0:
        raise DataError("a leaderboard needs items; the data has none")
    return Rankings(
        queries=(r.queries[0] if len(r) == 1 else ONE_QUERY,),
        experts=r.experts,
        items=r.items[used],
        slot_ptr=np.array([0, len(used)]),
        slot_item=np.arange(len(used), dtype=np.int32),
        list_ptr=np.array([0, r.n_lists]),
        list_expert=r.list_expert,
        list_weight=r.list_weight,
        entry_ptr=r.entry_ptr,
        entry_slot=code[r.entry_slot].astype(np.int32),
        entry_rank=r.entry_rank,
        entry_score=r.entry_score,
    )


@dataclass(frozen=True)
class FittedModel:
    """A method fitted to pooled lists, with its inputs and scores."""

    model: Aggregator
    rankings: Rankings
    lists: Lists  # as kernels expect them; the weight of a list is count × scale
    count: Floats  # [n_lists] multiplicity of each list: the sample size
    scale: Floats  # [n_lists] weight of the expert of each list
    games: Games
    scores: Floats
    tie: float  # the tie parameter in the form that kernels use
    cluster: Ints | None  # [n_lists] resampling unit of each list; None: each list is its own

    @cached_property
    def groups(self) -> Groups:
        """The groups of items that met in comparisons of any weight."""
        played = self.games.won + self.games.lost + self.games.tied > 0
        return groups_of(self.games.first[played], self.games.second[played], self.games.n_items)

    def games_of(self, weight: Floats) -> Games:
        """The comparisons in lists with these weights."""
        return _games(self.lists.weighted(weight))


def fit_pooled(model: Aggregator, r: Rankings, cluster: Ints | None) -> FittedModel:
    """The method fitted to pooled rankings; experts with weight 0 add no comparisons."""
    consensus = model.fit(r).predict(r)
    scale = model.list_weights(replace(r, list_weight=np.ones(r.n_lists)))
    count = np.where(scale > 0, r.list_weight, 0.0)
    lists = lists_with_tail(r, model.list_weights(r), getattr(model, "missing", "ignore"))
    games = _games(lists.weighted(count))
    tie = NEVER
    if "tie" in consensus.details and games.tied.any():
        tie = float(np.log(consensus.details["tie"][0]))
    return FittedModel(model, r, lists, count, scale, games, consensus.scores, tie, cluster)


def _games(lists: Lists) -> Games:
    most = np.empty(1, np.int64)
    most_pairs(lists, most)
    return Games(int(lists.slot_ptr[-1]), *pairs_of_query(0, lists, most))
