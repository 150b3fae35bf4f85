"""Which items to judge next: a list of items in the order in which to judge them, each with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Dataset, Rankings
from juryrank.data.arrays import Floats, Ints, freeze
from juryrank.errors import ParameterError
from juryrank.kernels.ragged import parents
from juryrank.lazy_polars import pl
from juryrank.models import labelled_dataset
from juryrank.report import Report, Table
from juryrank.training.rrf_baseline import rrf_scores

DEPTH = 3  # items of a query that are judged before the next query
DIGITS = 12  # of RRF's scores; the rest may depend on the order in which experts are added


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
        return f"JudgingPlan({len(self)} items of {self.n_queries} queries, {self.n_judged} judged so far)"

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
        text = f"{len(self)} items of {self.n_queries} queries to judge; {self.n_judged} judged so far, "
        if len(self) < self.budget:
            return f"{text}no others left: fewer than the budget of {self.budget}."
        return f"{text}{self.n_left} others left."

    def tables(self, percent: bool | None = None) -> list[Table]:
        body = [[str(n), *row.values()] for n, row in enumerate(self.rows(), 1)]
        return [Table("Judging plan", ["", "query", "item", "why"], body, n_names=4, note=self.note())]


def judging_plan(data: Any, labels: Any = None, budget: int = 100) -> JudgingPlan:
    """Which items of which queries to judge next, at most ``budget``, in the order in which to judge them.

    ``data`` is what ``fit`` takes. ``labels``, as ``read`` takes them, are the judgements so far; an item that has one
    is not proposed, nor one that no expert ranked. The plan is broad and shallow: the first three items of RRF of one
    query after the other, then the next three of each. Judging it in several batches, with the labels of earlier
    ones, gives the same items.

    >>> runs = {"bm25": {"q": ["a", "b", "c"]}, "dense": {"q": ["b", "c", "a"]}}
    >>> judging_plan(runs, labels={"q": {"a": 1}}, budget=1).to_frame().rows()
    [('q', 'b', 'place 1 of RRF')]
    """
    if isinstance(budget, bool) or not isinstance(budget, int | np.integer) or budget < 1:
        raise ParameterError(f"budget must be a whole number of at least 1, got {budget!r}")
    found = labelled_dataset(data, labels)
    open_slots = _ranked(found.rankings) & ~_judged(found)
    order, place = _broad_and_shallow(found.rankings)
    slots = order[open_slots[order]][:budget]
    return JudgingPlan(
        rankings=found.rankings,
        slots=slots,
        why=tuple(f"place {p} of RRF" for p in place[slots].tolist()),
        budget=int(budget),
        n_judged=int((_ranked(found.rankings) & _judged(found)).sum()),
        n_left=int(open_slots.sum()) - len(slots),
    )


def _ranked(rankings: Rankings) -> NDArray[np.bool_]:
    return rankings.slot_lists > 0


def _judged(data: Dataset) -> NDArray[np.bool_]:
    return np.zeros(data.rankings.n_slots, bool) if data.labels is None else ~np.isnan(data.slot_labels)


def _broad_and_shallow(rankings: Rankings) -> tuple[Ints, Ints]:
    """All slots in the order of the simple plan, and the place of each slot in RRF's order."""
    query, place = parents(rankings.slot_ptr), _places(rankings, rrf_scores(rankings))
    turn = _query_turns(rankings.queries)[query]
    return np.lexsort((place, turn, (place - 1) // DEPTH)), place


def _places(rankings: Rankings, scores: Floats) -> Ints:
    """The place of each slot by score, 1 is best; ties in the order of the items' names."""
    query, by_name = parents(rankings.slot_ptr), rankings.slots_by_name_descending[::-1]
    order = by_name[np.lexsort((-np.round(scores[by_name], DIGITS), query[by_name]))]
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order)) - rankings.slot_ptr[query] + 1
    return place


def _query_turns(queries: tuple[str, ...]) -> Ints:
    """When it is each query's turn: mixed, as neighbours are often alike, and the same in any order of queries."""
    order = sorted(
        range(len(queries)), key=lambda q: (blake2b(queries[q].encode("utf-8", "surrogatepass")).digest(), queries[q])
    )
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order))
    return turn
