"""The quality of each single expert."""

from __future__ import annotations

import numpy as np

from juryrank.data import Dataset
from juryrank.kernels.ragged import children, parents
from juryrank.learning.gains import slot_gains, truth_of
from juryrank.metrics import Truth, parse_metric
from juryrank.metrics.inputs import consensus_by_expert


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
