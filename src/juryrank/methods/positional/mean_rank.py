"""Mean rank."""

from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import add_points
from juryrank.methods.base import missing_param
from juryrank.methods.positional._base import RankStatistic


@dataclass(kw_only=True)
class MeanRank(RankStatistic):
    """Mean rank: the weighted mean of the item's ranks, negated; tied items share the mean of their ranks.

    With ``ignore`` only the lists that rank an item count, and an item that no list ranks comes last.

    >>> from juryrank import from_orders
    >>> MeanRank().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': -1.33..., 'a': -2.0, 'c': -3.0}}

    Dwork, Kumar, Naor, Sivakumar, WWW 2001.
    """

    name = "mean-rank"
    rule = "mean"
    missing: str = missing_param("last", "ignore", "last", "mean")

    def _summarise(self, r: Rankings, rank: Floats, absent: Floats, out: Floats) -> None:
        weight, counted = self.list_weights(r), ~np.isnan(absent)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, rank, np.where(counted, absent, 0.0), weight, out)
        total, one = np.zeros(r.n_slots), np.ones(r.n_entries)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, one, counted.astype(np.float64), weight, total)
        out /= np.where(total > 0, total, np.nan)
