"""Consensus: one ranking of the items of each query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from juryrank.data.arrays import Floats, Ints, freeze
from juryrank.data.by_query import ByQuery
from juryrank.data.lazy_details import take_details
from juryrank.data.rankings import Rankings
from juryrank.data.ties import TieBreak, falling, tie_groups, tied_ranks, without_ties
from juryrank.data.trec_lines import demand_run_names, few_run_lines, format_lines, has_odd_name, run_lines
from juryrank.errors import DataError, MissingExtraError
from juryrank.kernels.ragged import children, descending_order, parents
from juryrank.polars import is_imported, pl, require_threads

if TYPE_CHECKING:
    import pandas as pd
    import ranx

SHOWN_QUERIES, SHOWN_ITEMS = 3, 5  # in a notebook
AT_ONCE = 1 << 15  # items of a run that are written at a time, which limits the memory
FEW = 100_000  # lines of a run, which are written in the time that the import of polars takes


class ScoredDoc(NamedTuple):
    """An item of a query and its score: a tuple with the fields of a scored document of ir_measures and ir_datasets."""

    query_id: str
    doc_id: str
    score: float


@dataclass(frozen=True, eq=False)
class Consensus(ByQuery):
    """One score per slot, higher is better; equal scores are ties, in the order of the slots."""

    rankings: Rankings
    scores: Floats  # [n_slots]
    details: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # [n_queries] each: reported by the method

    def __post_init__(self) -> None:
        if len(self.scores) != self.rankings.n_slots:
            raise DataError(f"{len(self.scores)} scores for {self.rankings.n_slots} slots")
        freeze(self)

    @property
    def queries(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.rankings.queries

    def __repr__(self) -> str:
        return f"Consensus({len(self)} queries, {len(self.scores)} slots)"

    def _repr_html_(self) -> str:
        from juryrank.report import Table, notebook_html

        shown = self[:SHOWN_QUERIES]
        r, (slot, query, rank) = shown.rankings, shown._best(0, len(shown), SHOWN_ITEMS)
        names, scores = r.items[r.slot_item[slot]].tolist(), shown.scores[slot].tolist()
        rows = [
            [r.queries[q], str(place), item, f"{score:.6g}"]
            for q, place, item, score in zip(query.tolist(), rank.tolist(), names, scores, strict=True)
        ]
        note = f"At most {SHOWN_ITEMS} items of {len(shown)} queries, of {self!r}."
        return notebook_html([Table("", ["query", "rank", "item", "score"], rows, n_names=3, note=note)])

    @cached_property
    def order(self) -> Ints:
        """Slots of each query from best to worst (``slot_ptr`` has the offsets)."""
        out = np.empty(len(self.scores), np.int64)
        descending_order(self.rankings.slot_ptr, self.scores, out)
        return out

    @cached_property
    def trec_order(self) -> Ints:
        """As ``order``, but as trec_eval orders: scores in single precision, equal ones by name, last name first."""
        by_name, score = self.rankings.slots_by_name_descending, single_precision(self.scores)
        order = np.empty(len(score), np.int64)
        descending_order(self.rankings.slot_ptr, score[by_name], order)
        return by_name[order]

    def take(self, chosen: Ints) -> Consensus:
        """The chosen queries, in that order."""
        scores = self.scores[children(self.rankings.slot_ptr, chosen)]
        return Consensus(self.rankings.take(chosen), scores, take_details(self.details, chosen))

    def top(self, n: int = 10) -> dict[str, list[str]]:
        """The names of the best ``n`` items of each query."""
        return {query: list(scored)[:n] for query, scored in self.to_dict().items()}

    def winners(self) -> dict[str, list[str]]:
        """The items with the highest score of each query, by name: more than one where they are tied."""
        r = self.rankings
        slot, query, rank = self._best(0, len(self), None)
        first = rank == 1
        out: dict[str, list[str]] = {name: [] for name in r.queries}
        for q, item in zip(query[first].tolist(), r.items[r.slot_item[slot[first]]].tolist(), strict=True):
            out[r.queries[q]].append(item)
        return {name: sorted(items) for name, items in out.items()}

    def ties(self) -> dict[str, list[list[str]]]:
        """The groups of two or more items that share a place, of each query, best first.

        >>> from juryrank import from_orders, method
        >>> five_to_five = from_orders(5 * [["A", "B", "C"]] + 5 * [["B", "A", "C"]])
        >>> consensus = method("borda").fit_predict(five_to_five)
        >>> consensus.ties(), consensus.winners()
        ({'all': [['A', 'B']]}, {'all': ['A', 'B']})
        """
        return tie_groups(self.rankings, self.scores, self.order)

    def break_ties(self, rule: TieBreak, *, seed: int = 0) -> Consensus:
        """The same ranking without ties: by "name", at "random" with a seed, or in a given order of item names.

        Tied items get scores that differ by a millionth of the largest score of the query, or less where the next score
        is near; other scores stay. "none" leaves the ties. A given order must name every tied item.

        >>> from juryrank import from_orders, method
        >>> tied = method("borda").fit_predict(from_orders([["A", "B"], ["B", "A"]]))
        >>> tied.to_frame()["rank"].to_list(), tied.break_ties(["B", "A"]).winners()
        ([1, 1], {'all': ['B']})
        """
        scores = without_ties(self.rankings, self.scores, self.order, rule, seed)
        return Consensus(self.rankings, scores, self.details)

    def to_dict(self) -> dict[str, dict[str, float]]:
        """``{query: {item: score}}``, best first."""
        r, order = self.rankings, self.order
        names = r.items[r.slot_item[order]].tolist()
        scores = self.scores[order].tolist()
        ptr = r.slot_ptr.tolist()
        return {
            query: dict(zip(names[ptr[q] : ptr[q + 1]], scores[ptr[q] : ptr[q + 1]], strict=True))
            for q, query in enumerate(r.queries)
        }

    def to_frame(self, top: int | None = None) -> pl.DataFrame:
        """A polars DataFrame with query, item, rank and score, best first: all items of each query, or ``top``.

        Items with equal scores share a rank (1, 1, 3).
        """
        return self._frame(0, len(self), top)

    def to_pandas(self, top: int | None = None) -> pd.DataFrame:
        """As ``to_frame``, a DataFrame of pandas; pyarrow is not needed."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtraError("to_pandas needs pandas: pip install pandas") from None
        return pd.DataFrame({column.name: column.to_list() for column in self.to_frame(top)})

    def to_scored_docs(self, top: int | None = None) -> list[ScoredDoc]:
        """Tuples ``(query, item, score)``, best first, with the names of fields of ir_measures and ir_datasets."""
        rows = self.to_frame(top).select("query", "item", "score")
        return list(map(ScoredDoc, *(column.to_list() for column in rows)))

    def to_ranx(self, name: str = "juryrank") -> ranx.Run:
        """A Run of ranx, in the order of trec_eval.

        ranx has no order for equal scores. Where scores are equal, in single precision as in trec_eval, those of later
        items are lowered by the smallest possible step.
        """
        try:
            import ranx
        except ImportError:
            raise MissingExtraError("to_ranx needs ranx: pip install ranx") from None
        r, order = self.rankings, self.trec_order
        names, scores = r.items[r.slot_item[order]].tolist(), falling(r.slot_ptr, self.scores[order]).tolist()
        filled = [(query, *r.slot_ptr[q : q + 2]) for q, query in enumerate(r.queries) if r.query_size[q]]
        return ranx.Run({query: dict(zip(names[a:b], scores[a:b], strict=True)) for query, a, b in filled}, name=name)

    def to_trec(self, tag: str = "juryrank", top: int | None = None) -> str:
        """The lines of a TREC run file; a DataError for a name with whitespace, which a run cannot represent.

        Items with equal scores share a rank (1, 1, 3).
        """
        return b"".join(self.run_lines(tag, top)).decode()

    def run_lines(self, tag: str, top: int | None = None, *, few: int = FEW, at_once: int = AT_ONCE) -> Iterator[bytes]:
        """The lines of a TREC run, in chunks of whole queries with about ``at_once`` items; names are checked first.

        Up to ``few`` lines are written without polars if it is not imported yet.
        """
        r = self.rankings
        if not is_imported():
            slot, query, rank = self._best(0, len(self), top)
            if len(slot) <= few:
                names = [r.queries[q] for q in query.tolist()], r.items[r.slot_item[slot]].tolist()
                return iter([few_run_lines(*names, rank.tolist(), self.scores[slot].tolist(), tag)])
        require_threads("to write a TREC run")
        if r.n_slots <= at_once:
            return iter([run_lines(self._frame(0, len(self), top, tag))])
        used = np.bincount(r.slot_item if top is None else r.slot_item[self._best(0, len(self), top)[0]])
        items = r.names_of(np.flatnonzero(used).astype(np.int32))
        if any(map(has_odd_name, (pl.Series(r.queries, dtype=pl.String), items, pl.Series([tag])))):
            demand_run_names(self._frame(0, len(self), top, tag))
        cuts = [0, *np.searchsorted(r.slot_ptr, np.arange(at_once, r.n_slots, at_once)).tolist(), len(self)]
        return (format_lines(self._frame(first, last, top, tag)) for first, last in pairwise(cuts) if first < last)

    def _frame(self, first: int, last: int, top: int | None, tag: str | None = None) -> pl.DataFrame:
        """The rows of the queries first:last, with ``tag`` as the expert if it is given."""
        r, (slot, query, rank) = self.rankings, self._best(first, last, top)
        columns = {
            "query": pl.Series(r.queries[first:last], dtype=pl.String).gather(query),
            "item": r.names_of(r.slot_item[slot]),
            "rank": rank,
            "score": self.scores[slot],
        }
        return pl.DataFrame(
            columns if tag is None else {**columns, "expert": pl.Series([tag]).new_from_index(0, len(slot))}
        )

    def _best(self, first: int, last: int, top: int | None) -> tuple[Ints, Ints, Ints]:
        """Slot, query and rank of the best items of the queries first:last, of all or of ``top``; the first is 0.

        Tied items share a rank; ``top`` counts items, so that it may keep some of a tie.
        """
        ptr = self.rankings.slot_ptr[first : last + 1]
        slot, query = self.order[ptr[0] : ptr[-1]], parents(ptr)
        rank = tied_ranks(ptr - ptr[0], self.scores[slot])
        if top is None:
            return slot, query, rank
        kept = np.arange(len(slot)) - (ptr - ptr[0])[query] < top
        return slot[kept], query[kept], rank[kept]


def single_precision(scores: Floats) -> Floats:
    """The scores rounded to single precision."""
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)
