"""Which items to judge next: a list of items in the order in which to judge them, each with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.arrays import Ints, freeze
from juryrank.errors import ParameterError
from juryrank.kernels.ragged import parents
from juryrank.models import labelled_dataset
from juryrank.polars import pl
from juryrank.report import Report, Table, counted
from juryrank.tasks.judge.plan_order import broad_and_shallow
from juryrank.tasks.judge.plan_posterior import deciding_items

SIMPLE_UP_TO = 100  # judgements; with fewer, the model's choices were no better than the simple plan
EVERY = 5  # from then on, each fifth item is chosen by the model

Reason = tuple[int, str]  # a slot and why it is in the plan


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgingPlan(Report):
    """Items to judge, in the order in which to judge them; one may stop anywhere."""

    rankings: Rankings
    slots: Ints  # [n_items] in the order in which to judge them
    why: tuple[str, ...]  # [n_items]
    budget: int
    n_judged: int  # ranked items that have labels already
    n_left: int  # ranked items without a label that are not in the plan

    def __post_init__(self) -> None:
        freeze(self)

    def __len__(self) -> int:
        return len(self.slots)

    def __repr__(self) -> str:
        what = f"{counted(len(self), 'item')} of {counted(self.n_queries, 'query')}"
        return f"JudgingPlan({what}, {self.n_judged} judged so far)"

    @property
    def n_queries(self) -> int:
        """How many queries have items in the plan."""
        return len(np.unique(self._query))

    @property
    def _query(self) -> Ints:
        query: Ints = parents(self.rankings.slot_ptr)[self.slots]
        return query

    def rows(self) -> list[dict[str, Any]]:
        """One row per item to judge: query, item, why."""
        r = self.rankings
        items = r.items[r.slot_item[self.slots]].tolist()
        return [
            {"query": r.queries[q], "item": item, "why": why}
            for q, item, why in zip(self._query.tolist(), items, self.why, strict=True)
        ]

    def to_frame(self) -> pl.DataFrame:
        """A polars frame with the columns query, item and why, in the order in which to judge."""
        return pl.DataFrame(self.rows(), schema=dict.fromkeys(("query", "item", "why"), pl.String))

    def to_dict(self) -> dict[str, Any]:
        counts = {"budget": self.budget, "judged": self.n_judged, "left": self.n_left}
        return {**counts, "queries": self.n_queries, "plan": self.rows()}

    def note(self) -> str:
        """How much is proposed, of how many items."""
        text = (
            f"{counted(len(self), 'item')} of {counted(self.n_queries, 'query')} to judge; {self.n_judged} judged so "
            "far, "
        )
        if len(self) < self.budget:
            return f"{text}no others left: fewer than the budget of {self.budget}."
        return f"{text}{self.n_left} others left."

    def tables(self, percent: bool | None = None) -> list[Table]:
        body = [[str(n), *row.values()] for n, row in enumerate(self.rows(), 1)]
        return [Table("Judging plan", ["", "query", "item", "why"], body, n_names=4, note=self.note())]


def judging_plan(data: Any, labels: Any = None, budget: int = 100) -> JudgingPlan:
    """Which items of which queries to judge next, at most ``budget``, in the order in which to judge them.

    ``data`` is what ``fit`` takes. ``labels``, as ``read`` takes them, are the judgements so far; an item that has one
    is not proposed, nor one that no expert ranked. The plan is broad and shallow: the first three items of RRF of 33
    queries, then more queries and more items of each. Every second query is one whose first items the experts rank far
    apart, the others are a random sample. From 100 judgements on, every fifth item is one that decides between the
    learned model, RRF and the best expert: the one about which the model fitted to the labels is most uncertain.

    >>> runs = {"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "c", "a"]}}
    >>> judging_plan(runs, labels={"q": {"a": 1}}, budget=1).to_frame().rows()
    [('q', 'b', 'place 1 of RRF')]
    """
    require_count("budget", budget)
    found = labelled_dataset(data, labels)
    order, place = broad_and_shallow(found.rankings)
    judged = np.zeros(found.rankings.n_slots, bool) if found.labels is None else ~np.isnan(found.slot_labels)
    order, n_judged = order[~judged[order]], int(judged[order].sum())
    simple = ((slot, f"place {place[slot]} of RRF") for slot in order.tolist())
    chosen = deciding_items(found, place, _mask(order, len(judged))) if n_judged >= SIMPLE_UP_TO else iter(())
    slots, why = _mix(simple, chosen, min(int(budget), len(order)))
    return JudgingPlan(
        rankings=found.rankings,
        slots=slots,
        why=why,
        budget=int(budget),
        n_judged=n_judged,
        n_left=len(order) - len(slots),
    )


def require_count(name: str, value: Any) -> None:
    """Raise a ParameterError unless the value is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ParameterError(f"{name} must be a whole number of at least 1, got {value!r}")


def _mask(chosen: Ints, size: int) -> NDArray[np.bool_]:
    mask = np.zeros(size, bool)
    mask[chosen] = True
    return mask


def _mix(simple: Iterator[Reason], chosen: Iterator[Reason], n: int) -> tuple[Ints, tuple[str, ...]]:
    """``n`` different slots and their reasons: four of the simple plan, one that the model chose, and so on."""
    found: dict[int, str] = {}
    while len(found) < n:
        sources = (chosen, simple) if len(found) % EVERY == EVERY - 1 else (simple,)
        slot, why = next(pair for source in sources for pair in source if pair[0] not in found)
        found[slot] = why
    return np.array(list(found), np.int64), tuple(found.values())
