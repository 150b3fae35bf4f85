"""Borda count."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.positional import add_points
from juryrank.methods.base import Aggregator, missing_param, weights_param
from juryrank.methods.formula import Formula, ListNumbers, QueryList


@dataclass(kw_only=True)
class Borda(Aggregator):
    """Borda count: the number of items of the query below the item, summed over the lists; ties share.

    An unranked item gets nothing (``last``) or an equal share of the remaining points (``mean``); with ``ignore``
    only items that the list ranks count.

    >>> from juryrank import from_orders
    >>> Borda().fit_predict(from_orders([["a", "b", "c"], ["b", "a", "c"], ["b"]])).to_dict()
    {'all': {'b': 5.0, 'a': 3.0, 'c': 0.0}}

    de Borda, 1781; Dwork, Kumar, Naor, Sivakumar, WWW 2001.
    """

    name = "borda"
    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("last", "ignore", "last", "mean")

    def formula(self) -> Formula:
        """The sum of points by place, and by the number of items that can be below."""
        sizes = {"ignore": ("length",), "last": ("items",), "mean": ("length", "items")}
        by = ("place", *sizes[self.missing])
        return Formula("sum", self._numbers, self._weights_by_name(), unranked_last=False, depends_on=by)

    def _numbers(self, listed: QueryList) -> ListNumbers:
        opponents = listed.size if self.missing == "ignore" else listed.n_items
        absent = (listed.n_items - listed.size - 1) / 2 if self.missing == "mean" else 0.0
        return ListNumbers([float(opponents - place) for place in listed.places], absent, listed.weight)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        size, total = r.list_size, r.query_size[r.list_query]
        opponents = size if self.missing == "ignore" else total
        points = np.repeat(opponents, size) - r.entry_place
        absent = (total - size - 1) / 2 if self.missing == "mean" else np.zeros(r.n_lists)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, points, absent, self.list_weights(r), out)
