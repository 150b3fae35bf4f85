"""One query: the lists of the experts, and a consensus of them by a method or the learned model."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juryrank.data import Dataset
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.learning.baseline import rrf_scores
from juryrank.learning.columns import expert_columns
from juryrank.methods import Aggregator, method
from juryrank.server.problems import Problem
from juryrank.studio.studio import Snapshot, Studio
from juryrank.tasks.explain.contributions import contributions

METHODS = ("rrf", "borda", "kemeny", "jury")
LEARNED = ("jury", "model")
KEMENY_ITEMS = 60  # of a query that kemeny orders; more would take seconds
SHOWN_TEXT = 500  # characters
KEPT = 64  # queries whose consensus is kept

NOTHING_LEARNED = "The model has not learned anything yet: this is RRF. Judge some items first."


@dataclass(frozen=True, eq=False)
class Ranked:
    """The items of a query by one method."""

    order: Ints  # slots, best first
    scores: Floats  # [n_slots]
    contributions: Floats | None  # [n_slots, n_experts] None where scores are not sums over experts
    note: str | None


class QueryView:
    """Windows of the lists of a query and of their consensus."""

    def __init__(self, studio: Studio) -> None:
        self._studio, self._lock = studio, threading.Lock()
        self._kept: OrderedDict[tuple[int, str, int], tuple[Dataset, Ranked]] = OrderedDict()

    def window(self, now: Snapshot, query: str, chosen: str, offset: int, limit: int) -> dict[str, Any]:
        """The ranks after ``offset``, at most ``limit`` of them, of each list and of the consensus."""
        if chosen not in (*METHODS, *LEARNED):
            raise Problem(422, f"method must be one of {', '.join(METHODS)}, got {chosen[:50]!r}")
        one, ranked = self._ranked(now, self._studio.position(query), chosen)
        r = one.rankings
        names = r.items[r.slot_item]
        return {
            "id": query, "text": self._studio.material.query_text(query), "total": r.n_slots,
            "experts": [_list_window(one, n, names, offset, limit) for n in range(r.n_lists)],
            "consensus": self._consensus(now, one, ranked, names, slice(offset, offset + limit)),
            "method": "jury" if chosen in LEARNED else chosen,
            "methods": list(METHODS), "note": ranked.note,
        }  # fmt: skip

    def _ranked(self, now: Snapshot, q: int, chosen: str) -> tuple[Dataset, Ranked]:
        learned = chosen in LEARNED
        key = (q, "jury" if learned else chosen, now.version if learned else 0)
        with self._lock:
            kept = self._kept.get(key)
        if kept is None:
            one = self._studio.material.data.take(np.array([q]))
            ranked = _rank(one, now.model if learned else None, "rrf" if learned else chosen)
            if learned and now.model is None:
                ranked = replace(ranked, note=NOTHING_LEARNED)
            kept = (one, ranked)
            with self._lock:
                self._kept[key] = kept
                while len(self._kept) > KEPT:
                    self._kept.popitem(last=False)
        return kept

    def _consensus(
        self, now: Snapshot, one: Dataset, ranked: Ranked, names: Any, window: slice
    ) -> list[dict[str, Any]]:
        r, material = one.rankings, self._studio.material
        ranks = expert_columns(r, r.experts, r.entry_rank, absent=np.nan)
        present = np.unique(r.list_expert).tolist()
        labels = now.labels.of_query(one.queries[0])
        rows = []
        for rank, slot in enumerate(ranked.order[window].tolist(), window.start + 1):
            item = names[slot]
            title, text = material.item_text(item)
            added = None if ranked.contributions is None else ranked.contributions[slot]
            here = [k for k in present if not np.isnan(ranks[slot, k])]
            rows.append(
                {
                    "id": item, "rank": rank, "score": float(ranked.scores[slot]),
                    "ranks": {r.experts[k]: round(float(ranks[slot, k]), 2) for k in here},
                    "contributions": None if added is None else {r.experts[k]: float(added[k]) for k in present},
                    "label": labels[item][0] if item in labels else None,
                    "title": title, "text": _cut(text),
                }
            )  # fmt: skip
        return rows


def _list_window(one: Dataset, n: int, names: Any, offset: int, limit: int) -> dict[str, Any]:
    r = one.rankings
    first, last = int(r.entry_ptr[n]), int(r.entry_ptr[n + 1])
    shown = range(min(first + offset, last), min(first + offset + limit, last))
    return {
        "name": r.experts[r.list_expert[n]],
        "length": last - first,
        "items": [
            {
                "id": names[r.entry_slot[e]],
                "rank": float(r.entry_rank[e]),
                "score": None if r.entry_score is None else float(r.entry_score[e]),
            }
            for e in shown
        ],
    }


def _rank(one: Dataset, model: Aggregator | None, name: str) -> Ranked:
    if model is None and name == "kemeny":
        return _by_kemeny(one)
    fitted = method(name).fit(one) if model is None else model
    consensus = fitted.predict(one, warn_unknown=False)
    formula = fitted.formula()
    added = contributions(fitted, one) if formula is not None and formula.depends_on else None
    return Ranked(consensus.order, consensus.scores, added, None)


def _by_kemeny(one: Dataset) -> Ranked:
    """Kemeny's order of the first items of RRF, and RRF's order of the others."""
    scores = rrf_scores(one.rankings)
    order = np.argsort(-scores, kind="stable")
    n = one.rankings.n_slots
    if n <= KEMENY_ITEMS:
        return _rank_by_kemeny(one)
    chosen = np.sort(order[:KEMENY_ITEMS])
    best = _rank_by_kemeny(_only(one, chosen))
    whole = np.concatenate([chosen[best.order], order[KEMENY_ITEMS:]])
    places = np.empty(n)
    places[whole] = np.arange(n, 0, -1.0)
    note = f"Kemeny's order of the first {KEMENY_ITEMS} items of RRF, and RRF's order of the others."
    return Ranked(whole, places, None, note)


def _rank_by_kemeny(one: Dataset) -> Ranked:
    consensus = (
        method("kemeny", ties="broken").fit(one).predict(one, warn_unknown=False)
    )  # one optimal order, as the page shows an order
    return Ranked(consensus.order, consensus.scores, None, None)


def _only(one: Dataset, slots: Ints) -> Dataset:
    """The query with these of its items, in this order."""
    r = one.rankings
    place = np.full(r.n_slots, -1)
    place[slots] = np.arange(len(slots))
    kept = place[r.entry_slot] >= 0
    sizes = np.add.reduceat(kept, r.entry_ptr[:-1]) * (r.list_size > 0) if r.n_lists and r.n_entries else r.list_size
    rankings = replace(
        r,
        slot_ptr=np.array([0, len(slots)]),
        slot_item=r.slot_item[slots],
        entry_ptr=sizes_to_ptr(sizes),
        entry_slot=place[r.entry_slot[kept]].astype(np.int32),
        entry_rank=r.entry_rank[kept],
        entry_score=None if r.entry_score is None else r.entry_score[kept],
    )
    return Dataset(rankings=rankings.keep_lists(rankings.list_size > 0))


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= SHOWN_TEXT else f"{text[: SHOWN_TEXT - 1]}…"
