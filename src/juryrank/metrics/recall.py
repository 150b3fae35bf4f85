"""Recall at k."""

from dataclasses import dataclass

from juryrank.data.rankings import Floats
from juryrank.metrics.base import RelevanceMetric, cutoff_param, existing, found, rel_param, share
from juryrank.metrics.truth import Graded, Judged


@dataclass(frozen=True)
class Recall(RelevanceMetric):
    """The share of all relevant items that stands in the first k places; 0 with nothing relevant."""

    name = "R"
    needs_cutoff = True
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: Judged, labels: Graded) -> Floats:
        return share(found(judged, labels, self.rel, self.depth), existing(labels, self.rel))
