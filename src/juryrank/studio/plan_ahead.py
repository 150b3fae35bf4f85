"""Plans that are made before they are due, so that no judge waits for one."""

from __future__ import annotations

import threading
from typing import NamedTuple

from juryrank.data import Dataset, Labels
from juryrank.polars import pl
from juryrank.studio.background import Background
from juryrank.studio.current_labels import CurrentLabels
from juryrank.tasks.judge.plan import judging_plan
from juryrank.tasks.judge.session import BATCH

EVERY = 15  # answers after which a new plan is made: before a judge has used up a batch of the last one
PLANNED = 3 * BATCH  # items of a plan
NAME = "plan"


class Plan(NamedTuple):
    """Items to judge, best first."""

    keys: list[tuple[str, str]]  # query and item
    budget: int  # with fewer items than that, nothing else is left

    def to_frame(self) -> pl.DataFrame:
        """The columns query and item, as a session reads them."""
        return pl.DataFrame(self.keys, schema=dict.fromkeys(("query", "item"), pl.String), orient="row")


class PlanAhead:
    """Takes the place of ``judging_plan`` in the sessions of all judges.

    Sessions know the grades only; the labels of the data are known here.
    """

    def __init__(self, data: Dataset) -> None:
        self._data, self._background = data, Background()
        self._lock = threading.Lock()
        self._answers = 0
        self._plan = Plan([], PLANNED)

    def __call__(self, data: Dataset, labels: Labels | None, budget: int) -> Plan:
        """Items to judge: those planned before, without what has a label meanwhile; a new plan if they are too few."""
        now = CurrentLabels.with_grades(self._data, labels)
        with self._lock:
            known = self._plan
        left = [(query, item) for query, item in known.keys if item not in now.grades.get(query, {})]
        if len(left) >= budget or len(known.keys) < known.budget:
            return Plan(left[:budget], budget)
        self._make(now, max(budget, PLANNED))
        return self(data, labels, budget)

    def begin(self, labels: CurrentLabels) -> bool:
        """Make the first plan in the background; whether it is there."""
        return not self._background.get(NAME, 0, lambda: self._make(labels, PLANNED)).working

    def answered(self, labels: CurrentLabels, n_skipped: int) -> None:
        """Note an answer; after some, a new plan is begun."""
        self._answers += 1
        if self._answers % EVERY == 0:
            self._background.get(NAME, self._answers, lambda: self._make(labels, PLANNED + n_skipped))

    def _make(self, labels: CurrentLabels, budget: int) -> None:
        rows = judging_plan(labels.data, labels=labels.whole, budget=budget).rows()
        with self._lock:
            self._plan = Plan([(row["query"], row["item"]) for row in rows], budget)
