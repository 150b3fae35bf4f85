"""Labelled queries: those that a method can learn from, with the gain and the weight of each item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError
from juryrank.kernels.ragged import children, parents
from juryrank.learning.baseline import rrf_places
from juryrank.learning.expert_groups import experts_with_lists
from juryrank.learning.gains import slot_gains, truth_of
from juryrank.learning.label_survey import DEEPLY_JUDGED, LabelSurvey, Treatment
from juryrank.params import param
from juryrank.report import counted

DEEPEST_UNJUDGED = 1000  # places of RRF's order in which unjudged items are used
AUTO = "auto"  # the treatment of unjudged items that follows from the labels
HALF_WEIGHT_PLACE = 50.0  # the place in RRF's order where an unjudged item has half the weight of a judged one
WELL_JUDGED = 20.0  # with ``unjudged="unknown"``, judged items of a query with which its unjudged items count fully
LEAST_UNKNOWN = 0.3  # of their weight, that unjudged items of a query with few judged items keep
LEAST_AUTO = 0.05  # the same with ``unjudged="auto"``, unless labels are positives only


def unjudged_param() -> Any:
    """The parameter ``unjudged``, the same for all methods that learn from labelled items."""
    doc = (
        "auto: as irrelevant where labels are complete; where they are few or positives only, jury, ridge and kernel "
        "give other weights to items; irrelevant: an unjudged item among the first 1000 of RRF has label 0 (jury, "
        "ridge, kernel: with a weight that decreases with its rank in RRF); unknown: the same, but these weights are "
        "smaller in queries with fewer than 20 judged items; ignore: unjudged items are not used"
    )
    return param(AUTO, doc, choices=(AUTO, "irrelevant", "unknown", "ignore"))


@dataclass(frozen=True, eq=False)
class LabelledQueries:
    """Queries whose gains differ. A slot of weight 0 is not used."""

    data: Dataset
    gains: Floats  # [n_slots] 0 where nothing is known
    weights: Floats  # [n_slots]

    @classmethod
    def of(cls, data: Dataset, unjudged: str, treatment: Treatment | None = None) -> LabelledQueries:
        """The queries of ``data`` that can be learned from.

        A judged item has the weight of its label, by default 1. With ``unjudged="irrelevant"``, an unjudged item has
        gain 0 and, at place p of RRF's order, the weight 50 / (50 + p), down to place 1000. With ``"unknown"``, this
        weight is multiplied by n / 20 in a query with n < 20 judged items, but at least by 0.3. With
        ``"auto"``, it depends on the kind of labels of the whole data, or on the ``treatment``, if the data is a part:
        with complete labels as with ``"irrelevant"``; with few, it is multiplied by n / 100, but at least by 0.05; with
        positives only it stays, and the weights of judged items are multiplied by 50 / (50 + p). All others have weight
        0: with ``unjudged="ignore"``, and where the truth is a reference ranking or pairs, all unjudged items.
        """
        if unjudged != AUTO:
            treatment = None
        elif treatment is None:
            treatment = LabelSurvey.of(data).treatment
        gains = slot_gains(data)
        judged = ~np.isnan(gains)
        some_judged = np.bincount(parents(data.rankings.slot_ptr)[judged], minlength=len(data)) > 0
        if not some_judged.all():
            data, (gains, judged) = _select(data, some_judged, gains, judged)
        weights = judged.astype(np.float64)
        unknown = ~judged
        if data.labels is not None and data.labels.label_weight is not None:
            unknown = np.isnan(
                data.slot_label_weights
            )  # an item whose label has weight 0 is not unjudged, but not used
            weights = np.where(judged, data.slot_label_weights, 0.0)
        if unjudged != "ignore" and data.labels is not None:
            place, query = rrf_places(data.rankings), parents(data.rankings.slot_ptr)
            near = unknown & (place <= DEEPEST_UNJUDGED)
            by_place = HALF_WEIGHT_PLACE / (HALF_WEIGHT_PLACE + place)
            weights[near] = by_place[near]
            if unjudged == "unknown":
                depth = np.bincount(query[judged], minlength=len(data)) / WELL_JUDGED
                weights[near] *= np.clip(depth, LEAST_UNKNOWN, 1.0)[query[near]]
            if treatment is not None and not treatment.complete:
                depth = np.bincount(query[judged], minlength=len(data)) / DEEPLY_JUDGED
                least = LEAST_AUTO + (1.0 - LEAST_AUTO) * treatment.positives_only
                weights[near] *= np.clip(depth, least, 1.0)[query[near]]
                weights[judged] *= by_place[judged] ** treatment.positives_only
        gains = np.where(judged, gains, 0.0)
        differ = _gains_differ(data.rankings, gains, weights > 0)
        if not differ.all():
            data, (gains, weights) = _select(data, differ, gains, weights)
        return cls(data, gains, weights)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def rankings(self) -> Rankings:
        return self.data.rankings

    @property
    def known_gains(self) -> Floats:
        """The gains, NaN where an item is not used."""
        return np.where(self.weights > 0, self.gains, np.nan)

    @property
    def truth(self) -> Dataset:
        """The data with labels that metrics can use; an item that is not known counts as gain 0."""
        return truth_of(self.data, self.gains)

    @property
    def experts(self) -> list[str]:
        """The experts that have lists here."""
        return experts_with_lists(self.rankings)

    def list_place(self, experts: list[str]) -> Ints:
        """The index in ``experts`` of the expert of each list."""
        return self.rankings.positions_in(experts)[self.rankings.list_expert]

    def take(self, queries: Ints) -> LabelledQueries:
        """The chosen queries, in that order."""
        slots = children(self.rankings.slot_ptr, queries)
        return LabelledQueries(self.data.take(queries), self.gains[slots], self.weights[slots])

    def drop_zero_weight_lists(self) -> LabelledQueries:
        """The queries without lists of weight 0; a query that has no other lists is dropped, too."""
        r = self.rankings
        data = replace(self.data, rankings=r.keep_lists(r.list_weight > 0))
        remaining = LabelledQueries(data, self.gains, self.weights)
        return remaining.take(np.flatnonzero(np.diff(data.rankings.list_ptr) > 0))

    def require(self, name: str, data: Dataset) -> LabelledQueries:
        """Itself; an error where the method of that name has no query of ``data`` to learn from."""
        if not len(self):
            raise nothing_to_learn(name, data)
        return self


def nothing_to_learn(name: str, data: Dataset) -> DataError:
    """The error for data without a query that a method can learn from."""
    return no_labels_differ(name, data.rankings.n_slots, len(data), int((~np.isnan(slot_gains(data))).sum()))


def no_labels_differ(name: str, n_slots: int, n_queries: int, n_judged: int) -> DataError:
    """As ``nothing_to_learn``, given the numbers of ranked items, of queries and of judged items."""
    ranked = f"{counted(n_slots, 'ranked item')} in {counted(n_queries, 'query')}"
    text = f"of {ranked} {counted(n_judged, 'is', 'are')} judged"
    return DataError(f"{name}: no query has lists and labels that differ, so there is nothing to learn: {text}")


def _gains_differ(rankings: Rankings, gains: Floats, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
    query = parents(rankings.slot_ptr)[used]
    low, high = np.full(len(rankings), np.inf), np.full(len(rankings), -np.inf)
    np.minimum.at(low, query, gains[used])
    np.maximum.at(high, query, gains[used])
    differ: NDArray[np.bool_] = high > low
    return differ


def _select(
    data: Dataset, queries: NDArray[np.bool_], *slot_values: NDArray[Any]
) -> tuple[Dataset, list[NDArray[Any]]]:
    chosen = np.flatnonzero(queries)
    slots = children(data.rankings.slot_ptr, chosen)
    return data.take(chosen), [value[slots] for value in slot_values]
