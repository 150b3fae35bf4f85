"""Panel: which experts are heard under their own name; all others are heard together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.rankings import Ints
from juryrank.params import param

EXPERTS = {
    "individual": "every expert of the training data has its own weights, strangers have their mean",
    "shared": "all experts have the same weights, so it does not matter who they are",
    "hybrid": "experts with enough entries in the training data have their own weights, all others share theirs",
}


def experts_param() -> Any:
    """The parameter ``experts``, with one meaning everywhere."""
    told = "; ".join(f"{name}: {meaning}" for name, meaning in EXPERTS.items())
    return param("individual", told, choices=tuple(EXPERTS))


def threshold_param() -> Any:
    """The parameter ``threshold``, with one meaning everywhere."""
    return param(500, "hybrid: entries in the training data that give an expert its own weights", at_least=1)


@dataclass(frozen=True)
class Panel:
    """One column per name, and a last one for all others together."""

    names: tuple[str, ...]

    @classmethod
    def choose(cls, rankings: Rankings, experts: str, threshold: int) -> Panel:
        """The panel that the parameters ``experts`` and ``threshold`` mean on the training data."""
        enough = {"individual": 1, "hybrid": threshold}.get(experts)
        said = entries_of_experts(rankings)
        return cls(tuple(e for e, n in zip(rankings.experts, said, strict=True) if enough is not None and n >= enough))

    @property
    def n_columns(self) -> int:
        return len(self.names) + 1

    def columns(self, rankings: Rankings) -> Ints:
        """The column of each list."""
        place = rankings.places_in(self.names)
        return np.where(place < 0, len(self.names), place)[rankings.list_expert]


def entries_of_experts(rankings: Rankings) -> Ints:
    """How many entries each expert has."""
    return np.bincount(rankings.list_expert, rankings.list_size, minlength=len(rankings.experts)).astype(np.int64)
