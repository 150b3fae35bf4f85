"""The order with the largest sum of margins: groups by majority, a search within a group, and a proof.

Items of a group beat or tie all items of later groups, so some optimal order respects the groups. Within a group every
order contradicts some margins. A lower bound on their sum is a packing of cycles of majorities: every order contradicts
one margin of each cycle, and cycles that together use no margin more than once can be added up. Where the cycles of an
order add up to all that it contradicts, the order is optimal, and no linear program is needed.
"""

import cython
import numpy as np
from cython.cimports.libc.math import fabs, fmod

if not cython.compiled:
    from numpy import rint

    from juryrank.kernels.elements import Float, Int
    from juryrank.kernels.pairwise import ROUNDING

MOVES = cython.declare(cython.longlong, 5)  # of single items, in a random change of an order
PACKINGS = cython.declare(cython.longlong, 30)  # attempts at a packing of cycles
INFINITY = cython.declare(cython.double, float("inf"))


def strong_components(margin: Float[:, ::1], label: cython.longlong[::1]):
    """Number the groups of items that beat each other in a cycle, by Tarjan's algorithm; returns how many there are."""
    n = label.shape[0]
    scratch: cython.longlong[:, ::1] = np.empty((5, n), np.int64)
    number, low, path, stack = scratch[0], scratch[1], scratch[2], scratch[3]
    waiting = scratch[4]  # the next item to look at
    seen, height, n_groups = 0, 0, 0
    with cython.nogil:
        for v in range(n):
            number[v], waiting[v], label[v] = -1, n - 1, -1
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


def order_groups(
    margin: Float[:, ::1], label: Int[::1], turn: Int[::1], order: cython.longlong[::1], ptr: cython.longlong[::1]
):
    """Fill ``order`` with the items in groups, best first, and ``ptr`` with where groups begin.

    Each group follows all that beat one of its items; of the groups that may come next, the first by ``turn`` does.
    """
    n, n_groups = order.shape[0], turn.shape[0]
    above: cython.uchar[:, ::1] = np.zeros((n_groups, n_groups), np.uint8)
    size: cython.longlong[::1] = np.zeros(n_groups, np.int64)
    blocked: cython.longlong[::1] = np.zeros(n_groups, np.int64)
    start: cython.longlong[::1] = np.empty(n_groups, np.int64)
    with cython.nogil:
        for i in range(n):
            own = label[i]
            size[own] += 1
            for j in range(n):
                above[own, label[j]] |= margin[i, j] > 0
            above[own, own] = 0
        for g in range(n_groups):
            for h in range(n_groups):
                blocked[h] += above[g, h]
        begin = 0
        for place in range(n_groups):
            best = -1
            for g in range(n_groups):
                if blocked[g] == 0 and (best < 0 or turn[g] < turn[best]):
                    best = g
            start[best], ptr[place] = begin, begin
            begin += size[best]
            blocked[best] = -1
            for h in range(n_groups):
                blocked[h] -= above[best, h]
        ptr[n_groups] = begin
        for i in range(n):
            order[start[label[i]]] = i
            start[label[i]] += 1


def move(order, at, to):
    """Move the item at one place to another."""
    item = order[at]
    for k in range(at, to):
        order[k] = order[k + 1]
    for k in range(at, to, -1):
        order[k] = order[k - 1]
    order[to] = item


def insertion_search(margin, order, noise):
    """Move single items to their best place until no move lowers the Kendall distance to the lists.

    ``margin[i, j]`` is ``-margin[j, i]``; only rows are read, because columns of a large matrix are slow to read.
    A move must gain more than the rounding error, so every move lowers the distance and none is reversed. Few passes
    are needed (5 to 22 for 1,000 items); the maximum is the number of items plus a hundred.
    """
    n = order.shape[0]
    largest: cython.double = 0.0
    for i in range(n):
        total: cython.double = 0.0
        for j in range(n):
            total += fabs(margin[i, j])
        largest = max(largest, total)
    least = n * (noise + ROUNDING * largest)  # the rounding error of a sum of margins of one item
    for _ in range(n + 100):
        moved: cython.bint = False
        for at in range(n):
            item, best_at, enough = order[at], at, least
            gain: cython.double = 0.0
            for to in range(at - 1, -1, -1):
                gain += margin[item, order[to]]
                if gain > enough:
                    enough, best_at = gain + least, to
            gain = 0.0
            for to in range(at + 1, n):
                gain -= margin[item, order[to]]
                if gain > enough:
                    enough, best_at = gain + least, to
            if best_at == at:
                continue
            move(order, at, best_at)
            moved = True
        if not moved:
            break


def round_to_units(margin, noise: cython.double):
    """Margins as whole numbers, and the least difference of two sums, 1; or as they are, and 0.

    Whole numbers where all margins are multiples of one number, up to noise, so that sums are exact.
    """
    given: Float[:, ::1] = margin
    n = given.shape[0]
    whole: cython.double[:, ::1] = np.empty((n, n))
    unit: cython.double = INFINITY
    largest: cython.double = 0.0
    error, total = 0.0, 0.0
    with cython.nogil:
        for i in range(n):
            for j in range(n):
                if given[i, j] > 0:
                    unit, largest = min(unit, given[i, j]), max(largest, given[i, j])
        for _ in range(n * n + 64):  # Euclid's algorithm, on all values at a time
            least = INFINITY
            for i in range(n):
                for j in range(n):
                    if given[i, j] > 0:
                        rest = fmod(given[i, j], unit)
                        rest = min(rest, unit - rest)
                        if rest > 64 * noise:
                            least = min(least, rest)
            if least == INFINITY:
                break
            unit = least
        unit = largest / rint(largest / unit)
        for i in range(n):
            for j in range(n):
                whole[i, j] = rint(given[i, j] / unit)
                error = max(error, fabs(given[i, j] - unit * whole[i, j]))
                total += fabs(whole[i, j])
    if error <= noise + ROUNDING * largest and unit > 64 * noise and total * n * ROUNDING < 0.1:
        return np.asarray(whole), 1.0
    return margin, 0.0


def prove_by_cycles(margin: Float[:, ::1], order: Int[::1], enough: cython.double):
    """Whether cycles of majorities prove that no order is better than this one by more than ``enough``.

    A cycle is a margin that the order contradicts and a way back through margins that it respects. The cycles of a
    margin take what they can get; margins that get too little go first in the next attempt.
    """
    n = order.shape[0]
    pairs: cython.longlong[:, ::1] = np.empty((2, n * n), np.int64)  # the places of contradicted margins, and
    later: cython.longlong[:, ::1] = np.empty((2, n * n), np.int64)
    failed: cython.uchar[::1] = np.empty(n * n, np.uint8)
    left: cython.double[:, ::1] = np.empty((n, n))
    count = 0
    for span in range(1, n):
        for i in range(n - span):
            if margin[order[i], order[i + span]] < 0:
                pairs[0, count], pairs[1, count] = i, i + span
                count += 1
    for _ in range(PACKINGS):
        with cython.nogil:
            short = pack_cycles(margin, order, count, pairs, left, failed)
        if short <= enough:
            return True
        front, back = 0, 0
        for t in range(count):
            if failed[t]:
                pairs[0, front], pairs[1, front] = pairs[0, t], pairs[1, t]
                front += 1
            else:
                later[0, back], later[1, back] = pairs[0, t], pairs[1, t]
                back += 1
        for t in range(back):
            pairs[0, front + t], pairs[1, front + t] = later[0, t], later[1, t]
    return False


def pack_cycles(margin, order, count, pairs, left, failed):
    """Pack cycles for the margins between pairs of places, in turn; which got too little, and what all lack.

    ``left`` is what remains of the margins that the order respects.
    """
    n = order.shape[0]
    for i in range(n):
        for j in range(i + 1, n):
            left[i, j] = max(margin[order[i], order[j]], 0.0)
    short: cython.double = 0.0
    for t in range(count):
        i, j = pairs[0, t], pairs[1, t]
        need: cython.double = -margin[order[i], order[j]]
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
    return short


def agreement(margin, order):
    """The sum of the margins of all items over those after them."""
    total: cython.double = 0.0
    for i in range(order.shape[0]):
        for j in range(i + 1, order.shape[0]):
            total += margin[order[i], order[j]]
    return total


def change_and_search(
    margin: Float[:, ::1], order: cython.longlong[::1], drawn: cython.longlong, tries: cython.longlong,
    least: cython.double,
):  # fmt: skip
    """Look for a better order by random changes followed by a search; the last random number, and the tries left.

    Ends with the first order that is better by more than ``least``. ``drawn`` starts the random numbers.
    """
    n = order.shape[0]
    new: cython.longlong[::1] = np.empty(n, np.int64)
    found: cython.bint = False
    with cython.nogil:
        best = agreement(margin, order)
        while tries > 0 and not found:
            tries -= 1
            for t in range(n):
                new[t] = order[t]
            for _ in range(MOVES):
                drawn = drawn * 48271 % 2147483647
                at, to = drawn // 65536 % n, drawn % n
                move(new, at, to)
            insertion_search(margin, new, 0.0)
            if agreement(margin, new) > best + least:
                for t in range(n):
                    order[t] = new[t]
                found = True
    return drawn, tries if found else -1


def half_sums(margin, first, count, out):
    """out[s, i]: the sum of margin[j, i] over the items j = first + t whose bit t is set in s."""
    n = margin.shape[0]
    for s in range(1, 1 << count):
        low = 0
        while not (s >> low) & 1:
            low += 1
        for i in range(n):
            out[s, i] = out[s & (s - 1), i] + margin[first + low, i]


def subset_order(margin: Float[:, ::1], order: cython.longlong[::1]):
    """Fill ``order`` so that the sum of margin[i, j] over the pairs with i before j is as large as possible.

    By dynamic programming over subsets (Held, Karp, 1962): the best order of a set is a best order of all but one of
    its items, followed by that item. The margins of the others over that item add up to two table entries, one for each
    half of the items.
    """
    n = order.shape[0]
    n_low = n // 2
    low: cython.double[:, ::1] = np.zeros((1 << n_low, n))
    high: cython.double[:, ::1] = np.zeros((1 << (n - n_low), n))
    value: cython.double[::1] = np.zeros(1 << n)
    last: cython.uchar[::1] = np.zeros(1 << n, np.uint8)
    with cython.nogil:
        half_sums(margin, 0, n_low, low)
        half_sums(margin, n_low, n - n_low, high)
        for s in range(1, 1 << n):
            best, best_item = -INFINITY, 0
            below, above = s & ((1 << n_low) - 1), s >> n_low
            for i in range(n):
                if (s >> i) & 1:
                    total = value[s ^ (1 << i)] + (low[below, i] + high[above, i])
                    if total > best:
                        best, best_item = total, i
            value[s], last[s] = best, best_item
        left = (1 << n) - 1
        for at in range(n - 1, -1, -1):
            order[at] = last[left]
            left ^= 1 << order[at]
