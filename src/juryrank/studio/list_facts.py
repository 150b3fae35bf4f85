"""What depends on the lists only: how experts cover the queries, and how far they disagree."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.baseline import rrf_scores
from juryrank.tasks.judge.plan_order import places, spread_of_ranks


class ListFacts:
    """Facts about rankings, each computed when it is first needed."""

    def __init__(self, rankings: Rankings) -> None:
        self.rankings = rankings
        self.prepared = False

    def prepare(self) -> None:
        """Compute all of them, before somebody waits for one."""
        for name in ("n_items", "experts", "disagreement", "longest"):
            getattr(self, name)
        self.prepared = True

    @cached_property
    def n_items(self) -> int:
        """How many different items there are."""
        return len(np.unique(self.rankings.slot_item))

    @cached_property
    def experts(self) -> list[dict[str, Any]]:
        """By expert: the share of queries with a list, the number of lists, and their mean length."""
        r = self.rankings
        lists = np.bincount(r.list_expert, minlength=len(r.experts))
        entries = np.bincount(r.list_expert, r.list_size, minlength=len(r.experts))
        covered = np.bincount(
            np.unique(r.list_expert.astype(np.int64) * len(r) + r.list_query) // max(1, len(r)),
            minlength=len(r.experts),
        )
        return [
            {
                "name": name, "coverage": float(covered[k] / max(1, len(r))), "lists": int(lists[k]),
                "mean_length": float(entries[k] / lists[k]) if lists[k] else 0.0,
            }
            for k, name in enumerate(r.experts)
        ]  # fmt: skip

    @cached_property
    def disagreement(self) -> Floats:
        """How far apart the lists of each query rank the first items of RRF; 1 is the largest of the data."""
        r = self.rankings
        spread = spread_of_ranks(r, places(r, rrf_scores(r))) if r.n_entries else np.zeros(len(r))
        share: Floats = spread / max(float(spread.max(initial=0.0)), 1e-300)
        return share

    @cached_property
    def longest(self) -> int:
        """The length of the longest list."""
        return int(self.rankings.list_size.max(initial=0))
