"""Strengths by linear algebra on the graph of comparisons: least squares and a random walk."""

import math

import numpy as np

from juryrank.kernels.dense import dot
from juryrank.kernels.groups import groups_of_pairs
from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.lists import lists_of_query
from juryrank.kernels.pairs import count_pairs


@kernel
def differences(lists, entry_value, by_order, out):
    """out[i] += the sum of the preferences for i over all other items, over lists.

    A preference is a difference of values, or +1 above and -1 below by order. Items of a tail are compared with the
    ranked items only.
    """
    lo, entry_slot, entry_rank, list_weight = lists.lo, lists.entry_slot, lists.entry_rank, lists.list_weight
    for m in range(lists.begin, lists.end):
        start, stop = lists.entry_ptr[m], lists.entry_ptr[m + 1]
        ranked = stop - lists.tail[m]
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
    """out = the matrix of the normal equations times s: differences over all lists, and the prior."""
    lo, entry_slot, list_weight = lists.lo, lists.entry_slot, lists.list_weight
    for i in range(len(s)):
        out[i] = precision * s[i]
    for m in range(lists.begin, lists.end):
        start, stop = lists.entry_ptr[m], lists.entry_ptr[m + 1]
        ranked = stop - lists.tail[m]
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
def least_squares(first, last, lists, entry_value, by_order, precision, tol, max_iter, steps, out):
    """HodgeRank strengths of every query, by conjugate gradients."""
    for q in range(first, last):
        query = lists_of_query(q, lists)
        lo, n = query.lo, lists.slot_ptr[q + 1] - query.lo
        rest, scale = np.zeros(n), np.full(n, precision)
        differences(query, entry_value, by_order, rest)
        for m in range(query.begin, query.end):
            start, stop = query.entry_ptr[m], query.entry_ptr[m + 1]
            ranked = stop - query.tail[m]
            for e in range(start, stop):
                others = stop - start - 1 if e < ranked else ranked - start
                scale[query.entry_slot[e] - lo] += query.list_weight[m] * others
        steps[q] = conjugate_gradients(query, precision, scale, rest, tol, max_iter, out[lo : lo + n])


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
        step = size / dot(direction, image)
        for i in range(n):
            s[i] += step * direction[i]
            rest[i] -= step * image[i]
        before = size
    return max_iter + 1


@kernel
def neighbours(n, left, right):
    """The numbers of the pairs of each item."""
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
    """Stationary mass, with a mean of 1 in every group, by Gauss–Seidel sweeps; the number of sweeps.

    ``share`` of a pair is the rate from the second item to the first; the rate back is 1 - share.
    """
    n = len(mass)
    ptr, numbers = neighbours(n, left, right)
    sweeps = max_iter + 1
    for number in range(max_iter):
        moved = 0.0
        for turn in range(n):
            i = (
                turn if number % 2 == 0 else n - 1 - turn
            )  # alternate directions, so that the order of the items matters less
            inflow, outflow = 0.0, 0.0
            for t in range(ptr[i], ptr[i + 1]):
                p = numbers[t]
                to_i = share[p] if left[p] == i else 1.0 - share[p]
                inflow += to_i * mass[right[p] if left[p] == i else left[p]]
                outflow += 1.0 - to_i
            if outflow > 0.0:
                moved = max(moved, abs(inflow / outflow / mass[i] - 1.0))
                mass[i] = inflow / outflow
        if moved < tol:
            sweeps = number + 1
            break
    root = groups_of_pairs(n, left, right)
    total, size = np.zeros(n), np.zeros(n)
    for i in range(n):
        total[root[i]] += mass[i]
        size[root[i]] += 1.0
    for i in range(n):
        mass[i] *= size[root[i]] / total[root[i]]
    return sweeps


@over_queries
def rank_centrality(first, last, lists, most, games, tol, max_iter, steps, out):
    """Rank Centrality of every query: log of the stationary probability times the number of items.

    From an item the walk moves to each item that it is compared with at the rate at which it loses to it; ``games``
    pseudo-wins of each item keep every rate positive.
    """
    for q in range(first, last):
        lo, hi = lists.slot_ptr[q], lists.slot_ptr[q + 1]
        left, right, won, lost, tied = count_pairs(q, most[q], lists)
        for p in range(len(left)):
            won[p] = (won[p] + 0.5 * tied[p] + games) / (won[p] + lost[p] + tied[p] + 2.0 * games)
        mass = np.ones(hi - lo)
        steps[q] = balance(left, right, won, tol, max_iter, mass)
        for i in range(hi - lo):
            out[lo + i] = math.log(mass[i])
