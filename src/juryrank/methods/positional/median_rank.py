"""Median rank."""

from dataclasses import dataclass

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import medians
from juryrank.methods.base import missing_param
from juryrank.methods.positional._base import RankStatistic


@dataclass(kw_only=True)
class MedianRank(RankStatistic):
    """Median rank: the weighted median of the item's ranks, negated; half-way between two middle ranks.

    Tied items share the mean of their ranks. With ``ignore`` only the lists that rank an item count, and an item that
    no list ranks comes last.

    >>> from juryrank import from_orders
    >>> MedianRank().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': -1.0, 'a': -2.0, 'c': -3.0}}

    Fagin, Kumar, Sivakumar, SIGMOD 2003.
    """

    name = "median-rank"
    rule = "median"
    missing: str = missing_param("mean", "ignore", "last", "mean")

    def _summarise(self, r: Rankings, rank: Floats, absent: Floats, out: Floats) -> None:
        medians(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, rank, absent, self.list_weights(r), out)
