"""The order with the largest sum of margins: groups by majority, a local search, and a proof for small groups.

Items of a group beat or tie all items of later groups, so some optimal order respects the groups. Within a group every
order contradicts some margins. A lower bound on their sum is a packing of cycles of majorities: every order contradicts
one margin of each cycle, and cycles that together use no margin more than once can be added up. Where the cycles of an
order add up to all that it contradicts, the order is optimal, and no linear program is needed.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairwise import ROUNDING, insertion_search, margins, sort_by_strength
from juryrank.kernels.subset_order import subset_order

SUBSETS_UP_TO = 15  # items; beyond, a table of all subsets takes longer than other ways
CYCLES_UP_TO = 60  # items; the number of pairs and ways between them grows with the fourth power
TRIES = 100  # random changes of an order that is not proven to be optimal
MOVES = 5  # of single items, in such a change
PACKINGS = 30  # attempts at a packing of cycles
PROVEN, HEURISTIC, OPEN = 0, 1, 2  # an optimal order; one of a group too large for a proof; one that may be optimal


@kernel
def strong_components(margin, label):
    """Number the groups of items that beat each other in a cycle, by Tarjan's algorithm; returns how many there are."""
    n = len(margin)
    number, low, waiting = np.full(n, -1), np.empty(n, np.int64), np.full(n, n - 1)  # waiting: the next item to look at
    path, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    label[:] = -1
    seen, n_groups, height = 0, 0, 0
    for root in range(n):
        depth = 0
        if number[root] < 0:
            path[0], depth = root, 1
        while depth > 0:
            v = path[depth - 1]
            if number[v] < 0:
                number[v], low[v], stack[height] = seen, seen, v
                seen += 1
                height += 1
            w = waiting[v]
            while w >= 0 and not margin[v, w] > 0:
                w -= 1
            waiting[v] = w - 1
            if w >= 0 and number[w] < 0:
                path[depth] = w
                depth += 1
            elif w >= 0:
                if label[w] < 0:
                    low[v] = min(low[v], number[w])
            else:
                depth -= 1
                if depth > 0:
                    low[path[depth - 1]] = min(low[path[depth - 1]], low[v])
                if low[v] == number[v]:
                    while label[v] < 0:
                        height -= 1
                        label[stack[height]] = n_groups
                    n_groups += 1
    return n_groups


@kernel
def majority_groups(margin, noise, order, ptr):
    """Fill ``order`` with the items in groups, best first, and ``ptr`` with where groups begin; returns their number.

    Each group follows all that beat one of its items. Among the groups that may come next the strongest does, or, if
    no two items beat each other in a cycle, the first item.
    """
    n = len(margin)
    label, size = np.empty(n, np.int64), np.zeros(n, np.int64)
    n_groups = strong_components(margin, label)
    above, strength, largest = np.zeros((n_groups, n_groups), np.uint8), np.zeros(n_groups), 0.0
    for i in range(n):
        total, absolute = 0.0, 0.0
        for j in range(n):
            total += margin[i, j]
            absolute += abs(margin[i, j])
            if margin[i, j] > 0:
                above[label[i], label[j]] = 1
        above[label[i], label[i]] = 0
        size[label[i]] += 1
        strength[label[i]] += total
        largest = max(largest, absolute)
    turn, blocked = np.empty(n_groups, np.int64), np.zeros(n_groups, np.int64)
    if n_groups == n:
        for i in range(n):
            turn[label[i]] = i
    else:
        for g in range(n_groups):
            strength[g] /= size[g]
        turn[sort_by_strength(strength, n * (noise + ROUNDING * largest))] = np.arange(n_groups)
    for g in range(n_groups):
        for h in range(n_groups):
            blocked[h] += above[g, h]
    ptr[0] = 0
    start = np.empty(n_groups, np.int64)
    for place in range(n_groups):
        best = -1
        for g in range(n_groups):
            if blocked[g] == 0 and (best < 0 or turn[g] < turn[best]):
                best = g
        start[best] = ptr[place]
        ptr[place + 1] = ptr[place] + size[best]
        blocked[best] = -1
        for h in range(n_groups):
            blocked[h] -= above[best, h]
    for i in range(n):
        order[start[label[i]]] = i
        start[label[i]] += 1
    return n_groups


@kernel
def search_group(margin, noise, items):
    """Sort the items of a group by Borda, and search from there; their margins, and the order that was found."""
    n = len(items)
    strength, largest = np.zeros(n), 0.0
    for a in range(n):
        absolute = 0.0
        for b in range(n):
            strength[a] += margin[items[a], items[b]]
            absolute += abs(margin[items[a], items[b]])
        largest = max(largest, absolute)
    items[:] = items[sort_by_strength(strength, n * (noise + ROUNDING * largest))]
    inner, found = np.empty((n, n)), np.arange(n)  # in Borda order, so that neighbours are near in memory
    for a in range(n):
        for b in range(n):
            inner[a, b] = margin[items[a], items[b]]
    insertion_search(inner, found, noise)
    return inner, found


@kernel
def round_to_units(margin, noise):
    """Margins as whole numbers, and the least difference of two sums, 1; or as they are, and 0.

    Whole numbers where all margins are multiples of one number, up to noise, so that sums are exact.
    """
    n = len(margin)
    unit, largest = np.inf, 0.0
    for i in range(n):
        for j in range(n):
            if margin[i, j] > 0:
                unit, largest = min(unit, margin[i, j]), max(largest, margin[i, j])
    for _ in range(n * n + 64):  # Euclid's algorithm, on all values at a time
        least = np.inf
        for i in range(n):
            for j in range(n):
                if margin[i, j] > 0:
                    rest = np.fmod(margin[i, j], unit)
                    rest = min(rest, unit - rest)
                    if rest > 64 * noise:
                        least = min(least, rest)
        if least == np.inf:
            break
        unit = least
    unit = largest / np.rint(largest / unit)
    whole, error, total = np.empty((n, n)), 0.0, 0.0
    for i in range(n):
        for j in range(n):
            whole[i, j] = np.rint(margin[i, j] / unit)
            error = max(error, abs(margin[i, j] - unit * whole[i, j]))
            total += abs(whole[i, j])
    if error <= noise + ROUNDING * largest and unit > 64 * noise and total * n * ROUNDING < 0.1:
        return whole, 1.0
    return margin, 0.0


@kernel
def prove_by_cycles(margin, order, enough):
    """Whether cycles of majorities prove that no order is better than this one by more than ``enough``.

    A cycle is a margin that the order contradicts and a way back through margins that it respects. The cycles of a
    margin take what they can get; margins that get too little go first in the next attempt.
    """
    n = len(order)
    first, second = np.empty(n * n, np.int64), np.empty(n * n, np.int64)
    count = 0
    for span in range(1, n):
        for i in range(n - span):
            if margin[order[i], order[i + span]] < 0:
                first[count], second[count] = i, i + span
                count += 1
    left, failed, later = np.empty((n, n)), np.empty(count, np.bool_), np.empty((2, count), np.int64)
    for _ in range(PACKINGS):
        for i in range(n):
            for j in range(i + 1, n):
                left[i, j] = max(margin[order[i], order[j]], 0.0)
        short = 0.0
        for t in range(count):
            i, j = first[t], second[t]
            need = -margin[order[i], order[j]]
            while need > 0:  # through one item between the two, the widest way first
                widest, at = 0.0, -1
                for k in range(i + 1, j):
                    width = min(left[i, k], left[k, j])
                    if width > widest:
                        widest, at = width, k
                if at < 0:
                    break
                used = min(widest, need)
                need -= used
                left[i, at] -= used
                left[at, j] -= used
            for k in range(i + 1, j - 1):  # through two items
                if need > 0 and left[i, k] > 0:
                    for l in range(k + 1, j):
                        used = min(min(left[i, k], left[k, l]), min(left[l, j], need))
                        need -= used
                        left[i, k] -= used
                        left[k, l] -= used
                        left[l, j] -= used
            failed[t] = need > 0
            short += need
        if short <= enough:
            return True
        front, back = 0, 0
        for t in range(count):
            if failed[t]:
                first[front], second[front] = first[t], second[t]
                front += 1
            else:
                later[0, back], later[1, back] = first[t], second[t]
                back += 1
        for t in range(back):
            first[front + t], second[front + t] = later[0, t], later[1, t]
    return False


@kernel
def agreement(margin, order):
    """The sum of the margins of all items over those after them."""
    total = 0.0
    for i in range(len(order)):
        for j in range(i + 1, len(order)):
            total += margin[order[i], order[j]]
    return total


@kernel
def improve_and_prove(inner, order, noise):
    """Replace ``order`` by a better one where there is one; whether it is proven that no order is better.

    Up to SUBSETS_UP_TO items by a table of all subsets, beyond by a search from random changes of the best order.
    """
    n = len(order)
    margin, step = round_to_units(inner, noise)
    slack = 2.0 * n * ROUNDING * np.abs(margin).sum()
    enough = max(slack, step - slack)
    if prove_by_cycles(margin, order, enough):
        return True
    best, new = agreement(margin, order), order.copy()
    if n <= SUBSETS_UP_TO:
        subset_order(margin, new)
        if agreement(margin, new) > best + 2.0 * slack:
            order[:] = new
        return True
    drawn = 1
    for _ in range(TRIES):
        new[:] = order
        for _ in range(MOVES):
            drawn = drawn * 48271 % 2147483647
            at, to = drawn // 65536 % n, drawn % n
            item, way = new[at], 1 if to > at else -1
            for k in range(at, to, way):
                new[k] = new[k + way]
            new[to] = item
        insertion_search(margin, new, 0.0)
        value = agreement(margin, new)
        if value > best + 2.0 * slack:
            order[:], best = new, value
            if prove_by_cycles(margin, order, enough):
                return True
    return False


@kernel
def best_groups(margin, noises, limit, order, ptr, state):
    """The best order known, in groups, and the state of each group; returns the number of groups.

    ``noises`` are the rounding errors of the margins by item. Groups of more than ``limit`` items get no proof.
    """
    n_groups = majority_groups(margin, noises.max() if len(noises) else 0.0, order, ptr)
    for g in range(n_groups):
        items = order[ptr[g] : ptr[g + 1]]
        state[g] = PROVEN
        if len(items) > 1:
            noise = 0.0
            for i in items:
                noise = max(noise, noises[i])
            inner, found = search_group(margin, noise, items)
            state[g] = HEURISTIC
            if len(items) <= limit:
                state[g] = OPEN
                if len(items) <= CYCLES_UP_TO and improve_and_prove(inner, found, noise):
                    state[g] = PROVEN
            items[:] = items[found]
    return n_groups


@over_queries
def kemeny_orders(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, limit, state, out
):  # fmt: skip
    """The number of items below each slot in the best order known; ``state`` of a query is the worst of its groups."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        margin, order, ptr, states = (
            np.empty((n, n)),
            np.empty(n, np.int64),
            np.empty(n + 1, np.int64),
            np.zeros(n, np.int64),
        )
        noises = margins(q, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last, margin)
        n_groups = best_groups(margin, noises, limit, order, ptr, states)
        state[q] = PROVEN
        for g in range(n_groups):
            state[q] = max(state[q], states[g])
        for t in range(n):
            out[lo + order[t]] = n - 1 - t
