"""A model as a table: what an item gains by standing at each rank in a list of each expert."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juryrank.data.arrays import Floats, freeze
from juryrank.data.names import natural_key
from juryrank.data.rankings import Rankings
from juryrank.errors import DataError, NotFittedError
from juryrank.kernels.positional import add_points
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.methods import Aggregator

DEPTH = 1000  # ranks of a table by default: as deep as TREC runs go
MOST_POINTS = 10_000_000  # experts × ranks (or items) of a table: some 200 MB of text


@dataclass(frozen=True, eq=False)
class PositionTable:
    """Points by expert and rank; deeper ranks count as the last one, other experts as ``other``."""

    method: str
    experts: tuple[str, ...]  # in the order in which a Dataset adds up their points
    points: Floats  # [n_experts, depth]
    other: Floats  # [depth]
    holds: str  # where the table is the model itself: "for lists of 100 items", say

    def __post_init__(self) -> None:
        freeze(self)

    @property
    def depth(self) -> int:
        return len(self.other)

    def scores(self, rankings: Rankings) -> Floats:
        """The score of each slot: the sum of the points of its entries."""
        r = rankings
        rank = np.minimum(r.entry_rank, self.depth).astype(np.int64) - 1
        row = np.repeat(r.positions_in(self.experts)[r.list_expert], r.list_size)
        points = np.vstack([self.points, self.other])[row, rank]  # -1, an unknown expert, is the last row
        out = np.zeros(r.n_slots)
        add_points(r.slot_ptr, r.list_ptr, r.entry_ptr, r.entry_slot, points, np.zeros(r.n_lists), r.list_weight, out)
        return out


def has_table(model: Aggregator) -> bool:
    """Whether the model is a sum over lists of points by position, for lists and queries of given sizes."""
    formula = model.formula()
    return formula is not None and bool(formula.depends_on)


def position_table(
    model: Aggregator, experts: Sequence[str] = (), depth: int | None = None, items: int | None = None
) -> PositionTable:
    """The table of a fitted model; ``experts`` names those wanted where the model itself knows none.

    Where points depend on the length of a list, ``depth`` is that length; where they depend on how many items a query
    has, ``items`` is that number. Points are less what a list gives to items that it leaves out, the same for all.
    """
    if not model.is_fitted:
        raise NotFittedError(f"{model.name} must be fitted before it is exported; call fit(data) first")
    formula = model.formula()
    if formula is None or not formula.depends_on:
        raise DataError(
            f"{model.name} with these parameters is not a sum of points by position and cannot be exported as a table; "
            "jury without scores, ridge and rrf can"
        )
    by = formula.depends_on
    _check_sizes(model.name, by, depth, items)
    length = depth or min(DEPTH, items or DEPTH)
    total = items if items is not None and "items" in by else length + 1
    names = tuple(sorted((model.expert_weights().keys() - {model.others_key}) | set(experts), key=natural_key))
    if (len(names) + 1) * total > MOST_POINTS:
        raise DataError(
            f"a table of {len(names)} experts × {total:,} ranks has over {MOST_POINTS:,} points: reduce depth"
        )
    points = _points_by_trial(model, (*names, _unknown_name(names)), length, total)
    return PositionTable(model.name, names, points[:-1], points[-1], _validity(by, length, items))


def _check_sizes(name: str, by: tuple[str, ...], depth: int | None, items: int | None) -> None:
    if "length" in by and depth is None:
        raise DataError(
            f"points of {name} depend on the length of a list: give depth, the number of items of every list"
        )
    if "items" in by and items is None:
        raise DataError(f"points of {name} depend on the number of items of a query: give items")
    if (items is not None and items < 1) or (depth is not None and depth < 1):
        raise DataError(f"depth and items must be 1 or more, got {depth} and {items}")
    if items is not None and depth is not None and items < depth:
        raise DataError(f"a list of {depth} items does not fit in a query of {items}")


def _unknown_name(names: Sequence[str]) -> str:
    """A name that is none of these."""
    return "\0" * (1 + max((len(name) for name in names if not name.strip("\0")), default=0))


def _points_by_trial(model: Aggregator, names: tuple[str, ...], length: int, items: int) -> Floats:
    """The scores that the model gives where each expert is alone in a query, less those of items it leaves out."""
    n = len(names)
    rankings = Rankings(
        queries=names,
        experts=names,
        items=np.array([str(i) for i in range(items)], dtype=object),
        slot_ptr=np.arange(n + 1) * items,
        slot_item=np.tile(np.arange(items, dtype=np.int32), n),
        list_ptr=np.arange(n + 1),
        list_expert=np.arange(n, dtype=np.int32),
        list_weight=np.ones(n),
        entry_ptr=sizes_to_ptr(np.full(n, length)),
        entry_slot=(np.arange(n)[:, None] * items + np.arange(length)).ravel().astype(np.int32),
        entry_rank=np.tile(np.arange(1.0, length + 1), n),
    )
    scores = model.predict(rankings, warn_unknown=False).scores.reshape(n, items)
    points: Floats = scores[:, :length] - (scores[:, length:][:, :1] if items > length else 0.0)
    return points


def _validity(by: tuple[str, ...], length: int, items: int | None) -> str:
    if by == ("rank",):
        return f"for whole ranks up to {length}"
    text = f"for lists of {length} items" if "length" in by else f"for lists of up to {length} items"
    return text + (f" in queries of {items}" if "items" in by else "") + ", ranked 1, 2, 3, … without ties"
