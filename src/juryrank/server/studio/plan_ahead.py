"""Plans of a session that are made before they are due, so that no answer waits for one."""

from __future__ import annotations

import threading

from juryrank.data import Dataset, Labels
from juryrank.judging.plan import judging_plan
from juryrank.judging.session import BATCH
from juryrank.lazy_polars import pl
from juryrank.server.studio.background import Background
from juryrank.server.studio.current_labels import CurrentLabels

AHEAD = 10  # answers before the end of a batch at which the next plan is begun

Rows = list[tuple[str, str]]  # query and item


class PlanAhead:
    """Takes the place of ``judging_plan`` in a session, which knows the grades only, and not the labels of the data."""

    def __init__(self, data: Dataset, name: str, background: Background) -> None:
        self._data, self._name, self._background = data, f"plan of {name}", background
        self._lock = threading.Lock()
        self._since, self._number = 0, 0
        self._next: Rows = []

    def __call__(self, data: Dataset, labels: Labels | None, budget: int) -> Planned:
        """Items to judge: those planned before, without what has a label meanwhile; a new plan if they are too few."""
        with self._lock:
            planned, self._next, self._since = self._next, [], 0
            self._number += 1
        now = CurrentLabels.with_grades(self._data, labels)
        planned = [(query, item) for query, item in planned if item not in now.grades.get(query, {})]
        if len(planned) >= min(budget, BATCH):
            return Planned(planned[:budget])
        return Planned(_rows(now, budget))

    def answered(self, labels: CurrentLabels, n_skipped: int) -> None:
        """Note an answer; shortly before a batch is complete, the next plan is begun."""
        self._since += 1
        if self._since == BATCH - AHEAD:
            budget = 2 * BATCH + n_skipped
            self._background.get(self._name, self._number, lambda: self._prepare(labels, budget))

    def _prepare(self, labels: CurrentLabels, budget: int) -> None:
        number = self._number
        rows = _rows(labels, budget)
        with self._lock:
            if number == self._number:
                self._next = rows


class Planned:
    """A plan as a session reads it."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def to_frame(self) -> pl.DataFrame:
        """The columns query and item."""
        return pl.DataFrame(self._rows, schema=dict.fromkeys(("query", "item"), pl.String), orient="row")


def _rows(labels: CurrentLabels, budget: int) -> Rows:
    plan = judging_plan(labels.data, labels=labels.whole, budget=budget)
    return [(row["query"], row["item"]) for row in plan.rows()]
