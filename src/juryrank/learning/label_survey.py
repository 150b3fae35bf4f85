"""What kind of labels there are: complete, few, or positives only; from counts that can be added."""

from __future__ import annotations

from dataclasses import astuple, dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Ints
from juryrank.kernels.ragged import parents
from juryrank.learning.gains import slot_gains

NONE, COMPLETE, FEW, POSITIVES_ONLY = LABEL_KINDS = "none", "complete", "few", "positives only"
FEW_ZEROS = 0.05  # the share of labels that are 0, from which on labels tell what is not relevant
NEARLY_ALL = 0.9  # the share of items that are judged, from which on labels without any 0 are grades, not finds
DEEPLY_JUDGED = 100.0  # labels of a query from which on its unjudged items have been left out on purpose, probably


@dataclass(frozen=True)
class Treatment:
    """What ``unjudged="auto"`` does with the items of labelled queries."""

    complete: bool = False  # as with ``unjudged="irrelevant"``
    positives_only: float = 0.0  # from 1, where no label is 0, to 0

    def __str__(self) -> str:
        if self.complete:
            return "unjudged items count as not relevant"
        if self.positives_only:
            return "judged items weigh less the lower RRF places them, as unjudged ones do"
        return "unjudged items weigh less the fewer items of their query are judged"


@dataclass(frozen=True)
class LabelSurvey:
    """Counts of the labels of ranked items; those of several parts of the data can be added."""

    n_labels: int = 0
    n_zeros: int = 0  # labels of 0 or less
    n_queries: int = 0  # with at least one label
    n_items: int = 0  # of these queries, with or without labels

    @classmethod
    def of(cls, data: Dataset) -> LabelSurvey:
        """The labels of the data; none where the truth is a reference ranking or preference pairs."""
        if data.labels is None:
            return cls()
        gains, sizes = slot_gains(data), np.diff(data.rankings.slot_ptr)
        judged = ~np.isnan(gains)
        labelled = np.bincount(parents(data.rankings.slot_ptr)[judged], minlength=len(data)) > 0
        n_zeros = int((gains[judged] <= 0.0).sum())
        return cls(int(judged.sum()), n_zeros, int(labelled.sum()), int(sizes[labelled].sum()))

    @classmethod
    def from_counts(cls, counts: Ints) -> LabelSurvey:
        """The survey with these ``counts``."""
        return cls(*counts.tolist())

    @property
    def counts(self) -> Ints:
        """The counts as an array."""
        return np.array(astuple(self), np.int64)

    def add(self, other: LabelSurvey) -> LabelSurvey:
        """The labels of both, which have no query in common."""
        return LabelSurvey(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def treatment(self) -> Treatment:
        """What ``unjudged="auto"`` does with such labels."""
        return Treatment(self.kind == COMPLETE, self.positives_only)

    @property
    def text(self) -> str:
        """The kind of labels, and the numbers that it follows from."""
        share = 100 * self.zeros
        zeros = "none" if not self.n_zeros else f"{share:.0f} %" if share >= 1 else "less than 1 %"
        return f"{self.kind} ({self.mean_depth:.1f} per query, {zeros} of them 0)"

    @property
    def zeros(self) -> float:
        """The share of labels that are 0; 0 without labels."""
        return self.n_zeros / max(self.n_labels, 1)

    @property
    def mean_depth(self) -> float:
        """The mean number of labels of a labelled query."""
        return self.n_labels / max(self.n_queries, 1)

    def strength(self, treatment: Treatment) -> float:
        """The factor of ``shrink``: where labels are not complete, a query with few of them says less."""
        return 1.0 if treatment.complete or not self.n_labels else 1.0 + 2.0 / self.mean_depth

    @property
    def nearly_all_judged(self) -> bool:
        """Whether nearly all items of the labelled queries have labels."""
        return self.n_labels >= NEARLY_ALL * self.n_items

    @property
    def positives_only(self) -> float:
        """From 1 where no label is 0, as with clicks and gold passages, to 0 where at least 5 % are.

        It is 0 where nearly all items have labels, too: then the lowest grade tells what is not relevant.
        """
        return 0.0 if self.nearly_all_judged else max(0.0, 1.0 - self.zeros / FEW_ZEROS)

    @property
    def kind(self) -> str:
        """One of ``LABEL_KINDS``: positives only with less than 5 % zeros, complete from 100 labels per query on."""
        if not self.n_labels:
            return NONE
        if self.positives_only > 0.0:
            return POSITIVES_ONLY
        return COMPLETE if self.nearly_all_judged or self.mean_depth >= DEEPLY_JUDGED else FEW
