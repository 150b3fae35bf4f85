"""Gains: one number per slot to learn from, computed from labels, a reference ranking or preference pairs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juryrank.data import Dataset, Labels
from juryrank.data.arrays import Floats
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError
from juryrank.kernels.ragged import parents, sizes_to_ptr


def slot_gains(data: Dataset) -> Floats:
    """The gain of each slot, 0 is worst; NaN if it is unknown.

    Labels are gains as they are, 0 where they are below 0, and unknown where their weight is 0. Labels with weights may
    be between -1 and 0: estimates with errors in both directions, as from clicks, stay as they are. Of m items in a
    reference ranking the first gains 1 and each following rank 1/m less. An item in preference pairs gains the share of
    its comparisons that it won. Labels take precedence over a reference ranking, and that over pairs.
    """
    if data.labels is not None:
        labels = data.slot_labels
        if data.labels.label_weight is None:
            return np.maximum(labels, 0.0)
        return np.where(data.slot_label_weights > 0, np.where(labels <= -1.0, 0.0, labels), np.nan)
    if data.reference is not None:
        return _by_rank(data.rankings, data.reference)
    if data.pairs is not None:
        return _by_wins(data)
    raise DataError("there is nothing to learn from: the data has no labels, no reference ranking and no pairs")


def truth_of(data: Dataset, gains: Floats) -> Dataset:
    """The data with labels that metrics can use: its own, or the gains where it has none.

    Metrics take labels below 0 for unjudged, which estimates are not: these are 0.
    """
    labels = data.labels
    if labels is None:
        return Dataset(rankings=data.rankings, labels=gains_as_labels(data.rankings, gains))
    estimated = (labels.label_value < 0.0) & (labels.label_value > -1.0)
    if labels.label_weight is None or not estimated.any():
        return data
    return replace(data, labels=replace(labels, label_value=np.where(estimated, 0.0, labels.label_value)))


def _by_rank(rankings: Rankings, reference: Floats) -> Floats:
    query = parents(rankings.slot_ptr)
    last = np.zeros(len(rankings))
    ranked = ~np.isnan(reference)
    np.maximum.at(last, query[ranked], reference[ranked])
    gains: Floats = 1.0 - (reference - 1.0) / np.where(last > 0, last, 1.0)[query]
    return gains


def _by_wins(data: Dataset) -> Floats:
    assert data.pairs is not None
    n = data.rankings.n_slots
    won = np.bincount(data.pairs.better, data.pairs.weight, minlength=n)
    lost = np.bincount(data.pairs.worse, data.pairs.weight, minlength=n)
    compared = won + lost
    share: Floats = np.divide(won, compared, out=np.full(n, np.nan), where=compared > 0)
    return share


def gains_as_labels(rankings: Rankings, gains: Floats) -> Labels:
    """The gains as labels; none where a gain is NaN."""
    known = np.flatnonzero(~np.isnan(gains))
    return Labels(
        queries=rankings.queries,
        items=rankings.items,
        label_ptr=sizes_to_ptr(np.bincount(parents(rankings.slot_ptr)[known], minlength=len(rankings))),
        label_item=rankings.slot_item[known],
        label_value=gains[known],
    )
