"""Groups of experts: some have individual weights; all others form one group that shares its weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.params import param

EXPERTS = {
    "individual": "separate weights for every expert; unknown experts get the mean",
    "shared": "one set of weights for all experts",
    "hybrid": "separate weights for experts with enough preferences, shared weights for all others",
}


def experts_param() -> Any:
    """The parameter ``experts``, with one meaning everywhere."""
    doc = "; ".join(f"{name}: {meaning}" for name, meaning in EXPERTS.items())
    return param("individual", doc, choices=tuple(EXPERTS))


def threshold_param() -> Any:
    """The parameter ``threshold``, with one meaning everywhere."""
    doc = "hybrid: minimum number of ordered pairs (see threshold_of) in labelled queries for separate weights"
    return param(500, doc, at_least=1)


def threshold_of_param() -> Any:
    """The parameter ``threshold_of``, with one meaning everywhere."""
    doc = "hybrid: what threshold counts, the pairs of items that an expert orders or the entries of its lists"
    return param("pairs", doc, choices=("pairs", "entries"))


@dataclass(frozen=True)
class ExpertGroups:
    """One column per name, and a last one for all others together."""

    names: tuple[str, ...]

    @classmethod
    def choose(cls, rankings: Rankings, experts: str, threshold: int, threshold_of: str = "pairs") -> ExpertGroups:
        """The groups for the parameters ``experts``, ``threshold`` and ``threshold_of`` on the labelled queries."""
        counts: dict[str, float] = {}
        if experts == "hybrid":
            counts = dict(zip(rankings.experts, preferences(rankings, threshold_of).tolist(), strict=True))
        return cls.of(experts_with_lists(rankings), counts, experts, threshold)

    @classmethod
    def of(cls, names: Sequence[str], counts: Mapping[str, float], experts: str, threshold: int) -> ExpertGroups:
        """As ``choose``, given the experts with lists and, for hybrid, the number of preferences of each."""
        if experts == "shared":
            return cls(())
        return cls(tuple(name for name in names if experts != "hybrid" or counts[name] >= threshold))

    @property
    def n_columns(self) -> int:
        return len(self.names) + 1

    def columns(self, rankings: Rankings) -> Ints:
        """The column of each list."""
        place = rankings.positions_in(self.names)
        return np.where(place < 0, len(self.names), place)[rankings.list_expert]


def experts_with_lists(rankings: Rankings) -> list[str]:
    """The names of the experts that have a list."""
    counts = np.bincount(rankings.list_expert, minlength=len(rankings.experts))
    return [name for name, count in zip(rankings.experts, counts, strict=True) if count]


def preferences(rankings: Rankings, threshold_of: str) -> Floats:
    """How many pairs each expert orders, or entries it has, over all its lists; lists count by their weights."""
    r = rankings
    if threshold_of == "pairs":
        return ordered_pairs(r)
    return np.bincount(r.list_expert, r.list_weight * r.list_size, minlength=len(r.experts)).astype(np.float64)


def ordered_pairs(rankings: Rankings) -> Floats:
    """How many pairs of items each expert orders, over all its lists; lists count by their weights."""
    r = rankings
    owner = parents(r.entry_ptr)
    new = np.ones(r.n_entries, bool)
    new[1:] = (owner[1:] != owner[:-1]) | (r.entry_rank[1:] != r.entry_rank[:-1])
    group = np.diff(np.append(np.flatnonzero(new), r.n_entries))
    tied = np.bincount(owner[new], group * (group - 1), minlength=r.n_lists)
    pairs = (r.list_size * (r.list_size - 1) - tied) / 2
    return np.bincount(r.list_expert, r.list_weight * pairs, minlength=len(r.experts)).astype(np.float64)
