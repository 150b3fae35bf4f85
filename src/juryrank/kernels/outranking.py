"""Outranking relations and the classes that follow from them.

If missing counts as last, a list that ranks i and not j has i ahead by a lead that depends on i alone. Summed over the
lists of i these leads are one number per item, less those of the lists with both items: the time grows with the squares
of the lengths of the lists and of the number of items, as that of ``pairwise``.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairwise import TIE, index_of_slots, residue

TILE = 64  # rows and columns of a block of bytes that stays in the nearest cache


@kernel
def lead_over_rest(begin, end, lo, n, entry_ptr, entry_slot, entry_place, list_weight, lead, far):
    """The weight of each entry's list if it is ahead of all items that the list leaves out by ``lead``, and by ``far``.

    First by entry, then the sums by slot. The items left out share the places below the list.
    """
    start = entry_ptr[begin]
    clear, wide = np.zeros(entry_ptr[end] - start), np.zeros(entry_ptr[end] - start)
    in_favour, against = np.zeros(n), np.zeros(n)
    for m in range(begin, end):
        size = entry_ptr[m + 1] - entry_ptr[m]
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            ahead = size + 0.5 * (n - size + 1) - entry_place[e]
            if size < n and ahead >= lead:
                clear[e - start] = list_weight[m]
                in_favour[entry_slot[e] - lo] += list_weight[m]
            if size < n and ahead >= far:
                wide[e - start] = list_weight[m]
                against[entry_slot[e] - lo] += list_weight[m]
    return clear, wide, in_favour, against


@kernel
def outranks(
    begin, end, lo, index, entry_ptr, entry_slot, entry_place, list_weight,
    last, preference, veto, concordance, discordance, out,
):  # fmt: skip
    """out[i, j] = 1 if i outranks j, else 0, for the slots of one query numbered from 0.

    A threshold that is missed only by rounding counts as met.
    """
    n = len(out)
    lead, far, rest = preference * n * (1.0 - TIE), veto * n * (1.0 - TIE), residue(end - begin)
    ptr, lists, entries, _ = index
    start = entry_ptr[begin]
    # Without ``last`` no lead is large enough to count over items that are left out.
    clear, wide, over_rest, under_rest = lead_over_rest(
        begin, end, lo, n, entry_ptr, entry_slot, entry_place, list_weight,
        lead if last else np.inf, far if last else np.inf,
    )  # fmt: skip
    everything = 0.0
    for m in range(begin, end):
        everything += list_weight[m]
    in_favour, against, total = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        for j in range(n):
            in_favour[j], against[j], total[j] = over_rest[i], under_rest[j], everything if last else 0.0
        for t in range(ptr[i], ptr[i + 1]):
            m, at = lists[t], entries[t]
            weight, place, counted = list_weight[m], entry_place[at], clear[at - start]
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                j = entry_slot[e] - lo
                ahead = entry_place[e] - place
                in_favour[j] += (weight if ahead > 0 and ahead >= lead else 0.0) - counted
                against[j] += (weight if -ahead >= far else 0.0) - wide[e - start]
                if not last:
                    total[j] += weight
        for j in range(n):
            enough, few = (concordance - rest) * total[j], (discordance + rest) * total[j]
            out[i, j] = total[j] > 0 and in_favour[j] >= enough and against[j] <= few
        out[i, i] = 0


@kernel
def subtract_transposed(relation):
    """relation[i, j] -= relation[j, i], for all pairs at once."""
    n = len(relation)
    for top in range(0, n, TILE):
        for left in range(top, n, TILE):
            for i in range(top, min(top + TILE, n)):
                for j in range(max(left, i), min(left + TILE, n)):
                    relation[i, j] -= relation[j, i]
                    relation[j, i] = -relation[i, j]


@kernel
def extract_classes(net, out):
    """out = minus the class of each item, 0 is best: the remaining items that outrank most and are outranked least.

    ``net[i, j]`` is 1 if i outranks j and not j i, -1 if it is the other way round, else 0.
    """
    n = len(out)
    merit, taken, found = np.zeros(n), np.zeros(n, np.bool_), np.empty(n, np.int64)
    for i in range(n):
        for j in range(n):
            merit[i] += net[i, j]
    remaining, place = n, 0
    while remaining > 0:
        best = -np.inf
        for i in range(n):
            if not taken[i]:
                best = max(best, merit[i])
        count = 0
        for i in range(n):
            if not taken[i] and merit[i] == best:
                out[i], taken[i], found[count] = -place, True, i
                count += 1
        for i in found[:count]:
            for j in range(n):
                merit[j] += net[i, j]
        remaining -= count
        place += 1


@over_queries
def outranking_classes(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_place, list_weight,
    last, preference, veto, concordance, discordance, out,
):  # fmt: skip
    """Minus the outranking class of each slot."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        index = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
        relation = np.empty((n, n), np.int8)
        outranks(
            list_ptr[q], list_ptr[q + 1], lo, index, entry_ptr, entry_slot, entry_place, list_weight,
            last, preference, veto, concordance, discordance, relation,
        )  # fmt: skip
        subtract_transposed(relation)
        extract_classes(relation, out[lo : lo + n])
