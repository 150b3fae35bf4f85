"""Position curves of experts, from statistics that can be added and subtracted: more queries, held-out parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from juryrank.data.arrays import Floats, Ints
from juryrank.data.rankings import Rankings
from juryrank.kernels.ragged import parents
from juryrank.learning.baseline import sum_of_points
from juryrank.learning.gram_matrices import BLOCK_SIZES, BlockSizes, GramMatrices
from juryrank.learning.labelled import LabelledQueries


class Solver(Protocol):
    """Turns sums over queries into curves."""

    def curves(self, rank: Floats) -> Floats:
        """The values of all curves at each rank, [n, n_curves]; a method may use the first of them only."""
        ...

    def __call__(self, gram: Floats, n_queries: Floats, copies: Floats, fill: Floats) -> Floats:
        """Weights [batch, column, curve] from Gram matrices [batch, width, width].

        ``copies`` [batch, column] counts the experts that share a column, ``fill`` [batch] is the mean share of the
        ranks, down to the last of a list, that have an item.
        """
        ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Statistics:
    """Sums over the training queries, the only data stored of them; the experts in ``pooled`` share the last column."""

    own: tuple[str, ...]
    pooled: tuple[str, ...]
    seen: Ints  # [n_own + n_pooled] queries with a list of that expert
    n_queries: int
    gram: Floats  # [n_columns * n_curves + 1, the same]
    filled: Floats  # [2] shares of filled ranks, summed over the lists, and the number of lists

    @classmethod
    def empty(cls, n_curves: int, own: Sequence[str] = (), pooled: Sequence[str] = ()) -> Statistics:
        """Statistics of no queries, for these experts."""
        width = (len(own) + bool(pooled)) * n_curves + 1
        return cls(
            own=tuple(own),
            pooled=tuple(pooled),
            seen=np.zeros(len(own) + len(pooled), np.int64),
            n_queries=0,
            gram=np.zeros((width, width)),
            filled=np.zeros(2),
        )

    @property
    def n_columns(self) -> int:
        return len(self.own) + bool(self.pooled)

    def without_queries(self) -> Statistics:
        """Statistics of no queries for the same experts."""
        none = np.zeros_like(self.filled)
        return replace(self, seen=np.zeros_like(self.seen), n_queries=0, gram=np.zeros_like(self.gram), filled=none)

    def count_experts(self, seen: Ints) -> Floats:
        """How many experts share each column, [..., n_columns], given the queries of each expert."""
        present = (seen > 0).astype(np.float64)
        own = present[..., : len(self.own)]
        if not self.pooled:
            return own
        return np.concatenate([own, present[..., len(self.own) :].sum(axis=-1, keepdims=True)], axis=-1)

    def add(self, other: Statistics) -> Statistics:
        """The sum of both, expert by expert; an expert that is pooled in either is pooled in the sum."""
        pooled = dict.fromkeys((*self.pooled, *other.pooled))
        own = [name for name in dict.fromkeys((*self.own, *other.own)) if name not in pooled]
        total = Statistics.empty(self._n_curves or other._n_curves, own, tuple(pooled))
        for part in (self, other):
            np.add.at(total.seen, total._places(part.names), part.seen)
            at = total._rows(part)
            np.add.at(total.gram, np.ix_(at, at), part.gram)
        return replace(total, n_queries=self.n_queries + other.n_queries, filled=self.filled + other.filled)

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.own, *self.pooled)

    @property
    def _n_curves(self) -> int:
        return (len(self.gram) - 1) // self.n_columns if self.n_columns else 0

    def columns(self, experts: Sequence[str]) -> Ints:
        """The column of each expert; unknown experts have that of the pooled experts, or -1."""
        last = len(self.own) if self.pooled else -1
        column = {name: c for c, name in enumerate(self.own)}
        return np.array([column.get(name, last) for name in experts], np.int64)

    def _places(self, names: Sequence[str]) -> Ints:
        place = {name: n for n, name in enumerate(self.names)}
        return np.array([place[name] for name in names], np.int64)

    def _rows(self, part: Statistics) -> Ints:
        """Where the rows of another Gram matrix belong in ours."""
        columns = np.append(self.columns(part.own), [len(self.own)] * bool(part.pooled)).astype(np.int64)
        n_curves = part._n_curves
        return np.append((columns[:, None] * n_curves + np.arange(n_curves)).ravel(), len(self.gram) - 1)


@dataclass(frozen=True)
class Limits:
    """Limits of time and memory for fitting."""

    held_out_work: float = 1e10  # multiplications for held-out curves; beyond, queries are held out in groups
    fewest_parts: int = 10
    cached: int = 1 << 24  # numbers of Gram matrices that are stored for a second pass: 128 MB
    block_sizes: BlockSizes = BLOCK_SIZES


class QueryParts:
    """Labelled queries split into parts, each of which can be held out: Gram matrices, and the experts seen in each."""

    def __init__(
        self,
        queries: LabelledQueries,
        curves: Floats,
        layout: Statistics,
        limits: Limits | None = None,
        offsets: Ints | None = None,
    ) -> None:
        """``curves`` are the values of the curves at each entry, [n_entries, n_curves].

        ``layout`` says which of the queries' experts have columns of their own and which are pooled. ``offsets`` are
        those of the parts, if the queries are a batch of more.
        """
        r, limits = queries.rankings, limits or Limits()
        self.queries, self.curves, self.layout, self.limits = queries, curves, layout, limits
        self.column = layout.columns(r.experts)[r.list_expert]
        self.offsets = part_offsets(len(queries), len(layout.gram), limits) if offsets is None else offsets
        self.size = np.diff(self.offsets)
        self._cache: list[tuple[int, Floats]] | None = None
        self.seen = np.zeros((len(self.size), len(layout.names)), np.int64)
        query, expert = np.divmod(np.unique(r.list_query * len(r.experts) + r.list_expert), max(len(r.experts), 1))
        place = {name: n for n, name in enumerate(layout.names)}
        known = np.array([place.get(name, -1) for name in r.experts], np.int64)
        np.add.at(self.seen, (self._part_of(query), known[expert]), 1)
        self.filled = np.zeros((len(self.size), 2))
        np.add.at(self.filled, self._part_of(r.list_query), filled_ranks(r))

    def _part_of(self, query: Ints) -> Ints:
        part: Ints = parents(self.offsets)[query]
        return part

    def grams(self) -> Iterator[tuple[int, Floats]]:
        """Blocks of parts: the number of the first, and a Gram matrix each; stored for a second pass if few."""
        if self._cache is None:
            matrices = GramMatrices(
                self.queries, self.curves, self.column, self.layout.n_columns, self.limits.block_sizes
            )
            blocks = matrices.blocks(self.offsets)
            if len(self.size) * self.layout.gram.size > self.limits.cached:
                return blocks
            self._cache = list(blocks)
        return iter(self._cache)

    def total(self) -> Statistics:
        """The statistics of all parts together."""
        gram = np.zeros_like(self.layout.gram)
        for _, block in self.grams():
            gram = add_in_order(gram, block)
        filled = add_in_order(np.zeros(2), self.filled)
        return replace(self.layout, seen=self.seen.sum(axis=0), n_queries=len(self.queries), gram=gram, filled=filled)

    def held_out_scores(self, whole: Statistics, solver: Solver) -> Floats:
        """A score per slot from curves learned without the part that the slot's query is in."""
        r = self.queries.rankings
        weights = np.zeros((len(self.size), whole.n_columns, self.curves.shape[1]))
        for first, block in self.grams():
            here = slice(first, first + len(block))
            left, copies = whole.n_queries - self.size[here], whole.count_experts(whole.seen - self.seen[here])
            fill = mean_fill(whole.filled - self.filled[here])
            solved = solver(whole.gram - block, left.astype(np.float64), copies, fill)
            weights[here] = _fill_absent_experts(whole, solved, copies)
        by_list = weights[self._part_of(r.list_query), self.column]
        return sum_of_points(r, (self.curves * np.repeat(by_list, r.list_size, axis=0)).sum(axis=1))


def add_in_order(total: Floats, parts: Floats) -> Floats:
    """The total plus all parts, one after the other, so that the sum does not depend on how parts are grouped."""
    added: Floats = np.add.reduce(np.concatenate([total[None], parts]))
    return added


def solve_curves(whole: Statistics, solver: Solver) -> tuple[Floats, Floats]:
    """The curves of the experts with a column of their own, and that of all others."""
    copies = whole.count_experts(whole.seen)[None]
    weights = solver(whole.gram[None], np.array([float(whole.n_queries)]), copies, mean_fill(whole.filled[None]))
    own = _fill_absent_experts(whole, weights, copies)[0, : len(whole.own)]
    return own, _unknown_expert(whole, weights, copies)[0]


def filled_ranks(rankings: Rankings) -> Floats:
    """For each list, the share of the ranks down to its last that have an item, and 1, times the list's weight.

    It is 1 for a whole list or the head of one, and small for a list of the items that remain of a longer one.
    """
    r, some = rankings, rankings.list_size > 0
    share = np.zeros(r.n_lists)
    share[some] = np.minimum(r.list_size[some] / r.entry_rank[r.entry_ptr[1:][some] - 1], 1.0)
    return np.column_stack([share, some]) * r.list_weight[:, None]


def mean_fill(filled: Floats) -> Floats:
    """The mean share of filled ranks, [batch]; 1 without lists."""
    total = filled[:, 1]
    return np.where(total > 0, filled[:, 0] / np.where(total > 0, total, 1.0), 1.0)


def _fill_absent_experts(whole: Statistics, weights: Floats, copies: Floats) -> Floats:
    """The weights; an expert that is not in the data has the curve of an unknown expert."""
    return np.where((copies > 0)[:, :, None], weights, _unknown_expert(whole, weights, copies)[:, None, :])


def _unknown_expert(whole: Statistics, weights: Floats, copies: Floats) -> Floats:
    """The curve of an unknown expert, [batch, curve]: the pooled experts', or else the mean of those present."""
    present = (copies > 0)[:, :, None]
    mean = (weights * present).sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    mean = np.where(present.any(axis=1), mean, weights[:, 0])
    return np.where(present[:, -1], weights[:, -1], mean) if whole.pooled else mean


def part_offsets(n_queries: int, width: int, limits: Limits) -> Ints:
    """Where the parts of the labelled queries begin and end, given the width of a Gram matrix."""
    affordable = max(limits.fewest_parts, int(limits.held_out_work / width**3))
    n_parts = min(n_queries, affordable)
    return np.arange(n_parts + 1, dtype=np.int64) * n_queries // max(n_parts, 1)
