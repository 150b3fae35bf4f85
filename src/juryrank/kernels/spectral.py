"""Strengths by linear algebra on who is compared with whom: least squares, a rank-2 matrix, a random walk."""

import math

import numpy as np

from juryrank.kernels.groups import groups_of_pairs
from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairs import count_pairs


@kernel
def differences(lists, entry_value, by_order, out):
    """out[i] += the sum, over lists and the items each compares with i, of how much more i has.

    By value, or by order (+1 above, -1 below). Items of a tail are compared with the ranked items only.
    """
    begin, end, lo, entry_ptr, entry_slot, entry_rank, list_weight, tail = lists
    for m in range(begin, end):
        start, stop = entry_ptr[m], entry_ptr[m + 1]
        ranked = stop - tail[m]
        in_list, in_tail = 0.0, 0.0
        for e in range(start, stop):
            if e < ranked:
                in_list += entry_value[e]
            else:
                in_tail += entry_value[e]
        same = start
        for e in range(start, stop):
            i = entry_slot[e] - lo
            if not by_order:
                among = (stop - start) * entry_value[e] - in_list - in_tail
                out[i] += list_weight[m] * (among if e < ranked else (ranked - start) * entry_value[e] - in_list)
                continue
            if e >= ranked:
                out[i] -= list_weight[m] * (ranked - start)
                continue
            if entry_rank[e] != entry_rank[same]:
                same = e
            below = e + 1
            while below < ranked and entry_rank[below] == entry_rank[e]:
                below += 1
            out[i] += list_weight[m] * ((stop - below) - (same - start))


@kernel
def laplacian(lists, precision, s, out):
    """out = what least squares takes from strengths s: their differences over all lists, and the prior."""
    begin, end, lo, entry_ptr, entry_slot, _, list_weight, tail = lists
    for i in range(len(s)):
        out[i] = precision * s[i]
    for m in range(begin, end):
        start, stop = entry_ptr[m], entry_ptr[m + 1]
        ranked = stop - tail[m]
        in_list, in_tail = 0.0, 0.0
        for e in range(start, stop):
            if e < ranked:
                in_list += s[entry_slot[e] - lo]
            else:
                in_tail += s[entry_slot[e] - lo]
        for e in range(start, stop):
            i = entry_slot[e] - lo
            if e < ranked:
                out[i] += list_weight[m] * ((stop - start) * s[i] - in_list - in_tail)
            else:
                out[i] += list_weight[m] * ((ranked - start) * s[i] - in_list)


@over_queries
def least_squares(
    first, last, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, tail,
    entry_value, by_order, precision, tol, max_iter, steps, out,
):  # fmt: skip
    """HodgeRank strengths of every query, by conjugate gradients."""
    for q in range(first, last):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        lists = (list_ptr[q], list_ptr[q + 1], lo, entry_ptr, entry_slot, entry_rank, list_weight, tail)
        rest, scale = np.zeros(n), np.full(n, precision)
        differences(lists, entry_value, by_order, rest)
        for m in range(list_ptr[q], list_ptr[q + 1]):
            ranked = entry_ptr[m + 1] - tail[m]
            for e in range(entry_ptr[m], entry_ptr[m + 1]):
                others = entry_ptr[m + 1] - entry_ptr[m] - 1 if e < ranked else ranked - entry_ptr[m]
                scale[entry_slot[e] - lo] += list_weight[m] * others
        steps[q] = conjugate_gradients(lists, precision, scale, rest, tol, max_iter, out[lo : lo + n])


@kernel
def conjugate_gradients(lists, precision, scale, rest, tol, max_iter, s):
    """Solve laplacian(s) = rest from s = 0; ``rest`` is used up. The number of steps, or max_iter + 1."""
    n = len(s)
    direction, image = np.zeros(n), np.empty(n)
    before, enough = 1.0, 0.0
    for number in range(max_iter + 1):
        size = 0.0
        for i in range(n):
            size += rest[i] * rest[i] / scale[i]
        if number == 0:
            enough = tol * tol * size
        if size <= enough:
            return number
        for i in range(n):
            direction[i] = rest[i] / scale[i] + (size / before if number else 0.0) * direction[i]
        laplacian(lists, precision, direction, image)
        step = size / np.dot(direction, image)
        for i in range(n):
            s[i] += step * direction[i]
            rest[i] -= step * image[i]
        before = size
    return max_iter + 1


@kernel
def neighbours(n, left, right):
    """Of each item, the numbers of the pairs it is in."""
    ptr = np.zeros(n + 1, np.int64)
    for p in range(len(left)):
        ptr[left[p] + 1] += 1
        ptr[right[p] + 1] += 1
    for i in range(n):
        ptr[i + 1] += ptr[i]
    at, numbers = ptr[:-1].copy(), np.empty(2 * len(left), np.int64)
    for p in range(len(left)):
        numbers[at[left[p]]] = p
        numbers[at[right[p]]] = p
        at[left[p]] += 1
        at[right[p]] += 1
    return ptr, numbers


@kernel
def balance(left, right, share, tol, max_iter, mass):
    """Mass with equal flow into and out of every item, a mean of 1 in every group; Gauss and Seidel's sweeps.

    Of a pair, ``share`` flows to the first and the rest to the second, per mass of the other.
    """
    n = len(mass)
    ptr, numbers = neighbours(n, left, right)
    settled = max_iter + 1
    for number in range(max_iter):
        moved = 0.0
        for turn in range(n):
            i = turn if number % 2 == 0 else n - 1 - turn  # to and fro: the order of the items matters less
            flowing_in, flowing_out = 0.0, 0.0
            for t in range(ptr[i], ptr[i + 1]):
                p = numbers[t]
                to_i = share[p] if left[p] == i else 1.0 - share[p]
                flowing_in += to_i * mass[right[p] if left[p] == i else left[p]]
                flowing_out += 1.0 - to_i
            if flowing_out > 0.0:
                moved = max(moved, abs(flowing_in / flowing_out / mass[i] - 1.0))
                mass[i] = flowing_in / flowing_out
        if moved < tol:
            settled = number + 1
            break
    root = groups_of_pairs(n, left, right)
    total, size = np.zeros(n), np.zeros(n)
    for i in range(n):
        total[root[i]] += mass[i]
        size[root[i]] += 1.0
    for i in range(n):
        mass[i] *= size[root[i]] / total[root[i]]
    return settled


@over_queries
def walk_of_losers(
    first, last, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, tail, most,
    games, tol, max_iter, steps, out,
):  # fmt: skip
    """Rank Centrality of every query: log of the stationary mass, times the number of items.

    From an item the walk goes to one it is compared with, at the rate at which it loses to it; ``games`` imaginary
    wins either way keep every rate positive.
    """
    for q in range(first, last):
        lo, hi = slot_ptr[q], slot_ptr[q + 1]
        left, right, won, lost, tied = count_pairs(
            q, most[q], slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, tail
        )
        for p in range(len(left)):
            won[p] = (won[p] + 0.5 * tied[p] + games) / (won[p] + lost[p] + tied[p] + 2.0 * games)
        mass = np.ones(hi - lo)
        steps[q] = balance(left, right, won, tol, max_iter, mass)
        for i in range(hi - lo):
            out[lo + i] = math.log(mass[i])
