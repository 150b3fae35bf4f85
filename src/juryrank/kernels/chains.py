"""Markov chains over the items of a query, without building the transition matrix, and how their mass follows weights.

A list sends the mass of item i to the items ranked at or above it. The mass is a product of a share of the slot and a
share of the entry, so one product with the transition matrix is a sum from the bottom of each list to its top. If
missing counts as last, the items that a list leaves out are tied below it; ``tail`` is their share.

With x = (1 - t) Pᵀx + t/M and a loss f(x), let l solve l = (1 - t) P l + ∂f/∂x. Then ∂f/∂w = (1 - t) xᵀ (∂P/∂w) l.
P l is a sum from the top of each list. Rows of P sum to one, so a constant added to l changes nothing; l is centred,
which also speeds up its iteration. For slopes, lists rank every item: those they leave out are tied below.
"""

import cython
import numpy as np

from juryrank.kernels.threads import over_queries

if not cython.compiled:
    from juryrank.kernels.elements import Float, Int, Int32
    from juryrank.kernels.pairwise import SlotIndex
    from juryrank.kernels.ragged import longest

INFINITY = cython.declare(cython.double, float("inf"))
# The share of the mass kept in a step of MC4; without it three groups in a cycle need five times as many steps.
KEPT = cython.declare(cython.double, 0.2)


def sum_of(x):
    """Σ x[i]."""
    total: cython.double = 0.0
    for i in range(x.shape[0]):
        total += x[i]
    return total


def step_up(first_list, last_list, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, mass, out):
    """out[j] += the mass that moves to j from the items ranked below it (and tied with it, unless ``strict``)."""
    total, base = sum_of(mass), 0.0
    for m in range(first_list, last_list):
        below = total
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            below -= mass[entry_slot[e] - lo]
        from_tail = tail[m] * max(below, 0.0)
        if not strict:
            base += from_tail
        risen = from_tail if strict else 0.0
        e = entry_ptr[m + 1] - 1
        while e >= entry_ptr[m]:
            start, level = e, 0.0
            while start >= entry_ptr[m] and entry_rank[start] == entry_rank[e]:
                level += mass[entry_slot[start] - lo] * entry_share[start]
                start -= 1
            if not strict:
                risen += level
            for t in range(start + 1, e + 1):
                out[entry_slot[t] - lo] += risen
            if strict:
                risen += level
            e = start
    for j in range(out.shape[0]):
        out[j] += base


def teleport_mass(new, old, teleport):
    """Spread lost mass and the teleport over all items of ``new``; return the L1 distance to ``old``."""
    n = new.shape[0]
    moved: cython.double = 0.0
    spread = (teleport + (1.0 - teleport) * max(0.0, 1.0 - sum_of(new))) / max(n, 1)
    for i in range(n):
        new[i] = (1.0 - teleport) * new[i] + spread
        moved += abs(new[i] - old[i])
    return moved


@over_queries
def stationary(
    first: cython.longlong, end: cython.longlong, slot_ptr: Int[::1], list_ptr: Int[::1], entry_ptr: Int[::1],
    entry_slot: Int32[::1], entry_rank: Float[::1], slot_share: Float[::1], entry_share: Float[::1], tail: Float[::1],
    stay: Float[::1], strict: cython.bint, teleport: cython.double, tol: cython.double, max_iter: cython.longlong,
    steps: cython.longlong[::1], out: cython.double[::1],
):  # fmt: skip
    """Stationary distribution of each query's chain with teleport, by power iteration from ``out``."""
    room: cython.double[:, ::1] = np.empty((2, longest(first, end, slot_ptr)))
    with cython.nogil:
        for q in range(first, end):
            lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
            old: cython.double[::1] = out[lo : lo + n]
            new, leaving = room[0, :n], room[1, :n]
            steps[q] = max_iter + 1
            for step in range(1, max_iter + 1):
                for i in range(n):
                    leaving[i], new[i] = old[i] * slot_share[lo + i], old[i] * stay[lo + i]
                step_up(
                    list_ptr[q], list_ptr[q + 1], lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict,
                    leaving, new,
                )  # fmt: skip
                moved = teleport_mass(new, old, teleport)
                for i in range(n):
                    old[i] = new[i]
                if moved < tol:
                    steps[q] = step
                    break


def code_row(i, n, row, code):
    """Write row i of the majorities for ``majority_step``, where row[j] < 0 means that i loses to j; returns how often.

    A byte stands for two columns: it is the place of two numbers in a table that has, for each of eight rows, the four
    pairs of numbers that the row may add to two columns. The bytes of eight rows stand together.
    """
    half = (n + 1) // 2
    at = i // 8 * half * 8 + i % 8
    lost: cython.longlong = 0
    row[n] = 0.0  # beside the last column if their number is odd
    for p in range(half):
        left: cython.longlong = row[2 * p] < 0
        right: cython.longlong = row[2 * p + 1] < 0
        code[at + 8 * p] = 8 * (i % 8) + 2 * left + 4 * right
        lost += left + right
    return lost


def majority_step(n, code, stay, leave, teleport, table, mass, new):
    """One step of ``majority_chain`` from ``mass``, through ``new``; returns the L1 distance that it moves.

    With eight rows at a time, and pairs from a table, it takes half the time of products with bytes made numbers.
    """
    kept = KEPT if teleport > 0.0 else 0.0
    half = (n + 1) // 2
    for j in range(2 * half):
        new[j] = 0.0
    at: cython.longlong = 0
    for i in range(0, n, 8):
        for r in range(8):
            share = (1.0 - teleport) / n * mass[i + r] if i + r < n else 0.0
            table[8 * r + 2] = table[8 * r + 5] = table[8 * r + 6] = table[8 * r + 7] = share
        for p in range(half):
            x, y = new[2 * p], new[2 * p + 1]
            for r in range(8):
                pair = cython.cast(cython.longlong, code[at + r])
                x += table[pair]
                y += table[pair + 1]
            new[2 * p], new[2 * p + 1] = x, y
            at += 8
    total: cython.double = 0.0
    moved: cython.double = 0.0
    for j in range(n):
        reached = new[j] + stay[j] * mass[j] + teleport / n
        new[j] = kept * mass[j] + (1.0 - kept) * reached / leave[j]
        total += new[j]
    for j in range(n):
        new[j] /= total
        moved += abs(new[j] - mass[j])
        mass[j] = new[j]
    return moved


@over_queries
def majority_chain(
    first: cython.longlong, end: cython.longlong, lists, teleport: cython.double, tol: cython.double,
    max_iter: cython.longlong, steps: cython.longlong[::1], out: cython.double[::1],
):  # fmt: skip
    """Stationary distribution of MC4: choose an item of the query, move there if a majority prefers it.

    A step solves the balance of each item for its own mass, given the mass of the others (Jacobi's iteration), and
    keeps a share of the old mass, so that cycles do not oscillate. Items near the top rarely leave: plain steps of the
    walk need ten times as many. Items with the same majorities get exactly the same mass. Without teleport, items that
    nobody beats keep all mass that reaches them; then a step is one of the walk.
    """
    index: SlotIndex = SlotIndex(first, end, lists)
    last: cython.bint = lists.last
    code: cython.uchar[::1] = np.zeros((index.most + 7) // 8 * 8 * (index.most + 1), np.uint8)
    table: cython.double[::1] = np.zeros(64)
    room: cython.double[:, ::1] = np.empty((5, index.most + 1))
    with cython.nogil:
        row, stay, leave, mass, new = room[0], room[1], room[2], room[3], room[4]
        for q in range(first, end):
            index.fill(q)
            n = index.n
            for i in range(n):
                index.margin_row(i, last, row)
                lost = code_row(i, n, row, code)
                stay[i], leave[i], mass[i] = 0.0, 1.0, 1.0 / n
                if teleport > 0.0:
                    leave[i] = teleport + (1.0 - teleport) * lost / n
                else:
                    stay[i] = 1.0 - 1.0 * lost / n
            steps[q] = max_iter + 1
            for step in range(1, max_iter + 1):
                if majority_step(n, code, stay, leave, teleport, table, mass, new) < tol:
                    steps[q] = step
                    break
            for i in range(n):
                out[index.lo + i] = mass[i]


@over_queries
def pair_loss(
    first: cython.longlong, end: cython.longlong, slot_ptr: Int[::1], gain: Float[::1], score: Float[::1],
    margin: cython.double, loss: cython.double[::1], slope: cython.double[::1],
):  # fmt: skip
    """Mean squared hinge of each query over pairs with different gains, and its derivative by the scores.

    A pair is satisfied if the better item's score is ahead by ``margin``; NaN gains are ignored.
    """
    with cython.nogil:
        for q in range(first, end):
            lo, hi = slot_ptr[q], slot_ptr[q + 1]
            loss[q], lowest, n_pairs = 0.0, INFINITY, 0
            for i in range(lo, hi):
                slope[i] = 0.0
                lowest = min(lowest, gain[i])
            for i in range(lo, hi):
                if not gain[i] > lowest:
                    continue
                for j in range(lo, hi):
                    if gain[i] > gain[j]:
                        n_pairs += 1
                        short = margin - (score[i] - score[j])
                        if short > 0:
                            loss[q] += short * short
                            slope[i] -= 2 * short
                            slope[j] += 2 * short
            loss[q] /= max(n_pairs, 1)
            for i in range(lo, hi):
                slope[i] /= max(n_pairs, 1)


def step_down(first_list, last_list, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, l, out):
    """out[i] += over lists, share of i's entry × sum of l over the items at or above i (above it, if ``strict``)."""
    total, base = sum_of(l), 0.0
    for m in range(first_list, last_list):
        listed, e = 0.0, entry_ptr[m]
        while e < entry_ptr[m + 1]:
            stop, level = e, 0.0
            while stop < entry_ptr[m + 1] and entry_rank[stop] == entry_rank[e]:
                level += l[entry_slot[stop] - lo]
                stop += 1
            reached = listed if strict else listed + level
            for t in range(e, stop):
                out[entry_slot[t] - lo] += entry_share[t] * reached
            listed += level
            e = stop
        below = tail[m] * (listed if strict else total)
        base += below
        for e in range(entry_ptr[m], entry_ptr[m + 1]):
            out[entry_slot[e] - lo] -= below
    for i in range(out.shape[0]):
        out[i] += base


def centre_pull(lo, teleport, walked, slope, l):
    """l = (1 - t) walked + slope, centred; ``walked`` becomes 0. Returns the largest change of l."""
    n = l.shape[0]
    mean: cython.double = 0.0
    moved: cython.double = 0.0
    for i in range(n):
        walked[i] = (1.0 - teleport) * walked[i] + slope[lo + i]
        mean += walked[i]
    mean /= max(n, 1)
    for i in range(n):
        new = walked[i] - mean
        moved = max(moved, abs(new - l[i]))
        l[i], walked[i] = new, 0.0
    return moved


@over_queries
def chain_slopes(
    first: cython.longlong, end: cython.longlong, slot_ptr: Int[::1], list_ptr: Int[::1], entry_ptr: Int[::1],
    entry_slot: Int32[::1], entry_rank: Float[::1], slot_share: Float[::1], entry_share: Float[::1], tail: Float[::1],
    stay: Float[::1], strict: cython.bint, by_entries: cython.bint, list_weight: Float[::1], teleport: cython.double,
    tol: cython.double, max_iter: cython.longlong, x: Float[::1], slope: Float[::1], out: cython.double[::1],
):  # fmt: skip
    """Derivative of the loss by the weight of each list, from ``slope`` = ∂loss/∂x.

    ``by_entries`` says how weights are normalised: by the entries they reach (MC1) or by their sum (MC2, MC3).
    """
    room: cython.double[:, ::1] = np.empty((3, longest(first, end, slot_ptr)))
    with cython.nogil:
        for q in range(first, end):
            lo, n, begin, stop = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q], list_ptr[q], list_ptr[q + 1]
            l, walked, mass = room[0, :n], room[1, :n], room[2, :n]
            steepest: cython.double = 1.0
            for i in range(n):
                l[i], walked[i], mass[i] = 0.0, 0.0, x[lo + i] * slot_share[lo + i]
                steepest = max(steepest, abs(slope[lo + i]))
            for _ in range(max_iter):
                moved = centre_pull(lo, teleport, walked, slope, l)
                step_down(begin, stop, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, l, walked)
                for i in range(n):
                    walked[i] = walked[i] * slot_share[lo + i] + stay[lo + i] * l[i]
                if moved < tol * steepest:
                    break
            for m in range(begin, stop):
                out[m] = (1.0 - teleport) * list_slope(
                    m, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, by_entries, list_weight[m],
                    l, walked, mass,
                )  # fmt: skip


def list_slope(
    m, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, by_entries, weight, l, walked, mass
):
    """Sum over items of mass × derivative of (P l) at the item by the weight of the list."""
    n, begin, end = l.shape[0], entry_ptr[m], entry_ptr[m + 1]
    total, listed, left_mass, left_walked, left_l = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        left_mass += mass[i]
        left_walked += mass[i] * walked[i]
        left_l += mass[i] * l[i]
    e = begin
    while e < end:
        stop, level = e, 0.0
        while stop < end and entry_rank[stop] == entry_rank[e]:
            level += l[entry_slot[stop] - lo]
            stop += 1
        for t in range(e, stop):
            i = entry_slot[t] - lo
            share = entry_share[t] / weight
            if strict:
                total += mass[i] * (share * (listed - (e - begin) * l[i]) + l[i] - walked[i])
            else:
                total += mass[i] * (share * (listed + level) - (stop - begin if by_entries else 1) * walked[i])
            left_mass -= mass[i]
            left_walked -= mass[i] * walked[i]
            left_l -= mass[i] * l[i]
        listed += level
        e = stop
    share = tail[m] / weight
    if strict:
        return total + share * (listed * left_mass - (end - begin) * left_l) + left_l - left_walked
    return total + share * sum_of(l) * left_mass - (n if by_entries else 1) * left_walked
