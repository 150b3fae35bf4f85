"""Singular vectors of each expert's preference matrix as features of items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juryrank.data import Dataset, Rankings
from juryrank.data.rankings import Floats, Ints
from juryrank.errors import warn_not_converged
from juryrank.kernels.ragged import sizes_to_ptr
from juryrank.kernels.svd import singular_vectors
from juryrank.training.panel import Panel
from juryrank.training.rows import Rows
from juryrank.training.wins import FORMS

TOL, MAX_ITER = 1e-8, 1000


def svd(data: Dataset, experts: Sequence[str], form: str = "log-rank", rank: int = 1) -> Floats:
    """Columns [U, V] per expert: the item's rows of the first ``rank`` singular vectors; 0 where it is not ranked."""
    panel = Panel(tuple(experts))
    return Rows.of_entries(data.rankings, panel, svd_values(data.rankings, panel, form, rank)[:, 1:]).of_names()


def svd_values(rankings: Rankings, panel: Panel, form: str, rank: int) -> Floats:
    """Per entry [1, U, V] of the matrix of its column: the lists of a column are one matrix, their weighted sum.

    NaN where an item stands in several lists of a column, all but once. Singular values are the same for all items
    of a query and are left out. Vectors of the first singular value are non-negative; of any other, the sign makes
    the larger of the two vectors' sums positive, the left one where they are the same.
    """
    r = rankings
    pool_ptr, member_ptr, member = pools(r, panel)
    out = np.full((r.n_entries, 1 + 2 * rank), np.nan)
    steps = np.zeros(len(member_ptr) - 1, np.int64)
    singular_vectors(
        pool_ptr, r.slot_ptr, member_ptr, member, r.entry_ptr, r.entry_slot, r.entry_rank, r.list_weight, FORMS[form],
        TOL, MAX_ITER, steps, out[:, 1:],
    )  # fmt: skip
    out[:, 0] = np.where(np.isnan(out[:, 1]), np.nan, 1.0)
    if failed := int((steps < 0).sum()):
        what = f"{failed} of {len(steps)} preference matrices"
        warn_not_converged("svd", what, MAX_ITER, "their last singular vectors are used")
    return out


def pools(rankings: Rankings, panel: Panel) -> tuple[Ints, Ints, Ints]:
    """The lists that share a query and a column: pools of each query, lists of each pool, and these lists."""
    key = rankings.list_query * panel.n_columns + panel.columns(rankings)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    member_ptr = np.append(starts, len(order)).astype(np.int64)
    query = rankings.list_query[order[starts]]
    return sizes_to_ptr(np.bincount(query, minlength=len(rankings))), member_ptr, order
