"""Recall at k."""

from dataclasses import dataclass

from juryrank.data.arrays import Floats
from juryrank.metrics.base import RelevanceMetric, count_ranked_relevant, count_relevant, cutoff_param, ratio, rel_param
from juryrank.metrics.truth import ItemGrades, JudgedConsensus


@dataclass(frozen=True)
class Recall(RelevanceMetric):
    """The share of all relevant items in the top k places; 0 without relevant items."""

    name = "R"
    needs_cutoff = True
    cutoff: int | None = cutoff_param()
    rel: int = rel_param()

    def _values(self, judged: JudgedConsensus, labels: ItemGrades) -> Floats:
        return ratio(count_ranked_relevant(judged, labels, self.rel, self.depth), count_relevant(labels, self.rel))
