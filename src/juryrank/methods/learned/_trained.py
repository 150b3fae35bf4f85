"""Methods that learn weights of experts by passes over labelled queries."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats
from juryrank.methods.base import Aggregator
from juryrank.methods.learned_fields import Array, ListOf, Names, Number, Sizes, learned
from juryrank.params import param
from juryrank.training.epochs import Learner, Training
from juryrank.training.lessons import lessons_or_error
from juryrank.training.panel import Panel, experts_param, threshold_param
from juryrank.training.rows import Rows
from juryrank.training.target import check_truth, target_param


@dataclass(kw_only=True)
class Trained(Aggregator):
    """Score = a net over what the lists say of an item; the passes to keep are chosen on other queries."""

    supervised = True
    scaled: ClassVar[bool] = True
    weighted: ClassVar[bool] = True  # whether values of entries are times the weights of their lists

    target: str = target_param()  # type: ignore[misc]
    experts: str = experts_param()
    threshold: int = threshold_param()
    unjudged: str = param(
        "irrelevant",
        "irrelevant: an unjudged item has label 0 if it is among RRF's first 1000; ignore: it says nothing",
        choices=("irrelevant", "ignore"),
    )
    epochs: int = param(100, "passes over the labelled queries", at_least=1)
    seed: int = param(0, "order of the queries, and what else is drawn", at_least=0)

    experts_: list[str] = learned(Names("experts"))  # with weights of their own, in the order of these
    weights_: Floats = learned(Array("weights"))
    passes_: list[int] = learned(ListOf(Number(whole=True, at_least=1)))  # best on the validation queries, best first

    @abstractmethod
    def _values(self, rankings: Rankings, panel: Panel) -> Floats:
        """What an entry of a list says about its item: a vector of the same length for every entry."""

    @abstractmethod
    def _n_weights(self) -> int:
        """How many weights the learner has, for the experts with weights of their own and one more."""

    def _sizes(self) -> Sizes:
        return {"weights": self._n_weights()}

    @abstractmethod
    def _learner(self) -> Learner:
        """What learns from these."""

    def _rows(self, rankings: Rankings, panel: Panel) -> Rows:
        return Rows.of_entries(rankings, panel, self._values(rankings, panel), weighted=self.weighted)

    def _learn(self, data: Dataset, valid: Dataset | None) -> None:
        check_truth(self.name, self.target, data)
        lessons = lessons_or_error(self.name, data, self.unjudged)
        panel = Panel.choose(lessons.data.rankings, self.experts, self.threshold)
        training = Training(
            learner=self._learner(),
            target=self.target,
            epochs=self.epochs,
            seed=self.seed,
            unjudged=self.unjudged,
            to_rows=lambda rankings: self._rows(rankings, panel),
            scaled=self.scaled,
        )
        best = training.run(lessons, valid)
        self.experts_, self.weights_, self.passes_ = list(panel.names), best.weights, list(best.passes)

    def _scores(self, rankings: Rankings, out: Floats) -> None:
        rows = self._rows(rankings, Panel(tuple(self.experts_)))
        out += self._learner().scores(rows, rankings.slot_ptr, self.weights_)
