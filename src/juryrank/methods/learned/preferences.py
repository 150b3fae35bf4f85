"""Preferences of each expert between items, as features: wins and losses, and singular vectors of their matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from juryrank.data import Rankings
from juryrank.data.arrays import Floats, Ints
from juryrank.errors import warn_not_converged
from juryrank.kernels.preferences import BINARY, LOG_RANK, RANK, wins_and_losses
from juryrank.kernels.ragged import parents, sizes_to_ptr
from juryrank.kernels.svd import singular_vectors
from juryrank.learning.expert_groups import ExpertGroups
from juryrank.params import param

FORMS = {"binary": BINARY, "rank": RANK, "log-rank": LOG_RANK}
TOL, MAX_ITER = 1e-8, 1000


def form_param() -> Any:
    """The parameter ``form``, with one meaning everywhere."""
    doc = "the size of a preference: 1, the difference of ranks, or that of their logarithms (over the list's largest)"
    return param("log-rank", doc, choices=tuple(FORMS))


def win_values(rankings: Rankings, form: str, *, mean: bool = False) -> Floats:
    """Per entry [1, W, L], times the weight of its list; ``mean`` divides W and L by the other items of the query."""
    r = rankings
    out = np.ones((r.n_entries, 3))
    wins_and_losses(r.list_ptr, r.entry_ptr, r.entry_rank, FORMS[form], out[:, 1:])
    weight = r.list_weight
    out *= np.repeat(weight, r.list_size)[:, None]
    if mean:
        others = np.maximum(r.query_size - 1, 1)[r.list_query]
        out[:, 1:] /= np.repeat(others, r.list_size)[:, None]
    return out


def svd_values(rankings: Rankings, groups: ExpertGroups, form: str, rank: int) -> Floats:
    """Per entry [1, U, V] of its column's preference matrix, the weighted sum of those of the column's lists.

    An item in several lists of a column has values in one entry and NaN in the others. Singular values are the same
    for all items that a list ranks and are left out (see ``singular_values``). Vectors of the first singular value are
    non-negative; of any other, the sign makes the larger of the two vectors' sums positive, the left one where they are
    the same.
    """
    r = rankings
    pool_ptr, member_ptr, member = pooled_lists(r, groups)
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


def singular_values(rankings: Rankings, groups: ExpertGroups, form: str, vectors: Floats) -> Floats:
    """Per entry the singular values of its column's matrix Y, given [U, V] of ``svd_values``: the products uᵀ Y v."""
    r, rank = rankings, vectors.shape[1] // 2
    _, member_ptr, member = pooled_lists(r, groups)
    pool = np.empty(r.n_lists, np.int64)
    pool[member] = parents(member_ptr)
    owner = parents(r.entry_ptr)
    item = pool[owner] * r.n_slots + r.entry_slot
    known = np.flatnonzero(~np.isnan(vectors[:, 0]))
    known = known[np.argsort(item[known])]
    u, v = np.hsplit(vectors[known[np.searchsorted(item[known], item)]], 2)
    first = r.entry_ptr[owner]
    new = np.append(True, (owner[1:] != owner[:-1]) | (r.entry_rank[1:] != r.entry_rank[:-1]))[: r.n_entries]
    tied = np.maximum.accumulate(np.where(new, np.arange(r.n_entries), 0))

    def above(values: Floats) -> Floats:
        """The sums over the items of a list above each."""
        sums = np.vstack([np.zeros(rank), np.cumsum(values, axis=0)])
        differences: Floats = sums[tied] - sums[first]
        return differences

    if form == "binary":
        products = above(u)
    else:
        largest = r.entry_rank[r.entry_ptr[owner + 1] - 1]
        log = np.log(r.entry_rank) / np.where(largest > 1, np.log(largest), 1.0)
        scale = (r.entry_rank / largest if form == "rank" else log)[:, None]
        products = scale * above(u) - above(scale * u)
    terms = r.list_weight[owner, None] * v * products
    totals = np.stack([np.bincount(pool[owner], of, len(member_ptr) - 1) for of in terms.T], axis=1)
    values: Floats = totals[pool[owner]]
    return values


def pooled_lists(rankings: Rankings, groups: ExpertGroups) -> tuple[Ints, Ints, Ints]:
    """The lists that share a query and a column: pools of each query, lists of each pool, and these lists."""
    key = rankings.list_query * groups.n_columns + groups.columns(rankings)
    order = np.argsort(key, kind="stable")
    starts = np.flatnonzero(np.diff(key[order], prepend=-1))
    member_ptr = np.append(starts, len(order)).astype(np.int64)
    query = rankings.list_query[order[starts]]
    return sizes_to_ptr(np.bincount(query, minlength=len(rankings))), member_ptr, order
