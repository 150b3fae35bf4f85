"""Outranking relations and the classes that follow from them."""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairwise import TIE, residue


@kernel
def outranks(place, weight, preference, veto, concordance, discordance, out):
    """out[i, j] = whether i outranks j, from the places [lists, items] of one query; NaN for items without a place.

    A threshold that is missed only by rounding counts as met.
    """
    n_lists, n = place.shape
    lead, far = preference * n * (1.0 - TIE), veto * n * (1.0 - TIE)
    rest = residue(n_lists)
    for i in range(n):
        for j in range(n):
            in_favour, against, total = 0.0, 0.0, 0.0
            for m in range(n_lists):
                ahead = place[m, j] - place[m, i]
                if np.isnan(ahead):
                    continue
                total += weight[m]
                if ahead > 0 and ahead >= lead:
                    in_favour += weight[m]
                elif -ahead >= far:
                    against += weight[m]
            enough, few = (concordance - rest) * total, (discordance + rest) * total
            out[i, j] = total > 0 and in_favour >= enough and against <= few
        out[i, i] = False


@kernel
def extract_classes(relation, out):
    """out = minus the class of each item, 0 is best: the remaining items that outrank most and are outranked least."""
    n = len(out)
    merit = np.zeros(n)
    for i in range(n):
        for j in range(n):
            merit[i] += relation[i, j] * 1.0 - relation[j, i] * 1.0
    left = np.ones(n, np.bool_)
    remaining = n
    place = 0
    while remaining > 0:
        best = -np.inf
        for i in range(n):
            if left[i]:
                best = max(best, merit[i])
        taken = np.flatnonzero(left & (merit == best))
        for i in taken:
            out[i] = -place
            left[i] = False
            for j in range(n):
                merit[j] -= relation[j, i] * 1.0 - relation[i, j] * 1.0
        remaining -= len(taken)
        place += 1


@over_queries
def outranking_classes(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_place, list_weight,
    last, preference, veto, concordance, discordance, out,
):  # fmt: skip
    """Minus the outranking class of each slot."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        place = np.full((list_ptr[q + 1] - list_ptr[q], n), np.nan)
        for m in range(list_ptr[q], list_ptr[q + 1]):
            begin, stop = entry_ptr[m], entry_ptr[m + 1]
            if last:
                place[m - list_ptr[q], :] = stop - begin + 0.5 * (n - (stop - begin) + 1)
            for e in range(begin, stop):
                place[m - list_ptr[q], entry_slot[e] - lo] = entry_place[e]
        relation = np.zeros((n, n), np.bool_)
        weight = list_weight[list_ptr[q] : list_ptr[q + 1]]
        outranks(place, weight, preference, veto, concordance, discordance, relation)
        extract_classes(relation, out[lo : lo + n])
