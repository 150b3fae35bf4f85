"""What kind of labels there are: how many, in how many queries, and how many of them are 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juryrank.data import Dataset
from juryrank.kernels.ragged import parents
from juryrank.training.gains import slot_gains

FEW_ZEROS = 0.05  # the share of labels that are 0, from which on labels tell what is not relevant


@dataclass(frozen=True)
class LabelSurvey:
    """Counts of the labels of ranked items; those of several parts of the data can be added."""

    n_labels: int = 0
    n_zeros: int = 0  # labels of 0 or less
    n_queries: int = 0  # with at least one label

    @classmethod
    def of(cls, data: Dataset) -> LabelSurvey:
        """The labels of the data; none where the truth is a reference ranking or preference pairs."""
        if data.labels is None:
            return cls()
        gains = slot_gains(data)
        judged = ~np.isnan(gains)
        labelled = np.unique(parents(data.rankings.slot_ptr)[judged])
        return cls(int(judged.sum()), int((gains[judged] <= 0.0).sum()), len(labelled))

    def add(self, other: LabelSurvey) -> LabelSurvey:
        """The labels of both, which have no query in common."""
        return LabelSurvey(
            self.n_labels + other.n_labels, self.n_zeros + other.n_zeros, self.n_queries + other.n_queries
        )

    @property
    def positives_only(self) -> float:
        """From 1 where no label is 0, as with clicks and gold passages, to 0 where at least 5 % are."""
        return max(0.0, 1.0 - self.n_zeros / self.n_labels / FEW_ZEROS) if self.n_labels else 0.0

    @property
    def mean_depth(self) -> float:
        """The mean number of labels of a labelled query."""
        return self.n_labels / self.n_queries if self.n_queries else 0.0
