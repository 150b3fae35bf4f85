"""Methods that learn weights of experts by passes (epochs) over labelled queries."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.learning.labelled import LabelledQueries
from juryrank.learning.target import check_truth, target_param
from juryrank.methods.learned._base import GroupedExperts
from juryrank.methods.learned.epochs import Learner, Training
from juryrank.methods.learned.sparse_rows import SparseRows
from juryrank.methods.learned_fields import Array, ListOf, Names, Number, Sizes, learned
from juryrank.params import param


@dataclass(kw_only=True)
class EpochTrained(GroupedExperts):
    """Score = a net over values of the item's entries in the lists; the passes are chosen on validation queries."""

    scaled: ClassVar[bool] = True
    weighted: ClassVar[bool] = True  # whether values of entries are multiplied by the weights of their lists

    target: str = target_param()  # type: ignore[misc]
    epochs: int = param(100, "passes over the labelled queries", at_least=1)
    seed: int = param(0, "random seed of the order of the queries and of the initial weights", at_least=0)

    experts_: list[str] = learned(Names("experts"))  # with weights of their own, in the order of these
    weights_: Floats = learned(Array("weights"))
    passes_: list[int] = learned(ListOf(Number(whole=True, at_least=1)))  # best on the validation queries, best first

    def experts_seen(self) -> frozenset[str]:
        """The experts with weights of their own; none where weights are shared."""
        return frozenset(self.experts_) if self.experts == "individual" else frozenset()

    @abstractmethod
    def _values(self, rankings: Rankings, groups: ExpertGroups) -> Floats:
        """The values of each entry of a list: vectors of one length."""

    @abstractmethod
    def _n_weights(self) -> int:
        """How many weights the learner has, for the experts with weights of their own and one more."""

    def _sizes(self) -> Sizes:
        return {"weights": self._n_weights()}

    @abstractmethod
    def _learner(self) -> Learner:
        """The learner of the weights."""

    def _rows(self, rankings: Rankings, groups: ExpertGroups) -> SparseRows:
        values = self._values(rankings, groups)
        return SparseRows.of_entries(rankings, groups, values, weighted=self.weighted)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        check_truth(self.name, self.target, data)
        queries = LabelledQueries.of(data, self.unjudged).require(self.name, data)
        groups = ExpertGroups.choose(queries.rankings, self.experts, self.threshold, self.threshold_of)
        training = Training(
            learner=self._learner(),
            target=self.target,
            epochs=self.epochs,
            seed=self.seed,
            unjudged=self.unjudged,
            to_rows=lambda rankings: self._rows(rankings, groups),
            scaled=self.scaled,
        )
        best = training.run(queries, valid)
        self.experts_, self.weights_, self.passes_ = list(groups.names), best.weights, list(best.passes)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        rows = self._rows(rankings, ExpertGroups(tuple(self.experts_)))
        out += self._learner().scores(rows, rankings.slot_ptr, self.weights_)
