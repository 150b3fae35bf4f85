"""Each expert alone: the ranking of the items in its lists, and its quality."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

import numpy as np

from juryrank.data import Consensus, Dataset
from juryrank.data.rankings import Rankings
from juryrank.kernels.ragged import children, parents, sizes_to_ptr
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.gains import slot_gains, truth_of
from juryrank.metrics import Truth, parse_metric
from juryrank.metrics.inputs import consensus_by_expert, rising_entries


def experts_alone(rankings: Rankings, several: Collection[str] | None = None) -> dict[str, Consensus]:
    """Each expert as a consensus of the items that it ranked; if it has several lists in a query, RRF of these.

    ``several`` are the experts with several lists in a query, if the rankings are a batch of more.
    """
    r = rankings
    names = experts_with_several_lists(r) if several is None else several
    places = np.array([k for k, name in enumerate(r.experts) if name in names], np.int64)
    if not len(places):
        return consensus_by_expert(r)
    alone = consensus_by_expert(r.keep_lists(~np.isin(r.list_expert, places)))
    for expert in places.tolist():
        part = ranked_items(r.keep_lists(r.list_expert == expert))
        alone[r.experts[expert]] = Consensus(part, rrf_scores(part))
    return alone


def experts_with_several_lists(rankings: Rankings) -> set[str]:
    """The experts that have several lists in a query."""
    r, n = rankings, max(len(rankings.experts), 1)
    lists, counts = np.unique(r.list_query * n + r.list_expert, return_counts=True)
    return {r.experts[k] for k in np.unique(lists[counts > 1] % n)}


def rising_by_expert(rankings: Rankings) -> Counter[str]:
    """The number of entries of each expert with a higher score than the entry above."""
    r = rankings
    expert = r.list_expert[parents(r.entry_ptr)[rising_entries(r)]]
    return Counter({r.experts[k]: n for k, n in enumerate(np.bincount(expert).tolist()) if n})


def ranked_items(rankings: Rankings) -> Rankings:
    """The same lists, without the items that no list ranks."""
    r, ranked = rankings, rankings.slot_lists > 0
    return replace(
        r,
        slot_ptr=sizes_to_ptr(np.bincount(parents(r.slot_ptr)[ranked], minlength=len(r))),
        slot_item=r.slot_item[ranked],
        entry_slot=(np.cumsum(ranked) - 1)[r.entry_slot].astype(np.int32),
    )


def expert_values(data: Dataset, target: str) -> dict[str, float]:
    """The mean of a metric of each expert's lists, over the labelled queries that it ranks; NaN if there is none."""
    gains, metric = slot_gains(data), parse_metric(target)
    known = np.bincount(parents(data.rankings.slot_ptr)[~np.isnan(gains)], minlength=len(data)) > 0
    found = {}
    for name, alone in consensus_by_expert(data.rankings).items():
        here = np.flatnonzero(known & (np.diff(alone.rankings.slot_ptr) > 0))
        part = data.take(here)
        slots = children(data.rankings.slot_ptr, here)
        values = metric.per_query(Truth(truth_of(part, gains[slots])).judge(alone.take(here)))
        found[name] = float(values[~np.isnan(values)].mean()) if (~np.isnan(values)).any() else np.nan
    return found
