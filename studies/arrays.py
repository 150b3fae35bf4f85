"""Small helpers for the flat arrays of ``juryrank.Rankings``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import juryrank as jr

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def entry_list(r: jr.Rankings) -> Ints:
    """The list of each entry."""
    return np.repeat(np.arange(r.n_lists), r.list_size)


def slot_query(r: jr.Rankings) -> Ints:
    """The query of each slot."""
    return np.repeat(np.arange(len(r)), r.query_size)


def lists_by_score(r: jr.Rankings, experts: Sequence[str], scores: Floats) -> jr.Rankings:
    """The same items, ranked in every query by each expert's scores [n_slots, n_experts]; equal scores are ties."""
    slots, ranks = [], []
    for first, end in zip(r.slot_ptr[:-1], r.slot_ptr[1:], strict=True):
        for column in scores[first:end].T:
            order = np.argsort(-column, kind="stable")
            slots.append(first + order)
            ranks.append(np.searchsorted(-column[order], -column[order]) + 1.0)
    n = len(experts)
    entry_slot = np.concatenate(slots).astype(np.int32)
    entry_expert = np.repeat(np.tile(np.arange(n), len(r)), np.repeat(r.query_size, n))
    return replace(
        r,
        experts=tuple(experts),
        list_ptr=np.arange(len(r) + 1) * n,
        list_expert=np.tile(np.arange(n, dtype=np.int32), len(r)),
        list_weight=np.ones(n * len(r)),
        entry_ptr=np.concatenate([[0], np.cumsum(np.repeat(r.query_size, n))]),
        entry_slot=entry_slot,
        entry_rank=np.concatenate(ranks),
        entry_score=scores[entry_slot, entry_expert],
    )


def merge_lists(one: jr.Rankings, other: jr.Rankings) -> jr.Rankings:
    """The lists of both rankings, which have the same queries and slots and different experts."""
    order = np.argsort(np.concatenate([one.list_query, other.list_query]), kind="stable")
    starts = np.concatenate([one.entry_ptr[:-1], one.n_entries + other.entry_ptr[:-1]])[order]
    sizes = np.concatenate([one.list_size, other.list_size])[order]
    entries = np.concatenate([np.arange(start, start + size) for start, size in zip(starts, sizes, strict=True)])
    scored = one.entry_score is not None and other.entry_score is not None

    def both(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(one, name), getattr(other, name)])

    return replace(
        one,
        experts=(*one.experts, *other.experts),
        list_ptr=one.list_ptr + other.list_ptr,
        list_expert=np.concatenate([one.list_expert, other.list_expert + len(one.experts)])[order].astype(np.int32),
        list_weight=both("list_weight")[order],
        entry_ptr=np.concatenate([[0], np.cumsum(sizes)]),
        entry_slot=both("entry_slot")[entries],
        entry_rank=both("entry_rank")[entries],
        entry_score=both("entry_score")[entries] if scored else None,
    )


def ranks_by_expert(r: jr.Rankings) -> Floats:
    """The rank of each slot in each expert's list [n_slots, n_experts]; NaN if the expert does not rank it."""
    out = np.full((r.n_slots, len(r.experts)), np.nan)
    out[r.entry_slot, r.list_expert[entry_list(r)]] = r.entry_rank
    return out
