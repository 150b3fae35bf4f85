"""Mean rank."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.positional import add_points
from juryrank.kernels.ragged import put_last
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.positional._base import absent_rank, ranks_param


@dataclass(kw_only=True)
class MeanRank(Aggregator):
    """Mean rank: the weighted mean of the item's ranks, negated.

    With ``ignore`` an item is judged by the lists that rank it alone, and an item nobody ranks comes last.

    >>> from juryrank import from_orders
    >>> MeanRank().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': -1.33..., 'a': -2.0, 'c': -3.0}}

    Dwork, Kumar, Naor, Sivakumar, WWW 2001.
    """

    name = "mean-rank"
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last", "mean")
    ranks: str = ranks_param()

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        rank = r.entry_rank if self.ranks == "given" else r.entry_place
        ignored = self.missing == "ignore"
        absent = np.zeros(r.n_lists) if ignored else absent_rank(r, rank, self.missing)
        weight = self.list_weights(r)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, rank, absent, weight, out)
        said = np.zeros(r.n_slots)
        ones = np.ones(r.n_entries)
        counts = np.full(r.n_lists, 0.0 if ignored else 1.0)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, ones, counts, weight, said)
        silent = said <= 0
        np.divide(-out, said, out=out, where=~silent)
        put_last(r.slot_ptr, silent, out)
