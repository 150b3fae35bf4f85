"""Markov chains over the items of a query, without building the transition matrix.

A list sends the mass of item i to the items ranked at or above it. The mass is a product of a share of the slot and a
share of the entry, so one product with the transition matrix is a sum from the bottom of each list to its top. If
missing counts as last, the items that a list leaves out are tied below it; ``tail`` is their share.
"""

import numpy as np

from juryrank.kernels.jit import kernel, over_queries
from juryrank.kernels.pairwise import index_of_slots, margin_row, residue

KEPT = 0.2  # of the mass in a step of MC4; without it three groups in a cycle need five times as many steps


@kernel
def step_up(first_list, last_list, lo, entry_ptr, entry_slot, entry_rank, entry_share, tail, strict, mass, out):
    """out[j] += the mass that moves to j from the items ranked below it (and tied with it, unless ``strict``)."""
    total = mass.sum()
    base = 0.0
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
            start = e
            level = 0.0
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
    for j in range(len(out)):
        out[j] += base


@over_queries
def stationary(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank,
    slot_share, entry_share, tail, stay, strict, teleport, tol, max_iter, steps, out,
):  # fmt: skip
    """Stationary distribution of each query's chain with teleport, by power iteration from ``out``."""
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        old = out[lo : lo + n].copy()
        new = np.empty(n)
        steps[q] = max_iter + 1
        for step in range(1, max_iter + 1):
            new[:] = old * stay[lo : lo + n]
            step_up(
                list_ptr[q], list_ptr[q + 1], lo, entry_ptr, entry_slot, entry_rank,
                entry_share, tail, strict, old * slot_share[lo : lo + n], new,
            )  # fmt: skip
            moved = teleport_mass(new, old, teleport)
            old, new = new, old
            if moved < tol:
                steps[q] = step
                break
        out[lo : lo + n] = old


@over_queries
def majority_chain(
    first, end, slot_ptr, list_ptr, entry_ptr, entry_slot, entry_rank, list_weight, last,
    teleport, tol, max_iter, steps, out,
):  # fmt: skip
    """Stationary distribution of MC4: choose an item of the query, move there if a majority prefers it.

    A step solves the balance of each item for its own mass, given the mass of the others (Jacobi's iteration), and
    keeps a share of the old mass, so that cycles do not oscillate. Items near the top rarely leave: plain steps of the
    walk need ten times as many. Items with the same majorities get exactly the same mass. Without teleport, items that
    nobody beats keep all mass that reaches them; then a step is one of the walk.
    """
    for q in range(first, end):
        lo, n = slot_ptr[q], slot_ptr[q + 1] - slot_ptr[q]
        beaten = np.empty((n, n), np.uint8)  # beaten[i, j]: a majority prefers j to i
        stay, leave = np.zeros(n), np.ones(n)
        index = index_of_slots(q, slot_ptr, list_ptr, entry_ptr, entry_slot, list_weight)
        rest = residue(list_ptr[q + 1] - list_ptr[q])
        row = np.empty(n)
        for i in range(n):
            margin_row(i, lo, index, entry_ptr, entry_slot, entry_rank, list_weight, rest, last, row)
            lost = 0
            for j in range(n):
                beaten[i, j] = row[j] < 0
                lost += row[j] < 0
            if teleport > 0.0:
                leave[i] = teleport + (1.0 - teleport) * lost / n
            else:
                stay[i] = 1.0 - lost / n
        mass, new = np.full(n, 1.0 / max(n, 1)), np.empty(n)
        kept = KEPT if teleport > 0.0 else 0.0
        steps[q] = max_iter + 1
        for step in range(1, max_iter + 1):
            for j in range(n):
                new[j] = 0.0
            for i in range(n):  # rows of bytes: an eighth of the memory traffic of a product with a matrix of doubles
                share = (1.0 - teleport) / n * mass[i]
                for j in range(n):
                    new[j] += share * beaten[i, j]
            total, moved = 0.0, 0.0
            for j in range(n):
                reached = new[j] + stay[j] * mass[j] + teleport / n
                new[j] = kept * mass[j] + (1.0 - kept) * reached / leave[j]
                total += new[j]
            for j in range(n):
                new[j] /= total
                moved += abs(new[j] - mass[j])
            mass, new = new, mass
            if moved < tol:
                steps[q] = step
                break
        out[lo : lo + n] = mass


@kernel
def teleport_mass(new, old, teleport):
    """Spread lost mass and the teleport over all items of ``new``; return the L1 distance to ``old``."""
    n = len(new)
    spread = (teleport + (1.0 - teleport) * max(0.0, 1.0 - new.sum())) / max(n, 1)
    moved = 0.0
    for i in range(n):
        new[i] = (1.0 - teleport) * new[i] + spread
        moved += abs(new[i] - old[i])
    return moved
