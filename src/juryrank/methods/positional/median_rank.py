"""Median rank."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Floats
from juryrank.kernels.positional import medians
from juryrank.kernels.ragged import put_last
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.positional._base import absent_rank, ranks_param


@dataclass(kw_only=True)
class MedianRank(Aggregator):
    """Median rank: the weighted median of the item's ranks, negated; half-way between two middle ranks.

    With ``ignore`` an item is judged by the lists that rank it alone, and an item nobody ranks comes last.

    >>> from juryrank import from_orders
    >>> MedianRank().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': -1.0, 'a': -2.0, 'c': -3.0}}

    Fagin, Kumar, Sivakumar, SIGMOD 2003.
    """

    name = "median-rank"
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("mean", "ignore", "last", "mean")
    ranks: str = ranks_param()

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        rank = r.entry_rank if self.ranks == "given" else r.entry_place
        absent = np.full(r.n_lists, np.nan) if self.missing == "ignore" else absent_rank(r, rank, self.missing)
        medians(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, rank, absent, self.list_weights(r), out)
        np.negative(out, out=out)
        put_last(r.slot_ptr, np.isnan(out), out)
