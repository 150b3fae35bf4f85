"""Rankings: what the experts said, as flat arrays; Consensus: what comes out.

Four words and one rule: a *slot* is one item of one query; a *list* is what one expert ranked for one query; an
*entry* is one slot at one rank of one list; ``x_ptr[i]:x_ptr[i+1]`` are the x's of parent ``i``. Missing is absent:
an unranked item has a slot but no entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from types import EllipsisType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from juryrank.errors import DataError, UnknownNameError
from juryrank.kernels.positional import places
from juryrank.kernels.ragged import children, descending, parents, sizes_to_ptr

if TYPE_CHECKING:
    import polars as pl

Ints = NDArray[np.int64]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]
Names = NDArray[np.object_]
Index = int | str | slice | Sequence[int] | NDArray[Any] | tuple[Any, EllipsisType]


def positions(index: Index, names: tuple[str, ...]) -> Ints:
    """Query positions that an index means: a number, a name, a slice, numbers or a mask."""
    if isinstance(index, tuple) and len(index) == 2 and index[1] is Ellipsis:  # how scikit-learn asks for rows
        index = index[0]
    if isinstance(index, str):
        if index not in names:
            raise UnknownNameError(f"no query {index!r} among {len(names)} queries")
        return np.array([names.index(index)])
    if isinstance(index, slice):
        return np.arange(len(names))[index]
    chosen = np.atleast_1d(np.asarray(index))
    if chosen.dtype == bool:
        if len(chosen) != len(names):
            raise IndexError(f"a mask of {len(chosen)} for {len(names)} queries")
        return np.flatnonzero(chosen)
    if len(chosen) and not np.issubdtype(chosen.dtype, np.integer):
        raise IndexError(f"queries are indexed by number, name, slice or mask, not {index!r}")
    chosen = chosen.astype(np.int64)
    if len(chosen) and not (-len(names) <= chosen.min() and chosen.max() < len(names)):
        raise IndexError(f"no query {index!r} among {len(names)} queries")
    return np.where(chosen < 0, chosen + len(names), chosen)


def freeze(owner: Any) -> None:
    """Make the arrays of a dataclass read-only."""
    for f in fields(owner):
        value = vars(owner).get(f.name)
        if isinstance(value, np.ndarray) and value.flags.writeable:
            value.flags.writeable = False


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers, not to be written to, as those of rankings are: Numba compiles one version and not two."""
    view = array[:]
    view.flags.writeable = False
    return view


class TextWhenAsked:
    """A field with names: an array of text, or a polars series that becomes one when it is first asked for.

    Most work is done on numbers alone, and while Python makes text no other thread runs.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, owner: Any, kind: type) -> Names:
        if owner is None:
            raise AttributeError(self.name)  # so the field has no default
        names = vars(owner)[self.name]
        if not isinstance(names, np.ndarray):
            text: Names = np.empty(len(names), object)
            text[:] = names.to_list()
            names = vars(owner)[self.name] = read_only(text)
        return names  # type: ignore[no-any-return]

    def __set__(self, owner: Any, names: Names | pl.Series) -> None:
        vars(owner)[self.name] = names


class ByQuery:
    """``len``, index and iteration by query, for frozen things that have ``queries`` and ``take``."""

    queries: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def shape(self) -> tuple[int]:
        """One dimension, the queries: what scikit-learn's splitters look at."""
        return (len(self.queries),)

    def __getitem__(self, index: Index) -> Any:
        return self.take(positions(index, self.queries))

    def __iter__(self) -> Iterator[Any]:
        return (self.take(np.array([q])) for q in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied by its fields: numpy forgets that arrays are read-only, and a constructor sees to it."""
        return partial(type(self), **{f.name: getattr(self, f.name) for f in fields(self)}), ()  # type: ignore[arg-type]

    def take(self, chosen: Ints) -> Any:
        """The same thing for the chosen queries, in that order."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False, kw_only=True)
class Rankings(ByQuery):
    """Lists of many experts over the items of many queries; frozen, flat and ragged.

    Build it with ``juryrank.read`` or ``juryrank.data.build``; the entries of a list stand in the order of their ranks.
    """

    queries: tuple[str, ...]
    experts: tuple[str, ...]
    items: TextWhenAsked = TextWhenAsked()  # names that slot_item points into
    slot_ptr: Ints  # [n_queries + 1]
    slot_item: Codes  # [n_slots]
    list_ptr: Ints  # [n_queries + 1]
    list_expert: Codes  # [n_lists]
    list_weight: Floats  # [n_lists] how many such lists there are
    entry_ptr: Ints  # [n_lists + 1]
    entry_slot: Codes  # [n_entries] numbered over all queries
    entry_rank: Floats  # [n_entries] 1 is best, equal ranks are ties
    entry_score: Floats | None = None  # [n_entries] higher is better, where the lists carry scores

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def n_slots(self) -> int:
        return len(self.slot_item)

    @property
    def n_lists(self) -> int:
        return len(self.list_expert)

    @property
    def n_entries(self) -> int:
        return len(self.entry_slot)

    def __repr__(self) -> str:
        return (
            f"Rankings({len(self)} queries, {self.n_slots} slots, {len(self.experts)} experts, "
            f"{self.n_lists} lists, {self.n_entries} entries)"
        )

    def names_of(self, item: Codes) -> pl.Series:
        """The names of items, as polars holds them; text of Python's own becomes polars' once for each name."""
        import polars as pl

        names = vars(self)["items"]
        if not isinstance(names, np.ndarray):
            return names.gather(item)  # type: ignore[no-any-return]
        used, at = np.unique(item, return_inverse=True)
        return pl.Series(names[used], dtype=pl.String).gather(at)

    @cached_property
    def entry_place(self) -> Floats:
        """Place of each entry in its list, 1 is best, ties share: ranks without gaps."""
        out = np.empty(self.n_entries)
        places(self.list_ptr, self.entry_ptr, self.entry_rank, out)
        return out

    @cached_property
    def all_once(self) -> bool:
        """Whether every list counts once."""
        return bool((self.list_weight == 1.0).all())

    @cached_property
    def slot_lists(self) -> Ints:
        """How many lists rank each slot."""
        counts: Ints = np.bincount(self.entry_slot, minlength=self.n_slots)
        return counts

    @cached_property
    def items_rise(self) -> bool:
        """Whether the names of items stand in their own order, as data is built."""
        return bool(np.all(self.items[1:] > self.items[:-1]))

    @cached_property
    def last_name_first(self) -> Ints:
        """Slots of each query in falling order of their items' names."""
        if self.items_rise and self._slots_rise():  # as data is built: turned around, query by query
            ends = self.slot_ptr[:-1] + self.slot_ptr[1:] - 1
            turned: Ints = np.repeat(ends, self.query_size) - np.arange(self.n_slots)
            return turned
        place = np.arange(len(self.items))
        if not self.items_rise:
            place[np.argsort(self.items)] = np.arange(len(self.items))
        return np.argsort(parents(self.slot_ptr) * len(place) - place[self.slot_item], kind="stable")

    def _slots_rise(self) -> bool:
        """Whether the slots of each query stand in the order of their items' codes."""
        rising = self.slot_item[1:] > self.slot_item[:-1]
        starts = self.slot_ptr[1:-1]
        rising[starts[(starts > 0) & (starts < self.n_slots)] - 1] = True
        return bool(rising.all())

    @cached_property
    def list_query(self) -> Ints:
        query: Ints = parents(self.list_ptr)
        return query

    @cached_property
    def list_size(self) -> Ints:
        return np.diff(self.entry_ptr)

    @cached_property
    def query_size(self) -> Ints:
        """Items of each query."""
        return np.diff(self.slot_ptr)

    def places_in(self, experts: Sequence[str]) -> Ints:
        """Where each of our experts stands in ``experts``; -1 for strangers."""
        place = {name: n for n, name in enumerate(experts)}
        return np.array([place.get(name, -1) for name in self.experts], np.int64)

    def take(self, chosen: Ints) -> Rankings:
        """The chosen queries, in that order; experts and item names stay."""
        slots = children(self.slot_ptr, chosen)
        lists = children(self.list_ptr, chosen)
        entries = children(self.entry_ptr, lists)
        slot_ptr = sizes_to_ptr(self.query_size[chosen])
        list_ptr = sizes_to_ptr(np.diff(self.list_ptr)[chosen])
        moved = slot_ptr[:-1] - self.slot_ptr[chosen]
        per_entry = np.repeat(np.repeat(moved, np.diff(list_ptr)), self.list_size[lists])
        return Rankings(
            queries=tuple(self.queries[q] for q in chosen),
            experts=self.experts,
            items=self.items,
            slot_ptr=slot_ptr,
            slot_item=self.slot_item[slots],
            list_ptr=list_ptr,
            list_expert=self.list_expert[lists],
            list_weight=self.list_weight[lists],
            entry_ptr=sizes_to_ptr(self.list_size[lists]),
            entry_slot=(self.entry_slot[entries] + per_entry).astype(np.int32),
            entry_rank=self.entry_rank[entries],
            entry_score=None if self.entry_score is None else self.entry_score[entries],
        )

    def keep_lists(self, kept: NDArray[np.bool_]) -> Rankings:
        """The same queries and slots with the chosen lists only."""
        entries = children(self.entry_ptr, np.flatnonzero(kept))
        return replace(
            self,
            list_ptr=sizes_to_ptr(np.bincount(self.list_query[kept], minlength=len(self))),
            list_expert=self.list_expert[kept],
            list_weight=self.list_weight[kept],
            entry_ptr=sizes_to_ptr(self.list_size[kept]),
            entry_slot=self.entry_slot[entries],
            entry_rank=self.entry_rank[entries],
            entry_score=None if self.entry_score is None else self.entry_score[entries],
        )


@dataclass(frozen=True, eq=False)
class Consensus(ByQuery):
    """One score per slot, higher is better; equal scores stand in the order of the slots."""

    rankings: Rankings
    scores: Floats  # [n_slots]
    details: Mapping[str, NDArray[Any]] = field(default_factory=dict)  # [n_queries] each: what a method reports

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
        from juryrank.data.notebook import consensus_html

        return consensus_html(self)

    @cached_property
    def order(self) -> Ints:
        """Slots of each query from best to worst (``slot_ptr`` has the offsets)."""
        out = np.empty(len(self.scores), np.int64)
        descending(self.rankings.slot_ptr, self.scores, out)
        return out

    def take(self, chosen: Ints) -> Consensus:
        """The chosen queries, in that order."""
        scores = self.scores[children(self.rankings.slot_ptr, chosen)]
        return Consensus(self.rankings.take(chosen), scores, {name: v[chosen] for name, v in self.details.items()})

    def top(self, n: int = 10) -> dict[str, list[str]]:
        """The names of the best ``n`` items of each query."""
        return {query: list(scored)[:n] for query, scored in self.to_dict().items()}

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
        """A polars frame with query, item, rank and score, best first; of each query all items, or ``top``."""
        import polars as pl

        r, order, query = self.rankings, self.order, parents(self.rankings.slot_ptr)
        rank = np.arange(len(order)) - r.slot_ptr[query] + 1
        if top is not None:
            kept = rank <= top
            order, query, rank = order[kept], query[kept], rank[kept]
        queries = pl.Series(r.queries, dtype=pl.String)
        return pl.DataFrame(
            {
                "query": queries.gather(query),
                "item": r.names_of(r.slot_item[order]),
                "rank": rank,
                "score": self.scores[order],
            }
        )

    def to_trec(self, tag: str = "juryrank", top: int | None = None) -> str:
        """The lines of a TREC run file; a DataError for a name with blanks, which a run cannot carry."""
        import polars as pl

        from juryrank.data.trec_lines import run_lines

        return run_lines(self.to_frame(top).with_columns(expert=pl.lit(tag))).decode()
