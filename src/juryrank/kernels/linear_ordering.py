"""The order with the largest sum of margins: groups by majority, a search within a group, and a proof.

Items of a group beat or tie all items of later groups, so some optimal order respects the groups. Within a group every
order contradicts some margins. A lower bound on their sum is a packing of cycles of majorities: every order contradicts
one margin of each cycle, and cycles that together use no margin more than once can be added up. Where the cycles of an
order add up to all that it contradicts, the order is optimal, and no linear program is needed.
"""

import numpy as np

from juryrank.kernels.jit import kernel
from juryrank.kernels.pairwise import ROUNDING, insertion_search

MOVES = 5  # of single items, in a random change of an order
PACKINGS = 30  # attempts at a packing of cycles


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
def order_groups(margin, label, turn, order, ptr):
    """Fill ``order`` with the items in groups, best first, and ``ptr`` with where groups begin.

    Each group follows all that beat one of its items; of the groups that may come next, the first by ``turn`` does.
    """
    n, n_groups = len(margin), len(turn)
    above, size, blocked = np.zeros((n_groups, n_groups), np.uint8), np.zeros(n_groups), np.zeros(n_groups)
    for i in range(n):
        size[label[i]] += 1
        for j in range(n):
            if margin[i, j] > 0:
                above[label[i], label[j]] = 1
        above[label[i], label[i]] = 0
    for g in range(n_groups):
        for h in range(n_groups):
            blocked[h] += above[g, h]
    start, begin = np.empty(n_groups, np.int64), 0
    for place in range(n_groups):
        best = -1
        for g in range(n_groups):
            if blocked[g] == 0 and (best < 0 or turn[g] < turn[best]):
                best = g
        start[best], ptr[place] = begin, begin
        begin += int(size[best])
        blocked[best] = -1
        for h in range(n_groups):
            blocked[h] -= above[best, h]
    ptr[n_groups] = begin
    for i in range(n):
        order[start[label[i]]] = i
        start[label[i]] += 1


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
def change_and_search(margin, order, drawn, tries, least):
    """Look for a better order by random changes followed by a search; the last random number, and the tries left.

    Ends with the first order that is better by more than ``least``. ``drawn`` starts the random numbers.
    """
    n = len(order)
    best, new = agreement(margin, order), np.empty(n, np.int64)
    while tries > 0:
        tries -= 1
        for t in range(n):
            new[t] = order[t]
        for _ in range(MOVES):
            drawn = drawn * 48271 % 2147483647
            at, to = drawn // 65536 % n, drawn % n
            item, way = new[at], 1 if to > at else -1
            for k in range(at, to, way):
                new[k] = new[k + way]
            new[to] = item
        insertion_search(margin, new, 0.0)
        if agreement(margin, new) > best + least:
            for t in range(n):
                order[t] = new[t]
            return drawn, tries
    return drawn, -1
