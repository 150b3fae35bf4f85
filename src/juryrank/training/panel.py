"""Panel: which experts are heard under their own name; all others are heard together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from juryrank.data import Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.kernels.ragged import parents
from juryrank.params import param

EXPERTS = {
    "individual": "every expert has weights of its own, strangers have their mean",
    "shared": "all experts have the same weights, so it does not matter who they are",
    "hybrid": "experts with enough preferences have weights of their own, all others share theirs",
}


def experts_param() -> Any:
    """The parameter ``experts``, with one meaning everywhere."""
    told = "; ".join(f"{name}: {meaning}" for name, meaning in EXPERTS.items())
    return param("individual", told, choices=tuple(EXPERTS))


def threshold_param() -> Any:
    """The parameter ``threshold``, with one meaning everywhere."""
    return param(500, "hybrid: ordered pairs in labelled queries that earn an expert weights of its own", at_least=1)


@dataclass(frozen=True)
class Panel:
    """One column per name, and a last one for all others together."""

    names: tuple[str, ...]

    @classmethod
    def choose(cls, rankings: Rankings, experts: str, threshold: int) -> Panel:
        """The panel that the parameters ``experts`` and ``threshold`` mean on the labelled queries."""
        alone = heard(rankings) & (experts != "shared")
        if experts == "hybrid":
            alone &= preferences(rankings) >= threshold
        return cls(tuple(name for name, chosen in zip(rankings.experts, alone, strict=True) if chosen))

    @property
    def n_columns(self) -> int:
        return len(self.names) + 1

    def columns(self, rankings: Rankings) -> Ints:
        """The column of each list."""
        place = rankings.places_in(self.names)
        return np.where(place < 0, len(self.names), place)[rankings.list_expert]


def heard(rankings: Rankings) -> NDArray[np.bool_]:
    """Which experts have a list."""
    return np.bincount(rankings.list_expert, minlength=len(rankings.experts)) > 0


def preferences(rankings: Rankings) -> Floats:
    """How many pairs of items each expert puts in an order, over all its lists; weights count lists."""
    r = rankings
    owner = parents(r.entry_ptr)
    new = np.ones(r.n_entries, bool)
    new[1:] = (owner[1:] != owner[:-1]) | (r.entry_rank[1:] != r.entry_rank[:-1])
    group = np.diff(np.append(np.flatnonzero(new), r.n_entries))
    tied = np.bincount(owner[new], group * (group - 1), minlength=r.n_lists)
    pairs = (r.list_size * (r.list_size - 1) - tied) / 2
    return np.bincount(r.list_expert, r.list_weight * pairs, minlength=len(r.experts)).astype(np.float64)
