"""Labels and reference rankings (Truth), and a consensus matched with them (JudgedConsensus): the input of metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from juryrank.data import Consensus, Dataset, Labels, Rankings
from juryrank.data.arrays import Floats, Ints, freeze
from juryrank.data.consensus import single_precision as single_precision
from juryrank.data.label_matching import check_queries
from juryrank.errors import DataError, UnknownNameError, warn_about_data
from juryrank.kernels.ragged import children, parents, sizes_to_ptr

CONVENTIONS = {
    "trec": "as trec_eval: equal scores by item name, last name first; gain = label; discount log2(place + 1)",
    "letor": "as LETOR's script: equal scores in the order of the data; gain 2^label - 1; places 1 and 2 undiscounted",
}


# What metrics make of unjudged items; the words of the parameter of learned methods.
UNJUDGED = {
    "irrelevant": "unjudged items are not relevant",
    "ignore": "unjudged items are removed before the metric is computed: condensed lists",
}


def check_unjudged(unjudged: str) -> str:
    """The name itself; an error if it is none of ``UNJUDGED``."""
    if unjudged not in UNJUDGED:
        raise UnknownNameError.of("treatment of unjudged items", unjudged, UNJUDGED)
    return unjudged


@dataclass(frozen=True, eq=False)
class ItemGrades:
    """Values of the items of each query (higher is better), in the order of a consensus and in the ideal order."""

    value: Floats  # [n_slots] in the order of the consensus; NaN if unknown
    ideal_ptr: Ints  # [n_queries + 1]
    ideal: Floats  # largest first, including items that the consensus lacks

    def __post_init__(self) -> None:
        freeze(self)


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedConsensus:
    """A consensus matched with the truth, for the queries that have labels or a reference ranking."""

    queries: tuple[str, ...]
    convention: str
    slot_ptr: Ints  # [n_queries + 1]
    score: Floats  # [n_slots] best first
    labels: ItemGrades | None
    reference: ItemGrades | None  # a reference ranking; the labels if there is none
    whole: JudgedConsensus | None = None  # before the removal of unjudged items, if they were removed

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def any_known(self) -> bool:
        """Whether any ranked item has a label or a reference rank."""
        sides = (self.labels, self.reference)
        return any(side is not None and not np.isnan(side.value).all() for side in sides)

    @property
    def size(self) -> Ints:
        """The number of items that the consensus ranks in each query."""
        return np.diff(self.slot_ptr)


def condense(judged: JudgedConsensus) -> JudgedConsensus:
    """The consensus without the items that are not judged, those with labels below 0 among them (Sakai, SIGIR 2007)."""
    side = judged.reference if judged.labels is None else judged.labels
    assert side is not None
    known = ~np.isnan(side.value) if judged.labels is None else side.value >= 0
    per_query = np.bincount(parents(judged.slot_ptr)[known], minlength=len(judged.queries))
    labels, reference = (
        None if side is None else replace(side, value=side.value[known]) for side in (judged.labels, judged.reference)
    )
    return JudgedConsensus(
        queries=judged.queries,
        convention=judged.convention,
        slot_ptr=sizes_to_ptr(per_query),
        score=judged.score[known],
        labels=labels,
        reference=reference,
        whole=judged,
    )


class Truth:
    """Labels or a reference ranking, prepared to judge any number of consensuses.

    Queries without either are left out, with a warning. ``unjudged`` is one of ``UNJUDGED``.
    """

    def __init__(self, given: Dataset | Labels, unjudged: str = "irrelevant") -> None:
        self.unjudged = check_unjudged(unjudged)
        data = given if isinstance(given, Dataset) else None
        labels = data.labels if data is not None else given
        assert not isinstance(labels, Dataset)
        reference = None if data is None or data.reference is None else _as_labels(data.rankings, data.reference)
        if labels is None and reference is None:
            raise DataError("the data has neither labels nor a reference ranking; give labels=")
        known = [np.diff(side.label_ptr) for side in (labels, reference) if side is not None]
        here = np.flatnonzero(np.any(known, axis=0))
        source = labels if labels is not None else reference
        assert source is not None
        if silent := len(source) - len(here):
            warn_about_data(f"{silent} of {len(source)} queries have no labels; left out")
        self.queries = tuple(source.queries[q] for q in here) if silent else source.queries
        self._labels, self._reference, self.known = labels, reference, source
        self._ideal = [None if side is None else _ideal(side, here) for side in (labels, reference)]

    def judge(
        self,
        consensus: Consensus,
        *,
        convention: str = "trec",
        name: str = "the consensus",
        warn_unranked: bool = True,
    ) -> JudgedConsensus:
        """The consensus matched with this truth, with ties ordered by the convention.

        Gives a warning if it ranks nothing in some queries, unless ``warn_unranked`` is false.
        """
        if convention not in CONVENTIONS:
            raise UnknownNameError.of("convention", convention, CONVENTIONS)
        r = consensus.rankings
        order = consensus.trec_order if convention == "trec" else consensus.order
        slot_ptr = r.slot_ptr
        if r.queries != self.queries:
            found = self._positions(r, name)
            padded = np.append(slot_ptr, slot_ptr[-1:])  # an empty query for those that the consensus lacks
            order = order[children(padded, found)]
            slot_ptr = sizes_to_ptr(np.diff(padded)[found])
        if warn_unranked:
            warn_of_unranked_queries(name, int((np.diff(slot_ptr) == 0).sum()), len(self.queries))
        sides = [
            None if side is None or ideal is None else ItemGrades(side.by_slot(r)[order], *ideal)
            for side, ideal in zip((self._labels, self._reference), self._ideal, strict=True)
        ]
        judged = JudgedConsensus(
            queries=self.queries,
            convention=convention,
            slot_ptr=slot_ptr,
            score=consensus.scores[order],
            labels=sides[0],
            reference=sides[1] if sides[1] is not None else sides[0],
        )
        return judged if self.unjudged == "irrelevant" else condense(judged)

    def _positions(self, rankings: Rankings, name: str) -> Ints:
        place = {query: q for q, query in enumerate(rankings.queries)}
        found = np.array([place.get(query, len(place)) for query in self.queries], np.int64)
        hit = int((found < len(place)).sum())
        labelled = np.flatnonzero(np.diff(self.known.label_ptr))
        if len(labelled) and len(place):  # including queries in which a single expert ranks nothing
            check_queries(self.known, rankings, labelled, np.arange(len(place)), name)
        warn_of_unlabelled_queries(name, len(place) - hit, len(place))
        return found


def warn_of_unlabelled_queries(name: str, count: int, of: int) -> None:
    """Warn of queries of a ranking that have no labels, if there are any."""
    if count:
        warn_about_data(f"{name}: {count} of {of} queries have no labels; left out")


def warn_of_unranked_queries(name: str, count: int, of: int) -> None:
    """Warn of queries that have labels but no ranking, if there are any."""
    if count:
        warn_about_data(f"{name} ranks nothing in {count} of {of} queries that have labels; they count as 0")


def judge(consensus: Consensus, truth: Dataset | Labels, *, convention: str = "trec") -> JudgedConsensus:
    """The consensus matched with the labels or the reference ranking of ``truth``."""
    return Truth(truth).judge(consensus, convention=convention)


def _as_labels(rankings: Rankings, reference: Floats) -> Labels:
    known = np.flatnonzero(~np.isnan(reference))
    per_query = np.bincount(parents(rankings.slot_ptr)[known], minlength=len(rankings))
    return Labels(
        queries=rankings.queries,
        items=rankings.items,
        label_ptr=sizes_to_ptr(per_query),
        label_item=rankings.slot_item[known],
        label_value=-reference[known],
    )


def _ideal(labels: Labels, chosen: Ints) -> tuple[Ints, Floats]:
    if len(chosen) == len(labels):
        return labels.label_ptr, labels.descending_values
    ptr = sizes_to_ptr(np.diff(labels.label_ptr)[chosen])
    return ptr, labels.descending_values[children(labels.label_ptr, chosen)]
