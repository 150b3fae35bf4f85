"""What the coset-permutation stagewise models share: three distances, places of unranked items, greedy inference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.kernels.cps import DISTANCES, footrule_stages, kendall_stages, order_by_costs
from juryrank.kernels.positional import add_points
from juryrank.methods.adherence import Adherent
from juryrank.methods.base import missing_param, weights_param
from juryrank.methods.lists import absent_rank
from juryrank.methods.pairwise.pairwise import MarginLists
from juryrank.params import param


@dataclass(kw_only=True)
class Coset(Adherent):
    """Each stage selects the item that keeps the order nearest to all lists; see ``CPS``."""

    weights: Mapping[str, float] | None = weights_param()
    missing: str = missing_param("mean", "last", "mean")
    distance: str = param("kendall", "distance between an order and a list", choices=tuple(DISTANCES))

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        r = rankings
        default = self.theta_.mean() if len(self.theta_) else 1.0  # of experts that are not known
        theta = np.append(self.theta_, default)[r.positions_in(self.experts_)]
        weight = self.list_weights(r) * theta[r.list_expert]
        lists = MarginLists(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_rank, weight, last=True)
        if self.distance == "kendall":
            kendall_stages(lists, out)
            return
        absent = absent_place(r, self.missing)
        if self.distance == "footrule":
            footrule_stages(lists._replace(entry_rank=r.entry_place), absent, out)
            return
        cost = np.zeros(r.n_slots)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, r.entry_place, absent, weight, cost)
        order_by_costs(r.slot_ptr, cost, np.bincount(r.list_query, weight, minlength=len(r)).astype(np.float64), out)


def absent_place(r: Rankings, missing: str) -> Floats:
    """The place that each list gives to the items it leaves out."""
    return absent_rank(r, r.entry_place, missing)
