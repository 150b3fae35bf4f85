"""The list of queries: pages of it, searched and sorted."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from juryrank.data.arrays import Ints
from juryrank.server.problems import Problem
from juryrank.studio.studio import Snapshot, Studio

SORTS = ("id", "disagreement", "judged")
KEPT_SEARCHES = 8


class QueriesView:
    """Pages of the list of queries."""

    def __init__(self, studio: Studio) -> None:
        self._material, self._facts, self._judged = studio.material, studio.facts, studio.judged
        self._found = lru_cache(maxsize=KEPT_SEARCHES)(self._find)  # pages of one search follow each other

    @cached_property
    def _searched(self) -> list[str]:
        """What a search looks at: id and text of each query."""
        return [f"{name}\n{self._material.query_text(name) or ''}".casefold() for name in self._material.data.queries]

    def page(self, now: Snapshot, offset: int, limit: int, search: str, sort: str) -> dict[str, Any]:
        """The queries from ``offset`` on that have the searched words in their id or text."""
        if sort not in SORTS:
            raise Problem(422, f"sort must be one of {', '.join(SORTS)}, got {sort[:50]!r}")
        chosen = self._sorted(now, self._found(tuple(search.casefold().split())), sort)
        shown = chosen[offset : offset + limit].tolist()
        return {"total": len(chosen), "queries": [self._row(q, now) for q in shown]}

    def _find(self, words: tuple[str, ...]) -> Ints:
        if not words:
            return np.arange(len(self._material.data))
        found = (q for q, text in enumerate(self._searched) if all(word in text for word in words))
        return np.fromiter(found, np.int64)

    def _sorted(self, now: Snapshot, chosen: Ints, sort: str) -> Ints:
        if sort == "disagreement":
            return chosen[np.argsort(-self._facts.disagreement[chosen], kind="stable")]
        if sort == "judged":
            return chosen[np.argsort(-self._judged.by_query(now.labels)[chosen], kind="stable")]
        return chosen

    def _row(self, q: int, now: Snapshot) -> dict[str, Any]:
        name = self._material.data.queries[q]
        return {
            "id": name, "text": self._material.query_text(name),
            "items": int(self._material.data.rankings.query_size[q]), "judged": self._judged.of_query(now.labels, name),
            "disagreement": float(self._facts.disagreement[q]) if self._facts.prepared else None,
        }  # fmt: skip
