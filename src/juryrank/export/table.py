"""A model as a table: what an item gains by standing at each rank in a list of each expert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juryrank.data.rankings import Floats, Rankings, freeze
from juryrank.errors import DataError, NotFittedError
from juryrank.kernels.positional import add_points
from juryrank.methods import Aggregator
from juryrank.methods.curves import Curves
from juryrank.methods.positional import Positional

DEPTH = 1000  # ranks of a table unless told otherwise: as deep as TREC runs go


@dataclass(frozen=True, eq=False)
class PositionTable:
    """Points by expert and rank; deeper ranks count as the last one, other experts as ``other``."""

    method: str
    experts: tuple[str, ...]
    points: Floats  # [n_experts, depth]
    other: Floats  # [depth]

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def depth(self) -> int:
        return len(self.other)

    def scores(self, rankings: Rankings) -> Floats:
        """The score of each slot: the sum of the points of its entries."""
        r = rankings
        rank = np.minimum(r.entry_rank, self.depth).astype(np.int64) - 1
        row = np.repeat(r.places_in(self.experts)[r.list_expert], r.list_size)
        points = np.vstack([self.points, self.other])[row, rank]  # -1, a stranger, is the last row
        out = np.zeros(r.n_slots)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, points, np.zeros(r.n_lists), r.list_weight, out)
        return out


def has_table(model: Aggregator) -> bool:
    """Whether the model is a sum over lists of points by rank."""
    if isinstance(model, Curves):
        return True
    return isinstance(model, Positional) and model.additive and model.missing == "ignore" and model.plain


def position_table(model: Aggregator, experts: Sequence[str] = (), depth: int = DEPTH) -> PositionTable:
    """The table of a fitted model; ``experts`` names those wanted where the model itself knows none."""
    if not getattr(model, "_fitted", False):
        raise NotFittedError(f"{model.name} must be fitted before it is exported; call fit(data) first")
    if not has_table(model):
        raise DataError(
            f"{model.name} with these parameters is not a sum of points by rank, so no table can stand for it; "
            "jury, ridge, rrf, dowdall and rbc are"
        )
    rank = np.arange(1.0, depth + 1)
    if isinstance(model, Curves):
        names = tuple(sorted({*model.own_, *experts}))
        points = np.array([model.points(name, rank) for name in names]).reshape(len(names), depth)
        return PositionTable(model.name, names, points, model.points("", rank))
    assert isinstance(model, Positional)
    weights = model.weights or {}
    names = tuple(sorted({*weights, *experts}))
    curve = model.points(rank)
    points = np.array([float(weights.get(name, 1.0)) * curve for name in names]).reshape(len(names), depth)
    return PositionTable(model.name, names, points, curve)
